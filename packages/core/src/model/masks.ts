/** What stands in the place of a secret, with how long that was: letters, digits and hyphens, one word wherever it is. */
export function maskOf(keyedHash: string, length: number): string {
  return `masked-${keyedHash.slice(0, 16)}-${length}chars`;
}

/** The form of a mask, as the source of a regular expression; those of 0.1 do not tell a length. */
export const MASK = String.raw`masked-[0-9a-f]{16}(?:-[0-9]{1,9}chars|(?![\w-]))`;

/** Whether something in the text is masked, or pretends to be. */
export function holdsMask(text: string): boolean {
  return IN_TEXT.test(text);
}

const IN_TEXT = new RegExp(MASK, 'u');
