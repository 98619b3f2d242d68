import type { Reading } from '@phasegate/core/ports';
import { leavingOut, wholeLength } from './cutText.ts';

/** Of stored texts in order, how many are read: no more characters than are wanted at once, and one at least. */
export function countWithin(stored: readonly string[], { most, values }: Reading): number {
  if (most === undefined) return stored.length;
  let length = 0;
  for (const [index, text] of stored.entries()) {
    length += values === 'left_out' ? leavingOut(text).length : wholeLength(text);
    if (length > most && index > 0) return index;
  }
  return stored.length;
}
