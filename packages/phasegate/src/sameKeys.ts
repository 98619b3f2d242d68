import { PhasegateError } from '@phasegate/core';
import type { KeptStore } from './runtime/ports.ts';

/**
 * Refuses a store that several nodes share where this one has other keys than the one that came first. INVARIANT: that
 * is known before anything is served. Else its rows would look as if somebody had tampered with them, one at a time.
 */
export async function requireSameKeys(
  store: Pick<KeptStore, 'kept' | 'keep'>,
  keysFile: string,
): Promise<void> {
  try {
    if ((await store.kept(KIND, KEY)) !== undefined) return;
    const first = { kind: KIND, key: KEY, data: { made: 'with these keys' } };
    // What another node with the same keys has written meanwhile is the same.
    await store.keep(first, { run: null, audit: [] });
  } catch (cause) {
    const code = cause instanceof PhasegateError ? cause.code : 'internal';
    // A replica takes no mark, and one that has none yet has nothing else.
    if (code === 'store_unavailable') return;
    if (code !== 'state_tampered') throw cause;
    const message =
      'the database is sealed with other keys than those of this node, or its mark was tampered with';
    const hint = `put the \`keys.json\` of the other nodes at \`${keysFile}\`, readable by this user alone`;
    throw new PhasegateError('store_unavailable', message, { hint, cause });
  }
}

const KIND = 'node';
const KEY = 'keys';
