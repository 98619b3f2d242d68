import { DEPTH_LIMIT } from '@phasegate/core/model';

/**
 * Whether a JSON text is nested far deeper than anything here reads, told from its brackets alone. Parsing a megabyte of
 * brackets takes a hundred times as long as looking at them, and everybody waits for it. Who parses has the exact limit.
 */
export function isFarTooDeep(text: Uint8Array): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    // No byte of a longer character is one of these.
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > FAR) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

/** Above the limit, so that what is a little too deep still gets the answer that says so in its own words. */
const FAR = 5 * DEPTH_LIMIT;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
