import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '@phasegate/core';
import { lazy, lazyPort } from './lazyPort.ts';
import type { Databases } from './runtime/ports.ts';

/** The authors' databases, loaded and recovered when a workflow that has one is first worked on. */
export function lazyDatabases(
  { root, stateDir, now }: { readonly root: string; readonly stateDir: string; readonly now: () => number },
  load: (runId: string) => Promise<Run | undefined>,
): { readonly port: Databases; open(): Promise<Databases> } {
  const databases = lazy<Databases>(async () => {
    const { createDatabases } = await import('./database/index.ts');
    const newId = () => `db-${randomBytes(8).toString('hex')}`;
    const made = createDatabases({ root, stateDir, now, newId, busyMs: 5000 });
    await made.recover(load);
    return made;
  });
  const port: Databases = {
    ...lazyPort(databases, {
      calls: ['begin', 'waiting', 'drop', 'recover', 'backup', 'restore', 'migrate', 'protect'],
    }),
    // Asked for every tool call: a project without databases pays for none.
    protection: async () =>
      existsSync(join(stateDir, 'protected')) ? (await databases.get()).protection() : () => false,
  };
  return { port, open: databases.get };
}
