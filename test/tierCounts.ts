import { posix } from 'node:path';
import { importsOf } from './layers/importsOf.ts';
import { type Token, tokensOf } from './layers/tokensOf.ts';

/** Whether a source takes counts from the tier, or has tests that only one of them runs. */
export function readsTier(file: string, source: string): boolean {
  const folder = posix.dirname(file);
  // Most sources need no closer look.
  if (!source.includes('tier.ts')) return false;
  return importsOf(source).some(({ specifier }) => posix.join(folder, specifier) === 'test/tier.ts');
}

/** Whether a test asks for more cases in the long tier than in the full one. */
export function hasLongCounts(source: string): boolean {
  const tokens = tokensOf(source);
  return tokens.some(({ text }, at) => {
    if (text !== 'cases' || tokens[at + 1]?.text !== '(') return false;
    return group(tokens, at + 1).some((token) => token.text === 'long');
  });
}

/** Lines of a test on which a property does not take its number of cases from the tier. */
export function fixedCounts(source: string): readonly number[] {
  if (!source.includes('fast-check')) return [];
  const tokens = tokensOf(source);
  if (!importsOf(source).some(({ specifier }) => specifier === 'fast-check')) return [];
  const names = countedNames(tokens);
  return tokens.flatMap(({ text, line }, at) => {
    if (text === 'numRuns') return isCounted(tokens, at, names) ? [] : [line];
    // Without a number the library has one of its own.
    if (text !== 'assert' || tokens[at - 1]?.text !== '.' || tokens[at - 2]?.text !== 'fc') return [];
    const given = group(tokens, at + 1);
    return given.some((token) => token.text === 'numRuns' || names.has(token.text)) ? [] : [line];
  });
}

/** What `cases` of the tier is called here. */
function namesOfCases(tokens: readonly Token[]): ReadonlySet<string> {
  const found = tokens.flatMap(({ text }, at) =>
    text === 'cases' && tokens[at + 1]?.text === 'as' ? [tokens[at + 2]?.text ?? ''] : [],
  );
  return new Set(['cases', ...found]);
}

/** Constants whose value begins with a count of the tier: `const numRuns = cases(…)`, `const RUNS = { numRuns: cases(…) }`. */
function countedNames(tokens: readonly Token[]): ReadonlySet<string> {
  const calls = namesOfCases(tokens);
  const found = tokens.flatMap(({ text }, at) => {
    if (text !== 'const' || tokens[at + 2]?.text !== '=') return [];
    const value = tokens.slice(at + 3, at + 6).map((token) => token.text);
    const counted = value[0] === '{' && value[1] === 'numRuns' ? tokens[at + 6]?.text : value[0];
    return calls.has(counted ?? '') ? [tokens[at + 1]?.text ?? ''] : [];
  });
  return new Set([...calls, ...found]);
}

/** Of `numRuns: cases(…)`, `numRuns: COUNT`, `{ numRuns }` and `const numRuns = cases(…)`. */
function isCounted(tokens: readonly Token[], at: number, names: ReadonlySet<string>): boolean {
  const next = tokens[at + 1]?.text;
  return names.has((next === ':' || next === '=' ? tokens[at + 2]?.text : 'numRuns') ?? '');
}

/** What stands between the parenthesis at `open` and the one that closes it. */
function group(tokens: readonly Token[], open: number): readonly Token[] {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    if (tokens[at]?.text === ')') depth -= 1;
    if (depth === 0) return tokens.slice(open, at);
  }
  return tokens.slice(open);
}
