import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { foldStepwise } from '@phasegate/core/engine';
import { databaseAddress, demandAddress, placeOf, rememberDatabase } from './config/databaseAddress.ts';
import { sharedKeysFile } from './config/sharedKeys.ts';
import { type KeysPlace, sealFor } from './localStore.ts';
import type { KeyDerivation } from './runtime/humanKeys.ts';
import type { MovedDatabase } from './runtime/ports.ts';
import { requireSameKeys } from './sameKeys.ts';
import { takeServerPlace } from './serverFile.ts';

/** What is known of a database that is said to be a project's own, at another address. */
export interface MovedPlace extends KeysPlace {
  readonly database: string;
  /** From outside: what the database must have come to at least. */
  readonly anchors: readonly string[];
  readonly keys?: KeyDerivation | undefined;
}

/**
 * Opens a database that is said to be the project's own, at another address. INVARIANT: nobody is believed because of it
 * before all of it was verified with the project's keys, as far as the anchors: else a database without humans, or one
 * from before a human was removed, could be put in the place of the project's.
 */
export async function openMoved(place: MovedPlace): Promise<MovedDatabase> {
  const { root, stateDir, env, database, anchors, keys } = place;
  demandAddress(database);
  if (databaseAddress(stateDir, {}) === null) {
    throw new PhasegateError('usage', 'the runs of this project are in its file, and not in a database', {
      hint: 'copy them into an empty database: `phasegate migrate-store --from sqlite: --to URL`',
    });
  }
  const server = await takeServerPlace(stateDir);
  try {
    const [{ openPostgresStore }, { createHumans, decisionIsSigned }, seal] = await Promise.all([
      import('@phasegate/postgres'),
      import('./runtime/openProject.ts'),
      sealFor(place),
    ]);
    const knowledge = { fold: foldStepwise, verifyDecision: decisionIsSigned };
    // Tables that are not there are not made: it is said that all is there already.
    const store = await openPostgresStore({ url: database, seal, existed: true, ...knowledge });
    const close = async () => {
      await store.close().finally(() => server.leave());
    };
    try {
      const { findings, runs, records } = await store.verify({ anchors });
      const [first] = findings;
      if (first !== undefined) throw notIt(database, first.message);
      // Last, as it marks a database that has no mark yet as this project's.
      const file = sharedKeysFile(root, env) ?? join(stateDir, 'keys.json');
      // They are kept already: a project that had a database has keys.
      await requireSameKeys(store, { file, keep: () => undefined, takeBack: () => undefined });
      return {
        humans: createHumans(store, () => new Date().toISOString(), keys),
        runs,
        records,
        keep: () => rememberDatabase(stateDir, database),
        close,
      };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    server.leave();
    throw error;
  }
}

function notIt(database: string, reason: string): PhasegateError {
  const at = `\`${placeOf(database)}\``;
  return new PhasegateError('audit_broken', `the audit at ${at} is not what this project's was: ${reason}`, {
    hint: 'nothing was changed; look whether it is the right database, and a backup that is new enough',
  });
}
