import { type Token, tokensOf } from '../layers/tokensOf.ts';

/** A citation before it is known in which file it stands. */
export interface FoundCitation {
  readonly id: string;
  readonly line: number;
  readonly title: string;
  /** The first tier that runs it. */
  readonly tier: CitedTier;
}

/** The tiers a requirement can rest on: every change, or only before it counts. */
export type CitedTier = 'quick' | 'full';

/**
 * The ids in square brackets at the end of the titles of `test`, `it` and `describe`. A test that is skipped
 * or still to do proves nothing and cites nothing.
 */
export function citationsIn(source: string): readonly FoundCitation[] {
  const tokens = tokensOf(source);
  // Up to here, everything stands in a group that only the full tier runs.
  let fullUntil = 0;
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1]?.text ?? '';
    if (!/^(test|it|describe)$/.test(token.text) || before === '.' || before === '?.') return [];
    const call = callAfter(tokens, at + 1);
    if (call === null) return [];
    if (call.full && token.text === 'describe')
      fullUntil = Math.max(fullUntil, afterGroup(tokens, call.open));
    const title = tokens[call.open + 1]?.literal ?? null;
    if (title === null) return [];
    const tier = call.full || at < fullUntil ? 'full' : 'quick';
    return idsOf(title).map((id) => ({ id, line: token.line, title, tier }));
  });
}

const ID = /^(S\d\.\d+|C\d+|adv\.[A-Z]\d+|fail\.\d+)$/;

function idsOf(title: string): readonly string[] {
  const group = /\[([^[\]]+)\]\s*$/.exec(title)?.[1];
  const ids = group?.trim().split(/[\s,]+/) ?? [];
  return ids.every((id) => ID.test(id)) ? ids : [];
}

/**
 * Where the arguments of a call such as `test('…'`, `test.only('…'` or `test.each([…])('…'` begin, and whether it asks
 * for the full tier; null for anything else.
 */
function callAfter(
  tokens: readonly Token[],
  start: number,
): { readonly open: number; readonly full: boolean } | null {
  let at = start;
  let table = false;
  let full = false;
  while (tokens[at]?.text === '.') {
    const modifier = tokens[at + 1]?.text ?? '';
    if (modifier === 'skip' || modifier === 'todo') return null;
    table ||= ['each', 'for', 'skipIf', 'runIf', 'extend'].includes(modifier);
    at = afterTypes(tokens, at + 2);
    if (table && tokens[at]?.text === '(') {
      const end = afterGroup(tokens, at);
      full ||= /If$/.test(modifier) && tokens.slice(at, end).some(({ text }) => text === 'FULL');
      at = end;
      table = false;
    }
  }
  return tokens[at]?.text === '(' ? { open: at, full } : null;
}

/** The place after the type arguments that begin at `start`, or `start` where there are none. */
function afterTypes(tokens: readonly Token[], start: number): number {
  if (tokens[start]?.text !== '<') return start;
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    // Two that close at once are one token, as in a shift.
    for (const sign of tokens[at]?.text.match(/^(?:<+|>+)$/)?.[0] ?? '') depth += sign === '<' ? 1 : -1;
    if (depth === 0) return at + 1;
  }
  return tokens.length;
}

/** The place after the parenthesis that closes the one at `open`. */
function afterGroup(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    if (tokens[at]?.text === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return tokens.length;
}
