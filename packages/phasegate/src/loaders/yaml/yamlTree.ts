import type { Json } from '@phasegate/core';
import { Lines, MOST_PROBLEMS } from '@phasegate/core/model';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';

/** A place in a YAML document, as its JSON value would be walked. */
export type YamlPath = readonly (string | number)[];

/** Something wrong at an offset of the text. */
export interface Flaw {
  readonly offset: number;
  readonly code: string;
  readonly message: string;
}

const MAX_ALIASES = 100;
/** As many as a file of this size can hold itself. */
const MAX_REPEATED = 20_000;
const MAX_DEPTH = 100;
/** A key with its value on a line of its own is seven. */
const MAX_PARTS = 100_000;
const FATAL = ['syntax', 'several_documents', 'too_large'];
const CORE_TAG = /^tag:yaml\.org,2002:(?:map|seq|str|null|bool|int|float)$/;

/** One YAML (or JSON) file: its value as JSON, and where each part of it stands. */
export class YamlTree {
  readonly file: string;
  readonly lines: Lines;
  /** Undefined where the document cannot be read as JSON. */
  readonly value: Json | undefined;
  readonly flaws: readonly Flaw[];
  /** How many more flaws there are. */
  readonly leftOut: number;
  readonly #text: string;
  readonly #document: Document | null;
  readonly #anchors: Anchors | null;
  readonly #members = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

  constructor(file: string, text: string) {
    this.file = file;
    this.lines = new Lines(text);
    this.#text = text;
    const flaws: Flaw[] = [];
    const tooMuch = tooMuchToRead(text);
    if (tooMuch !== null) flaws.push(tooMuch);
    this.#document = tooMuch === null ? parse(text, flaws) : null;
    this.#anchors = this.#document && new Anchors(this.#document);
    // One syntax error makes many: the parser's later complaints are about what it guessed after the first.
    flaws.sort((a, b) => a.offset - b.offset).splice(1);
    const reading =
      this.#document === null || this.#anchors === null || flaws.length > 0
        ? undefined
        : new Reading(this.#document, { anchors: this.#anchors, flaws, lines: this.lines });
    const value = reading?.value();
    this.leftOut = reading?.leftOut ?? 0;
    // What could not be read at all would make the rest look wrong too.
    this.value = flaws.some(({ code }) => FATAL.includes(code)) ? undefined : value;
    this.flaws = flaws;
  }

  /** Of its text, in characters. */
  get length(): number {
    return this.#text.length;
  }

  /** The offset of the value at a path, or of the deepest part of the path that is there. */
  offsetOf(path: YamlPath, part: 'key' | 'value' = 'value'): number {
    const { pair, node, complete } = this.#find(path);
    const key = pair?.key as Node | undefined;
    const at = complete && part === 'value' ? (node ?? key) : (key ?? node);
    return at?.range?.[0] ?? 0;
  }

  /** The offset inside the text at a path, counted in the text's own characters. */
  offsetInText(path: YamlPath, offset: number): number {
    const { node, complete } = this.#find(path);
    if (!complete || !isScalar(node)) return this.offsetOf(path);
    return offsetInScalar(node, this.#text, offset);
  }

  /** A scalar exactly as it was written, e.g. `1.10`. */
  sourceOf(path: YamlPath): string | undefined {
    const { node, complete } = this.#find(path);
    return complete && isScalar(node) ? (node.source ?? String(node.value)) : undefined;
  }

  #find(path: YamlPath): { pair: Pair | null; node: Node | null; complete: boolean } {
    let pair: Pair | null = null;
    let node = this.#resolve(this.#document?.contents ?? null);
    for (const step of path) {
      let found: Pair | Node | undefined;
      if (isMap(node)) found = this.#membersOf(node).get(String(step));
      else if (isSeq(node) && typeof step === 'number') found = node.items[step] as Node | undefined;
      if (found === undefined) return { pair, node, complete: false };
      pair = isPair(found) ? found : null;
      node = this.#resolve((isPair(found) ? found.value : found) as Node | null);
    }
    return { pair, node, complete: true };
  }

  /** Made once for each map that is looked into: a place is asked for every problem. */
  #membersOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#members.get(map);
    if (known !== undefined) return known;
    const members = new Map<string, Pair>();
    for (const item of map.items) {
      const key = keyText(item.key);
      if (key !== undefined && !members.has(key)) members.set(key, item);
    }
    this.#members.set(map, members);
    return members;
  }

  #resolve(node: Node | null): Node | null {
    return isAlias(node) ? (this.#anchors?.targetOf(node) ?? null) : node;
  }
}

/**
 * Where a text holds more than is read, by the signs, words and line ends it is made of; null for any other. Composing a
 * document takes twenty times as long as this, and nobody else is served meanwhile.
 */
