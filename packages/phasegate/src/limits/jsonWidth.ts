/**
 * Whether a JSON text has more values than that, told from its commas alone: each is looked at several times, and their
 * names are put in order, while everybody waits.
 */
export function hasMoreValues(text: Uint8Array, most: number): boolean {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    // No byte of a longer character is one of these.
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === COMMA) {
      values += 1;
      if (values > most) return true;
    }
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
