import type { SourceWarning } from '@phasegate/core/ports';
import type { Line } from './readLines.ts';

// What UTF-8 looks like after it was taken for Windows-1252 or Latin-1 and written as UTF-8 again.
const DOUBLY_ENCODED =
  /Ã[\u0080-\u00BF\u0152-\u0192\u2018-\u203A]|â(?:€|œ|†|‚|\u0080|\u009C)|ðŸ|Â[\u00A0-\u00BF]|ï»¿/;

/** Says where a text was encoded twice; its words are taken as they are. */
export function strangeText(lines: readonly Line[]): readonly SourceWarning[] {
  const strange = lines.filter(({ raw }) => DOUBLY_ENCODED.test(raw));
  const [first] = strange;
  if (first === undefined) return [];
  const more = strange.length === 1 ? '' : ` and on ${strange.length - 1} more`;
  return [{ line: first.number, message: `the text on this line${more} seems to be UTF-8 encoded twice` }];
}
