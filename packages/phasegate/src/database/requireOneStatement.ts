import { refused } from './refused.ts';

/** Refuses a text with more than one statement in it: SQLite would compile the first and say nothing of the rest. */
export function requireOneStatement(text: string, compiled: string): void {
  const rest = text.startsWith(compiled) ? text.slice(compiled.length) : text;
  if (saysNothing(rest)) return;
  throw refused('only one statement at a time', 'call once for every statement, in `db.transaction()`');
}

/** Refuses what JavaScript and SQLite would not read as the same text. */
export function requireText(text: unknown): asserts text is string {
  if (typeof text !== 'string') throw refused('a statement is a text');
  if (text.includes('\0') || !text.isWellFormed()) {
    throw refused('a statement must not contain NUL or half a character');
  }
}

/** Whether there is only white space, semicolons and comments, as SQLite reads them. */
function saysNothing(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    if (' \t\n\f\r;'.includes(text.charAt(at))) at += 1;
    else if (text.startsWith('--', at)) at = after(text, '\n', at + 2);
    else if (text.startsWith('/*', at)) at = after(text, '*/', at + 2);
    else return false;
  }
  return true;
}

/** A comment nobody closes goes to the end. */
function after(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found === -1 ? text.length : found + end.length;
}