function tooMuchToRead(text: string): Flaw | null {
  // No text has many more of them than characters.
  if (text.length < MAX_PARTS / 2) return null;
  let [parts, offset] = [0, 0];
  for (const part of new Lexer().lex(text)) {
    if (++parts > MAX_PARTS) {
      const most = MAX_PARTS.toLocaleString('en');
      const message = `the file holds too much: by here more than ${most} signs, words and line ends; make it smaller, and write long text as a block (\`|\`), which is one`;
      return { offset, code: 'too_large', message };
    }
    if (!MARKS.includes(part)) offset += part.length;
    // Each may be a mistake of its own.
    if (part.startsWith('"')) parts += part.split('\\').length - 1;
  }
  return null;
}

/** What the lexer puts into its answer beside the text: byte order mark, document, scalar, flow error. */
const MARKS: readonly string[] = ['\u{feff}', '\x02', '\x18', '\x1f'];

/** What each alias of a document stands for: the library goes through all of it for each. */
class Anchors {
  readonly #targets = new Map<Alias, Node | undefined>();

  constructor(document: Document) {
    const anchors = new Map<string, Node>();
    visit(document, {
      Node: (_, node) => {
        if (isAlias(node)) this.#targets.set(node, anchors.get(node.source));
        else if (node.anchor !== undefined) anchors.set(node.anchor, node);
      },
    });
  }

  /** Undefined where there is no such anchor before it. */
  targetOf(alias: Alias): Node | undefined {
    return this.#targets.get(alias);
  }
}

function parse(text: string, flaws: Flaw[]): Document | null {
  const { stackTraceLimit } = Error;
  try {
    // The library makes an error of every mistake, and nobody asks any of them where it was made.
    Error.stackTraceLimit = 0;
    const document = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      strict: true,
      uniqueKeys: false,
      prettyErrors: false,
      // Not `silent`, which would pass over a second document.
      logLevel: 'error',
    });
    for (const error of document.errors) {
      const several = error.code === 'MULTIPLE_DOCS';
      flaws.push({
        offset: error.pos[0],
        code: several ? 'several_documents' : 'syntax',
        message: several
          ? 'a file holds one document, and here a second begins'
          : error.message.includes('call stack')
            ? 'the file is nested too deeply'
            : `not YAML: ${lowerFirst(error.message)}`,
      });
    }
    for (const warning of document.warnings) {
      const message =
        warning.code === 'TAG_RESOLVE_FAILED' ? 'custom tags are not read' : lowerFirst(warning.message);
      flaws.push({ offset: warning.pos[0], code: 'syntax', message });
    }
    return document;
  } catch (error) {
    const message =
      error instanceof RangeError ? 'the file is nested too deeply' : `not YAML: ${String(error)}`;
    flaws.push({ offset: 0, code: 'syntax', message });
    return null;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Walks the document once and makes JSON of it; whatever JSON has no word for is a flaw. */
class Reading {
  readonly #document: Document;
  readonly #flaws: Flaw[];
  readonly #lines: Lines;
  readonly #anchors: Anchors;
  /** Flaws that were not kept. */
  leftOut = 0;
  #aliases = 0;
  /** Parts that were read once more through an alias. */
  #repeated = 0;
  #inAlias = 0;
  /** The maps and lists that are being read. */
  readonly #above: Node[] = [];

  constructor(
    document: Document,
    { anchors, flaws, lines }: { readonly anchors: Anchors; readonly flaws: Flaw[]; readonly lines: Lines },
  ) {
    this.#document = document;
    this.#anchors = anchors;
    this.#flaws = flaws;
    this.#lines = lines;
  }

  value(): Json | undefined {
    return this.#read(this.#document.contents as Node | null, null);
  }

  /** `under` is the key of the outermost map beneath which the node lies; null outside of all maps. */
  #read(node: Node | null, under: string | null): Json | undefined {
    if (node === null) return null;
    const offset = node.range?.[0] ?? 0;
    if (this.#above.length > MAX_DEPTH) return this.#flaw(offset, 'syntax', 'the file is nested too deeply');
    if (node.tag !== undefined && !CORE_TAG.test(node.tag) && !isAlias(node)) {
      return this.#flaw(offset, 'syntax', 'custom tags are not read');
    }
    if (isAlias(node)) return this.#alias(node, under);
    if (this.#inAlias > 0 && ++this.#repeated > MAX_REPEATED) {
      if (this.#repeated === MAX_REPEATED + 1)
        this.#flaw(
          offset,
          'too_large',
          `aliases repeat more than ${MAX_REPEATED} values; this is one of them`,
        );
      return undefined;
    }
    if (isScalar(node)) return this.#scalar(node);
    this.#above.push(node);
    const value = isSeq(node)
      ? node.items.map((item) => this.#read(item as Node | null, under) ?? null)
      : this.#map((node as YAMLMap).items, under);
    this.#above.pop();
    return value;
  }

  #alias(node: Alias, under: string | null): Json | undefined {
    const offset = node.range?.[0] ?? 0;
    if (++this.#aliases > MAX_ALIASES) {
      // Said once: an alias bomb would otherwise be reported for every alias in it.
      if (this.#aliases === MAX_ALIASES + 1)
        this.#flaw(offset, 'too_large', `more than ${MAX_ALIASES} aliases once each is followed`);
      return undefined;
    }
    const target = this.#anchors.targetOf(node);
    if (target === undefined)
      return this.#flaw(offset, 'syntax', 'there is no such anchor before this alias');
    if (this.#above.includes(target))
      return this.#flaw(offset, 'syntax', 'an alias cannot lie inside what it names');
    this.#inAlias += 1;
    const value = this.#read(target, under);
    this.#inAlias -= 1;
    return value;
  }

  #map(items: readonly Pair[], under: string | null): Json {
    const seen = new Map<string, number>();
    const members: [string, Json][] = [];
    for (const item of items) {
      const key = keyText(item.key);
      const offset = (item.key as Node | null)?.range?.[0] ?? 0;
      if (key === undefined || key === '__proto__') {
        this.#flaw(offset, 'bad_key', 'a key must be plain text');
        continue;
      }
      const first = seen.get(key);
      if (first !== undefined) {
        const { line, column } = this.#lines.at(first);
        const phase = under === 'phases' && this.#above.length === 2;
        const what = phase ? `phase \`${key}\` is defined twice` : `\`${key}\` is given twice`;
        this.#flaw(
          offset,
          phase ? 'duplicate_phase' : 'duplicate_key',
          `${what}; the first is at ${line}:${column}`,
        );
        continue;
      }
      seen.set(key, offset);
      const value = this.#read(item.value as Node | null, under ?? key);
      members.push([key, value ?? null]);
    }
    return Object.fromEntries(members);
  }

  #scalar(node: Scalar): Json | undefined {
    const { value } = node;
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value !== 'number')
      return this.#flaw(node.range?.[0] ?? 0, 'syntax', 'JSON has no word for this value');
    // `01` may be a phase's id, and an id is what the author wrote.
    if (/^0\d+$/.test(node.source ?? '')) return node.source as string;
    if (Number.isFinite(value)) return value;
    return this.#flaw(
      node.range?.[0] ?? 0,
      'bad_value',
      `\`${node.source ?? value}\` is not a number JSON has`,
    );
  }

  #flaw(offset: number, code: string, message: string): undefined {
    if (this.#flaws.length < MOST_PROBLEMS) this.#flaws.push({ offset, code, message });
    else this.leftOut += 1;
    return undefined;
  }
}

