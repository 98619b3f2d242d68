import { hash } from 'node:crypto';

/** HMAC-SHA256 (RFC 2104) under one key. */
export type Hmac = (text: string) => string;

const BLOCK = 64;

/**
 * Makes the function for a key, whose result is hex unless told otherwise. The two hashes are taken one by one because Node's own `createHmac` builds a stream
 * for every call, which costs more than the hashing; a test holds the results against it.
 */
export function hmacOf(key: Uint8Array, as: 'hex' | 'base64url' = 'hex'): Hmac {
  const block = Buffer.alloc(BLOCK);
  block.set(key.length > BLOCK ? hash('sha256', key, 'buffer') : key);
  const inner = Buffer.from(block.map((byte) => byte ^ 0x36));
  const outer = Buffer.concat([block.map((byte) => byte ^ 0x5c), Buffer.alloc(32)]);
  return (text) => {
    const message = Buffer.allocUnsafe(BLOCK + Buffer.byteLength(text));
    inner.copy(message);
    message.write(text, BLOCK);
    hash('sha256', message, 'buffer').copy(outer, BLOCK);
    return hash('sha256', outer, as);
  };
}
