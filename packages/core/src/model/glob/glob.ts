import { PhasegateError } from '../../errors.ts';

/** True when the glob matches the path; compile a glob that is used more than once. */
export function matchGlob(pattern: string, path: string): boolean {
  return compileGlob(pattern)(path);
}

/**
 * Compiles a glob over relative paths with forward slashes: `*` and `?` stay inside a segment, `**` stands for
 * any number of segments, `dir/**` is everything below `dir` and not `dir` itself, `{a,b}` and `[a-z]` choose.
 * Files whose names start with a dot match like others. A path that is absolute or not normalised never matches,
 * so the caller normalises first. A glob with a `globProblem` throws: as a ban it would otherwise ban nothing.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  return compileGlobs([pattern]);
}

/** Compiles several globs into one question: whether any of them matches. */
export function compileGlobs(patterns: readonly string[]): (path: string) => boolean {
  const alternatives = patterns.flatMap((pattern) => {
    const problem = globProblem(pattern);
    if (problem !== null) throw new PhasegateError('workflow_invalid', `the glob \`${pattern}\` ${problem}`);
    return alternativesOf(withoutDot(pattern)).map(compileSegments);
  });
  return (path) => {
    const segments = segmentsOf(path);
    return segments !== null && alternatives.some((parts) => matchParts(parts, segments));
  };
}

/** The segments of a glob, for each of the globs it is written out to; none for one with a problem. */
export function segmentsOfGlob(pattern: string): readonly (readonly string[])[] {
  if (globProblem(pattern) !== null) return [];
  return alternativesOf(withoutDot(pattern)).map((alternative) => {
    const segments = alternative.split('/');
    // A final `**` is below its folder, so it takes at least one segment.
    return segments.at(-1) === '**' ? [...segments, '*'] : segments;
  });
}

