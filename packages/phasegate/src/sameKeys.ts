import { PhasegateError } from '@phasegate/core';
import type { Store } from './runtime/ports.ts';

type Marked = Pick<Store, 'acceptances' | 'agents' | 'humans' | 'keep' | 'kept' | 'list' | 'load'>;

/**
 * Refuses a store that several nodes share where this one has other keys than the one that came first. INVARIANT: that
 * is known before anything is served. Else its rows would look as if somebody had tampered with them, one at a time. Keys
 * that it does not refuse are kept; those it does are not, or are taken back, so that a node which is refused is as it
 * was.
 */
export async function requireSameKeys(
  store: Marked,
  { file, keep, takeBack }: { readonly file: string; keep(): void; takeBack(): void },
): Promise<void> {
  try {
    if ((await store.kept(KIND, KEY)) !== undefined) return keep();
    await readSome(store);
    // Before the mark: a database that is marked with keys which nobody has is lost.
    keep();
    const first = { kind: KIND, key: KEY, data: { made: 'with these keys' } };
    // What another node with the same keys has written meanwhile is the same.
    await store.keep(first, { run: null, audit: [] }).catch((cause: unknown) => {
      // Another node with other keys has been quicker, since this one looked: nothing is sealed with these.
      if (codeOf(cause) === 'state_tampered') takeBack();
      // A replica takes no mark.
      if (codeOf(cause) !== 'store_unavailable') throw cause;
    });
  } catch (cause) {
    if (codeOf(cause) !== 'state_tampered') throw cause;
    const message =
      'the database is sealed with other keys than those of this node, or its mark was tampered with';
    const hint = `let PHASEGATE_KEYS_FILE name the file with the keys of the other nodes, or put their \`keys.json\` at \`${file}\`, readable by this user alone`;
    throw new PhasegateError('store_unavailable', message, { hint, cause });
  }
}

const KIND = 'node';
const KEY = 'keys';

/**
 * What was moved here has no mark, and was sealed with the keys it comes with: a node that cannot read it must not say
 * whose it is.
 */
async function readSome(store: Marked): Promise<void> {
  const [runs] = await Promise.all([
    store.list({ limit: 1 }),
    store.humans(),
    store.agents(),
    store.acceptances(),
  ]);
  for (const { run } of runs) await store.load(run);
}

function codeOf(cause: unknown): string {
  return cause instanceof PhasegateError ? cause.code : 'internal';
}
