import type { Environment } from '../environment.ts';

/** Whether the terminal says that it shows other characters than UTF-8. Where nothing is said, it shows them. */
export function showsUtf8({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const said = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
  return said === undefined || /utf-?8/i.test(said);
}

/** The text with every character beyond ASCII written as its number. */
export function asAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
