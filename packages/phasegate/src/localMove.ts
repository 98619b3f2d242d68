import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { foldStepwise } from '@phasegate/core/engine';
import { databaseAddress, placeOf, rememberDatabase } from './config/databaseAddress.ts';
import { DATABASE, type KeysPlace, openFile, sealFor } from './localStore.ts';
import type { AuditReport } from './runtime/ports.ts';
import { takeServerPlace } from './serverFile.ts';

/** Moves the runs of a project from its file into a database. The file stays as it was, and is not used any more. */
export async function moveRuns(
  place: KeysPlace & { readonly database: string },
  told: (done: number, all: number) => void,
): Promise<AuditReport> {
  const { stateDir, database } = place;
  const file = join(stateDir, DATABASE);
  const there = databaseAddress(stateDir, {});
  if (there !== null) {
    throw new PhasegateError(
      'usage',
      `the runs of this project are in PostgreSQL already, in \`${placeOf(there.url)}\``,
      {
        hint: 'there is nothing to do; where the database itself has moved: `phasegate migrate-store --moved --to URL --anchor FILE`',
      },
    );
  }
  if (!existsSync(file)) throw new PhasegateError('usage', 'this project has no runs to move yet');
  // No server may start meanwhile, and what is verified here is what is copied: nobody can write until it is.
  const server = await takeServerPlace(stateDir);
  try {
    await requireSound(place, file);
    const [{ openCopySource }, { copyInto }, { decisionIsSigned }, seal] = await Promise.all([
      import('./stores/sqlite/copySource.ts'),
      import('@phasegate/postgres'),
      import('./runtime/openProject.ts'),
      sealFor(place),
    ]);
    const source = openCopySource(file);
    try {
      const report = await copyInto({
        url: database,
        seal,
        source,
        fold: foldStepwise,
        verifyDecision: decisionIsSigned,
        onWhole: () => rememberDatabase(stateDir, database),
        onProgress: (done) => told(done, source.records),
      });
      const [first] = report.findings;
      if (first !== undefined) {
        throw new PhasegateError('audit_broken', `the copy does not verify: ${first.message}`, {
          hint: 'the runs stay in the file; empty the database and try again',
        });
      }
      return report;
    } finally {
      source.close();
    }
  } finally {
    server.leave();
  }
}

/** What was changed from outside must not become what was moved. */
async function requireSound(place: KeysPlace, file: string): Promise<void> {
  const { store } = await openFile(place, file);
  const { findings } = await store.verify().finally(() => store.close());
  const [first] = findings;
  if (first === undefined) return;
  throw new PhasegateError('audit_broken', `the audit does not verify: ${first.message}`, {
    hint: 'nothing was moved; `phasegate audit verify` says all that is wrong',
  });
}
