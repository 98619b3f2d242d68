/** The lines of one file of ignore rules, and where it stands. */
export interface RuleFile {
  /** Folder the rules are about, relative to the workspace; empty for its root. */
  readonly base: string;
  /** What is put before paths where the file stands above the workspace: the way from there, with a slash at its end. */
  readonly above?: string;
  readonly lines: readonly string[];
}

/** Ignore rules as git reads them. Matched by code of ours, in linear time: an agent may write such files. */
export interface IgnoreRules {
  readonly files: readonly RuleFile[];
  /** Whether a path is left out by itself; that a folder above it is left out is for the one who walks to know. */
  ignores(path: string, isFolder: boolean): boolean;
  /** Whether a path is left out, by itself or by a folder above it. */
  ignoresWithin(path: string): boolean;
}

interface Pattern {
  readonly negated: boolean;
  readonly onlyFolders: boolean;
  /** Matched against the whole path below the base, else against the name alone. */
  readonly anchored: boolean;
  readonly segments: readonly Segment[];
}

type Segment = '**' | ((name: string) => boolean);

interface Compiled extends RuleFile {
  /** The last one first: the last that matches counts. */
  readonly patterns: readonly Pattern[];
}

/** Compiles files of rules; later ones count before earlier ones, as deeper folders do in git. */
export function compileIgnoreRules(files: readonly RuleFile[]): IgnoreRules {
  const compiled = files.map((file): Compiled => ({ ...file, patterns: patternsOf(file.lines) }));
  const global = compiled.filter(({ base, patterns }) => base === '' && patterns.length > 0).reverse();
  const byFolder = new Map<string, Compiled>();
  for (const one of compiled) if (one.base !== '' && one.patterns.length > 0) byFolder.set(one.base, one);

  function ignores(path: string, isFolder: boolean): boolean {
    for (let at = path.lastIndexOf('/'); at > 0 && byFolder.size > 0; at = path.lastIndexOf('/', at - 1)) {
      const rules = byFolder.get(path.slice(0, at));
      const found = rules === undefined ? undefined : verdictOf(rules.patterns, path.slice(at + 1), isFolder);
      if (found !== undefined) return found;
    }
    for (const { patterns, above = '' } of global) {
      const found = verdictOf(patterns, `${above}${path}`, isFolder);
      if (found !== undefined) return found;
    }
    return false;
  }

  return {
    files,
    ignores,
    ignoresWithin(path) {
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
        if (ignores(path.slice(0, at), true)) return true;
      }
      return ignores(path, false);
    },
  };
}

/** Undefined where no pattern says anything. */
function verdictOf(patterns: readonly Pattern[], path: string, isFolder: boolean): boolean | undefined {
  if (patterns.length === 0) return undefined;
  let names: readonly string[] | undefined;
  const last = [path.slice(path.lastIndexOf('/') + 1)];
  for (const { negated, onlyFolders, anchored, segments } of patterns) {
    if (onlyFolders && !isFolder) continue;
    if (anchored) names ??= path.split('/');
    if (matches(segments, anchored ? (names as readonly string[]) : last)) return !negated;
  }
  return undefined;
}

/** Segment by segment; only `**` goes over more than one. */
function matches(segments: readonly Segment[], names: readonly string[]): boolean {
  let [segment, name, starAt, starName] = [0, 0, -1, 0];
  while (name < names.length) {
    const wanted = segments[segment];
    if (wanted === '**') {
      starAt = segment;
      starName = name;
      segment += 1;
      // At the end it stands for what is inside, which is one name at least.
      if (segment === segments.length) return true;
      continue;
    }
    if (wanted?.(names[name] as string)) {
      segment += 1;
      name += 1;
      continue;
    }
    if (starAt === -1) return false;
    starName += 1;
    name = starName;
    segment = starAt + 1;
  }
  return segment === segments.length;
}

function patternsOf(lines: readonly string[]): readonly Pattern[] {
  return lines.flatMap((line) => patternOf(line) ?? []).reverse();
}

