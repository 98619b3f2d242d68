import { type Token, tokensOf } from '../layers/tokensOf.ts';

/** A citation before it is known in which file it stands. */
export interface FoundCitation {
  readonly id: string;
  readonly line: number;
  readonly title: string;
}

/**
 * The ids in square brackets at the end of the titles of `test`, `it` and `describe`. A test that is skipped
 * or still to do proves nothing and cites nothing.
 */
export function citationsIn(source: string): readonly FoundCitation[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1]?.text ?? '';
    if (!/^(test|it|describe)$/.test(token.text) || before === '.' || before === '?.') return [];
    const title = titleAfter(tokens, at + 1);
    return title === null ? [] : idsOf(title).map((id) => ({ id, line: token.line, title }));
  });
}

const ID = /^(S\d\.\d+|C\d+|adv\.[A-Z]\d+|fail\.\d+)$/;

function idsOf(title: string): readonly string[] {
  const group = /\[([^[\]]+)\]\s*$/.exec(title)?.[1];
  const ids = group?.trim().split(/[\s,]+/) ?? [];
  return ids.every((id) => ID.test(id)) ? ids : [];
}

/** The title of a call such as `test('…'`, `test.only('…'` or `test.each([…])('…'`; null for anything else. */
function titleAfter(tokens: readonly Token[], start: number): string | null {
  let at = start;
  let table = false;
  while (tokens[at]?.text === '.') {
    const modifier = tokens[at + 1]?.text ?? '';
    if (modifier === 'skip' || modifier === 'todo') return null;
    table ||= ['each', 'for', 'skipIf', 'runIf', 'extend'].includes(modifier);
    at = afterTypes(tokens, at + 2);
    if (table && tokens[at]?.text === '(') {
      at = afterGroup(tokens, at);
      table = false;
    }
  }
  return tokens[at]?.text === '(' ? (tokens[at + 1]?.literal ?? null) : null;
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
