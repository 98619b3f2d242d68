import type { Json } from '@phasegate/core';
import { Lines } from '@phasegate/core/model';
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
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
const MAX_DEPTH = 100;
/** More than anyone reads. */
const MAX_FLAWS = 500;
const FATAL = ['syntax', 'several_documents', 'too_large'];
const CORE_TAG = /^tag:yaml\.org,2002:(?:map|seq|str|null|bool|int|float)$/;

/** One YAML (or JSON) file: its value as JSON, and where each part of it stands. */
export class YamlTree {
  readonly file: string;
  readonly lines: Lines;
  /** Undefined where the document cannot be read as JSON. */
  readonly value: Json | undefined;
  readonly flaws: readonly Flaw[];
  readonly #text: string;
  readonly #document: Document | null;

  constructor(file: string, text: string) {
    this.file = file;
    this.lines = new Lines(text);
    this.#text = text;
    const flaws: Flaw[] = [];
    this.#document = parse(text, flaws);
    // One syntax error makes many: the parser's later complaints are about what it guessed after the first.
    flaws.sort((a, b) => a.offset - b.offset).splice(1);
    const value =
      this.#document === null || flaws.length > 0
        ? undefined
        : new Reading(this.#document, flaws, this.lines).value();
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
      if (isMap(node)) found = node.items.find((item) => keyText(item.key) === String(step));
      else if (isSeq(node) && typeof step === 'number') found = node.items[step] as Node | undefined;
      if (found === undefined) return { pair, node, complete: false };
      pair = isPair(found) ? found : null;
      node = this.#resolve((isPair(found) ? found.value : found) as Node | null);
    }
    return { pair, node, complete: true };
  }

  #resolve(node: Node | null): Node | null {
    if (!isAlias(node) || this.#document === null) return node;
    return node.resolve(this.#document) ?? null;
  }
}

function parse(text: string, flaws: Flaw[]): Document | null {
  try {
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
  }
}

/** Walks the document once and makes JSON of it; whatever JSON has no word for is a flaw. */
class Reading {
  readonly #document: Document;
  readonly #flaws: Flaw[];
  readonly #lines: Lines;
  #aliases = 0;

  constructor(document: Document, flaws: Flaw[], lines: Lines) {
    this.#document = document;
    this.#flaws = flaws;
    this.#lines = lines;
  }

  value(): Json | undefined {
    return this.#read(this.#document.contents as Node | null, [], []);
  }

  #read(node: Node | null, path: YamlPath, above: readonly Node[]): Json | undefined {
    if (node === null) return null;
    const offset = node.range?.[0] ?? 0;
    if (above.length > MAX_DEPTH) return this.#flaw(offset, 'syntax', 'the file is nested too deeply');
    if (node.tag !== undefined && !CORE_TAG.test(node.tag) && !isAlias(node)) {
      return this.#flaw(offset, 'syntax', 'custom tags are not read');
    }
    if (isAlias(node)) return this.#alias(node, path, above);
    const deeper = [...above, node];
    if (isSeq(node)) {
      return node.items.map(
        (item, index) => this.#read(item as Node | null, [...path, index], deeper) ?? null,
      );
    }
    if (isMap(node)) return this.#map(node.items, path, deeper);
    return this.#scalar(node as Scalar);
  }

  #alias(node: Node, path: YamlPath, above: readonly Node[]): Json | undefined {
    const offset = node.range?.[0] ?? 0;
    if (++this.#aliases > MAX_ALIASES) {
      // Said once: an alias bomb would otherwise be reported for every alias in it.
      if (this.#aliases === MAX_ALIASES + 1)
        this.#flaw(offset, 'too_large', `more than ${MAX_ALIASES} aliases`);
      return undefined;
    }
    const target = isAlias(node) ? node.resolve(this.#document) : undefined;
    if (target === undefined)
      return this.#flaw(offset, 'syntax', 'there is no such anchor before this alias');
    if (above.includes(target))
      return this.#flaw(offset, 'syntax', 'an alias cannot lie inside what it names');
    return this.#read(target, path, above);
  }

  #map(items: readonly Pair[], path: YamlPath, above: readonly Node[]): Json {
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
        const phase = path.length === 1 && path[0] === 'phases';
        const what = phase ? `phase \`${key}\` is defined twice` : `\`${key}\` is given twice`;
        this.#flaw(
          offset,
          phase ? 'duplicate_phase' : 'duplicate_key',
          `${what}; the first is at ${line}:${column}`,
        );
        continue;
      }
      seen.set(key, offset);
      const value = this.#read(item.value as Node | null, [...path, key], above);
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
    if (this.#flaws.length < MAX_FLAWS) this.#flaws.push({ offset, code, message });
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