function keyText(key: unknown): string | undefined {
  if (key === null) return undefined;
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.value === null ? undefined : (key.source ?? String(key.value));
}

/** Maps an offset in a scalar's value back to the text; where that cannot be told, its beginning. */
function offsetInScalar(node: Scalar, text: string, offset: number): number {
  const start = node.range?.[0] ?? 0;
  const source = text.slice(start, node.range?.[1] ?? start);
  if (node.type === 'BLOCK_LITERAL') return offsetInLiteral(source, start, String(node.value), offset);
  if (source.includes('\n')) return start;
  if (node.type === 'PLAIN') return start + Math.min(offset, source.length);
  if (node.type !== 'QUOTE_SINGLE' && node.type !== 'QUOTE_DOUBLE') return start;
  let at = 1;
  for (let count = 0; count < offset && at < source.length - 1; count++)
    at += widthOfCharacter(source, at, node.type);
  return start + at;
}

function widthOfCharacter(source: string, at: number, type: 'QUOTE_SINGLE' | 'QUOTE_DOUBLE'): number {
  if (type === 'QUOTE_SINGLE') return source.startsWith("''", at) ? 2 : 1;
  if (source[at] !== '\\') return 1;
  const letter = source[at + 1];
  if (letter === 'x') return 4;
  if (letter === 'u') return 6;
  return letter === 'U' ? 10 : 2;
}

function offsetInLiteral(source: string, start: number, value: string, offset: number): number {
  const before = value.slice(0, offset).split('\n');
  const lines = source.split('\n');
  const line = lines[before.length];
  const valueLine = value.split('\n')[before.length - 1] ?? '';
  if (line === undefined) return start;
  const indent = line.replace(/\r$/, '').length - valueLine.length;
  const lead = lines.slice(0, before.length).reduce((sum, part) => sum + part.length + 1, 0);
  return start + lead + Math.max(0, indent) + (before.at(-1)?.length ?? 0);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}