function patternOf(line: string): Pattern | null {
  let text = withoutTrailingBlanks(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (text === '' || text.startsWith('#')) return null;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const onlyFolders = text.endsWith('/');
  if (onlyFolders) text = text.slice(0, -1);
  if (text === '') return null;
  const anchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  const parts = anchored ? text.split('/') : [text];
  const segments: Segment[] = [];
  for (const part of parts) {
    const segment = anchored && part === '**' ? '**' : matcherOf(part);
    if (segment === null) return null;
    if (segment !== '**' || segments.at(-1) !== '**') segments.push(segment);
  }
  return { negated, onlyFolders, anchored, segments };
}

/** Blanks at the end do not count unless a backslash stands before them. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end -= 1;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0;
  for (let place = at - 1; place >= 0 && line[place] === '\\'; place -= 1) slashes += 1;
  return slashes % 2 === 1;
}

type One = '*' | ((char: string) => boolean);

/** Null where the pattern can never match, as one that ends in the middle of a class. */
function matcherOf(part: string): ((name: string) => boolean) | null {
  if (!/[*?[\\]/.test(part)) return (name) => name === part;
  if (/^\*[^*?[\\]*$/.test(part)) {
    const end = part.slice(1);
    return (name) => name.endsWith(end);
  }
  const ones = onesOf(part);
  return ones === null ? null : (name) => matchesOnes(ones, name);
}

function onesOf(part: string): readonly One[] | null {
  const ones: One[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const char = part[at] as string;
    if (char === '*') {
      if (ones.at(-1) !== '*') ones.push('*');
    } else if (char === '?') ones.push(() => true);
    else if (char === '[') {
      const found = classAt(part, at);
      if (found === null) return null;
      ones.push(found.has);
      at = found.end;
    } else if (char === '\\') {
      at += 1;
      const literal = part[at];
      if (literal === undefined) return null;
      ones.push((given) => given === literal);
    } else ones.push((given) => given === char);
  }
  return ones;
}

const NAMED: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

type Test = (char: string) => boolean;

function classAt(part: string, start: number): { readonly has: Test; readonly end: number } | null {
  let at = start + 1;
  const negated = part[at] === '!' || part[at] === '^';
  if (negated) at += 1;
  const tests: Test[] = [];
  for (let first = true; first || part[at] !== ']'; first = false) {
    const found = at >= part.length ? null : classPartAt(part, at);
    if (found === null) return null;
    tests.push(found.has);
    at = found.end;
  }
  return { has: (char) => tests.some((test) => test(char)) !== negated, end: at };
}

function classPartAt(part: string, at: number): { readonly has: Test; readonly end: number } | null {
  const named = namedAt(part, at);
  return named === undefined ? rangeAt(part, at) : named;
}

/** `[:alpha:]` and its like; undefined where there is none. */
function namedAt(part: string, at: number): { readonly has: Test; readonly end: number } | undefined | null {
  const named = part.startsWith('[:', at) ? /^\[:([a-z]+):\]/.exec(part.slice(at)) : null;
  if (named === null) return undefined;
  const known = NAMED[named[1] as string];
  return known === undefined ? null : { has: (char) => known.test(char), end: at + named[0].length };
}

/** One character, or two with a dash between them. */
function rangeAt(part: string, start: number): { readonly has: Test; readonly end: number } | null {
  const at = part[start] === '\\' ? start + 1 : start;
  const from = part[at];
  if (from === undefined) return null;
  if (part[at + 1] !== '-' || part[at + 2] === undefined || part[at + 2] === ']')
    return { has: (char) => char === from, end: at + 1 };
  const escaped = part[at + 2] === '\\' ? 1 : 0;
  const to = part[at + 2 + escaped];
  return to === undefined ? null : { has: (char) => char >= from && char <= to, end: at + 3 + escaped };
}

function matchesOnes(ones: readonly One[], name: string): boolean {
  let [one, at, starOne, starAt] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = ones[one];
    if (wanted === '*') {
      starOne = one;
      starAt = at;
      one += 1;
    } else if (wanted?.(name[at] as string)) {
      one += 1;
      at += 1;
    } else if (starOne === -1) return false;
    else {
      starAt += 1;
      at = starAt;
      one = starOne + 1;
    }
  }
  while (ones[one] === '*') one += 1;
  return one === ones.length;
}
