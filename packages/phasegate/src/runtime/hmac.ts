import { hash } from 'node:crypto';

/** HMAC-SHA256 (RFC 2104) under one key. */
export type Hmac = (text: string) => string;

const BLOCK = 64;

/**
 * Makes the function for a key, whose result is hex unless told otherwise. The two hashes are taken one by one because Node's own `createHmac` builds a stream
 * for every call, which costs more than the hashing; a test holds the results against it. Texts that fit are put together
 * in one place again and again: a buffer for each would be half of the cost, and outside of the heap that V8 looks after.
 */
export function hmacOf(key: Uint8Array, as: 'hex' | 'base64url' = 'hex'): Hmac {
  const block = Buffer.alloc(BLOCK);
  block.set(key.length > BLOCK ? hash('sha256', key, 'buffer') : key);
  const inner = Buffer.alloc(BLOCK + FITS);
  inner.set(block.map((byte) => byte ^ 0x36));
  const outer = Buffer.concat([block.map((byte) => byte ^ 0x5c), Buffer.alloc(32)]);
  return (text) => {
    // No character of a string takes more than three bytes.
    const fits = text.length * 3 <= FITS;
    const message = fits ? inner : Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text)]);
    const end = fits ? BLOCK + inner.write(text, BLOCK) : message.length;
    outer.write(hash('sha256', message.subarray(0, end), 'binary'), BLOCK, 'latin1');
    return hash('sha256', outer, as);
  };
}

/** In bytes. A seal is over some hundred characters. */
const FITS = 4096;
