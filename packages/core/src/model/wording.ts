import { isJsonObject } from '../json.ts';

/** Names the kind of a value with its article, for messages such as `must be an integer, got a boolean`. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'number')
    return Number.isFinite(value) ? 'a number' : 'a number that JSON does not have';
  return 'nothing that JSON has';
}

/** Puts text from outside in backticks: one line, control characters escaped, cut when long. */
export function quoted(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return `\`${cut.replace(UNPRINTABLE, escaped)}\``;
}

/** Lists words as a person would: `a`, `a or b`, `a, b or c`. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** Some words in backticks, and how many were left out. */
export function quotedList(words: readonly string[], most = 10): string {
  const shown = words.slice(0, most).map(quoted).join(', ');
  return words.length > most ? `${shown} and ${words.length - most} more` : shown;
}

const MAX_QUOTED = 80;
// Controls, bidirectional marks and lone surrogates could make a message read as something else.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
