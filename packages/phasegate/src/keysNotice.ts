import { join } from 'node:path';
import { KEYS_VARIABLE, sharedKeysFile } from './config/sharedKeys.ts';
import { isInFile, type StatePlace } from './localStore.ts';
import { rememberedShared } from './runtime/keys.ts';

/**
 * What an operator should know whose server is not told of the file of keys: that it goes by a copy, or, on a database
 * that other nodes may serve, by keys of its own. Null where nothing is amiss.
 */
export function keysNotice(place: StatePlace): string | null {
  const { root, stateDir, env } = place;
  if (sharedKeysFile(root, env) !== null) return null;
  const shared = rememberedShared(stateDir);
  if (shared !== null) {
    return (
      `${KEYS_VARIABLE} is not set: the keys are a copy of ${shared}, and a rotation there is not seen here; ` +
      `set ${KEYS_VARIABLE}=${shared}, as the other nodes do, and start again`
    );
  }
  if (isInFile(place)) return null;
  return (
    `${KEYS_VARIABLE} is not set: the keys of this node are its own, ${join(stateDir, 'keys.json')}; before another node ` +
    `serves this database, copy them to a file outside of the project (mode 600) and name it in ${KEYS_VARIABLE} of each`
  );
}