/** What is wrong with a glob, as the rest of a sentence about it, or null. */
export function globProblem(pattern: string): string | null {
  if (pattern === '') return 'is empty';
  if (pattern.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (pattern.includes('\0')) return 'contains a NUL character';
  if (pattern.includes('\\')) return 'contains a backslash; paths are written with `/`';
  const alternatives = expansion(withoutDot(pattern));
  if (typeof alternatives === 'string') return alternatives;
  for (const alternative of alternatives) {
    const problem = plainProblem(alternative);
    if (problem !== null) return problem;
  }
  return null;
}

const MAX_LENGTH = 1000;
const MAX_ALTERNATIVES = 256;

const HYPHEN = 0x2d;

/** A `*` before plain characters, each of which is one unit of a text. */
const PLAIN_ENDING = /^\*[\w.-]+$/;

/** Stands for any number of segments, or of characters. */
export const ANY_NUMBER: unique symbol = Symbol('any number');

/** One part of a glob: asks about one segment or one character, or takes any number of them. */
export type Part = typeof ANY_NUMBER | ((item: string) => boolean);

function withoutDot(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

function segmentsOf(path: string): readonly string[] | null {
  const segments = withoutDot(path).split('/');
  const normal = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return normal && !path.includes('\0') ? segments : null;
}

function plainProblem(pattern: string): string | null {
  if (pattern.startsWith('/') || /^[A-Za-z]:\//.test(pattern))
    return 'is absolute; globs are relative to the workspace';
  if (pattern.endsWith('/')) return 'ends with `/`; everything below a folder is written `folder/**`';
  for (const segment of pattern.split('/')) {
    if (segment === '..') return 'contains `..`; a glob cannot leave the workspace';
    if (segment === '.') return 'contains a `.` segment';
    if (segment === '') return 'contains an empty segment';
    if (segment.includes('**') && segment !== '**') {
      return 'has `**` beside other characters; `**` stands alone between slashes, as in `**/*.ts`';
    }
    const problem = classProblem(segment);
    if (problem !== null) return problem;
  }
  return null;
}

function classProblem(segment: string): string | null {
  for (let at = segment.indexOf('['); at !== -1; at = segment.indexOf('[', at)) {
    const end = classEnd(segment, at);
    if (end === -1) return 'has a `[` without a `]` in the same segment';
    at = end;
  }
  return null;
}

/** Where a class ends; a `]` that comes first is one of its members. */
function classEnd(segment: string, start: number): number {
  const negated = segment[start + 1] === '!' || segment[start + 1] === '^';
  return segment.indexOf(']', start + (negated ? 3 : 2));
}

function alternativesOf(pattern: string): readonly string[] {
  const alternatives = expansion(pattern);
  return typeof alternatives === 'string' ? [] : alternatives;
}

/**
 * Writes `{a,b}` out, or says what is wrong. Writing out keeps `**` in `{src/**,test}` simple, and the bound keeps
 * `{a,b}{a,b}{a,b}…` from growing without end.
 */
function expansion(pattern: string): readonly string[] | string {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next);
    if (typeof group === 'string') return group;
    if (group === null) done.push(next);
    else for (const choice of group.choices) open.push(group.before + choice + group.after);
    if (done.length + open.length > MAX_ALTERNATIVES) return `stands for more than ${MAX_ALTERNATIVES} globs`;
  }
  return done.reverse();
}

interface Group {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

function firstGroup(pattern: string): Group | string | null {
  const cuts: number[] = [];
  let depth = 0;
  for (const at of signsOf(pattern)) {
    const sign = pattern[at];
    if (sign === '}' && depth === 0) return 'has a `}` without a `{`';
    if (sign === '}') depth -= 1;
    // The group's own braces and commas, not those of a group inside it.
    if (depth === (sign === ',' ? 1 : 0)) cuts.push(at);
    if (sign === '{') depth += 1;
    if (sign === '}' && depth === 0) return groupOf(pattern, cuts);
  }
  return depth > 0 ? 'has a `{` without a `}`' : null;
}

function groupOf(pattern: string, cuts: readonly number[]): Group | string {
  const choices = cuts.slice(1).map((end, index) => pattern.slice((cuts[index] ?? 0) + 1, end));
  if (choices.length < 2) return 'has `{}` around a single choice';
  return { before: pattern.slice(0, cuts[0]), choices, after: pattern.slice((cuts.at(-1) ?? 0) + 1) };
}

/** Where the braces and commas are that are not members of a class. */
function* signsOf(pattern: string): Generator<number> {
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? '';
    if ('{,}'.includes(character)) yield at;
    if (character !== '[') continue;
    const end = classEnd(pattern, at);
    if (end !== -1 && !pattern.slice(at, end).includes('/')) at = end;
  }
}

function compileSegments(pattern: string): readonly Part[] {
  const parts = pattern
    .split('/')
    .map((segment) => (segment === '**' ? ANY_NUMBER : compileSegment(segment)));
  // A final `**` is below its folder, so it takes at least one segment.
  return parts.at(-1) === ANY_NUMBER ? [...parts, () => true] : parts;
}

function compileSegment(segment: string): (name: string) => boolean {
  if (segment === '*') return () => true;
  if (!/[*?[]/.test(segment)) return (name) => name === segment;
  // `*.ts` is what most globs end with, and no name need be taken apart for it.
  if (PLAIN_ENDING.test(segment)) {
    const ending = segment.slice(1);
    return (name) => name.endsWith(ending);
  }
  const parts = compileCharacters(segment);
  return (name) => matchParts(parts, [...name]);
}

/** One segment of a glob as parts that ask about one character each. */
export function compileCharacters(segment: string): readonly Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < segment.length; ) {
    const character = String.fromCodePoint(segment.codePointAt(at) ?? 0);
    const end = character === '[' ? classEnd(segment, at) : at + character.length - 1;
    if (character === '*') parts.push(ANY_NUMBER);
    else if (character === '?') parts.push(() => true);
    else if (character === '[') parts.push(compileClass(segment.slice(at + 1, end)));
    else parts.push((found) => found === character);
    at = end + 1;
  }
  return parts;
}

/** A set of characters as in `a-z_`, turned round by a leading `!` or `^`. */
function compileClass(text: string): (character: string) => boolean {
  const negated = text.startsWith('!') || text.startsWith('^');
  const members = [...text.slice(negated ? 1 : 0)].map((member) => member.codePointAt(0) ?? 0);
  const ranges: [number, number][] = [];
  for (let at = 0; at < members.length; at++) {
    const low = members[at] ?? 0;
    const high = members[at + 2];
    const isRange = members[at + 1] === HYPHEN && high !== undefined;
    ranges.push([low, isRange ? high : low]);
    if (isRange) at += 2;
  }
  return (character) => {
    const point = character.codePointAt(0) ?? -1;
    return ranges.some(([low, high]) => point >= low && point <= high) !== negated;
  };
}

/**
 * Matches segments against globs, or characters against wildcards. Going back to the last `ANY_NUMBER` alone is
 * enough, since an earlier one could take nothing that the last cannot: the work stays within parts times items.
 */
function matchParts(parts: readonly Part[], items: readonly string[]): boolean {
  let part = 0;
  let item = 0;
  let resumePart = -1;
  let resumeItem = 0;
  while (item < items.length) {
    const current = parts[part];
    if (current === ANY_NUMBER) {
      part += 1;
      resumePart = part;
      resumeItem = item;
    } else if (current?.(items[item] ?? '')) {
      part += 1;
      item += 1;
    } else if (resumePart !== -1) {
      part = resumePart;
      resumeItem += 1;
      item = resumeItem;
    } else return false;
  }
  while (parts[part] === ANY_NUMBER) part += 1;
  return part === parts.length;
}
