import { existsSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import type { DatabaseBackup, People } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { wholeRun } from '../runOf.ts';
import { working } from '../showWork.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, LOCAL_AGENT, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate database`: the databases workflows work on. */
export const database: CliCommand = {
  usage: [
    'database backups [RUN]',
    'database restore BACKUP [--as NAME] [--passphrase-fd N]',
    'database migrate WORKFLOW',
  ],
  details:
    'A workflow may name a SQLite database its steps work on. Before each run it is backed up; `backups`\n' +
    'lists the copies, and `restore` puts one back after backing up what is there, which is for a human. `migrate`\n' +
    'applies the numbered migrations that were not yet: no other way changes the schema.',
  examples: ['phasegate database backups', 'phasegate database restore db-0011223344556677'],
  options: HUMAN_OPTIONS,
  positionals: ['backups|restore|migrate', '[RUN|BACKUP|WORKFLOW]'],
  async run(invocation) {
    const [action, word] = invocation.args.positionals as [string, string?];
    if (action === 'backups') {
      return backups(invocation, word === undefined ? word : await wholeRun(invocation, LOCAL_AGENT, word));
    }
    if (action === 'restore') return restore(invocation, demand(word, 'BACKUP', action));
    if (action === 'migrate') return migrate(invocation, demand(word, 'WORKFLOW', action));
    throw usageError(
      `\`phasegate database\` has no \`${action}\``,
      'it has `backups`, `restore` and `migrate`',
    );
  },
};

function demand(word: string | undefined, what: string, action: string): string {
  if (word !== undefined) return word;
  throw usageError(`${what} is missing`, `phasegate database ${action} ${what}`);
}

async function backups({ open, out }: Invocation, run: string | undefined): Promise<ExitCode> {
  const all = await (await open()).databaseBackups.list();
  const found = all.filter((backup) => run === undefined || backup.run === run);
  await out.result({ backups: found.map(wire) }, () => {
    if (found.length === 0) return 'no backups';
    const rows = found.map(({ id, createdAt, run: made, path }) => {
      return [id, createdAt, made ?? '', existsSync(path) ? path : `${path} (removed)`];
    });
    return table([['backup', 'made', 'run', 'file'], ...rows]);
  });
  return 0;
}

async function restore(invocation: Invocation, id: string): Promise<ExitCode> {
  const human = await unlockHuman(invocation);
  const { databaseBackups } = await invocation.open();
  const before = await working(invocation.out, 'restoring the database', () =>
    databaseBackups.restore(id, human),
  );
  await invocation.out.result({ restored: id, before: wire(before) }, () =>
    before.id === id ? `${id} was put back` : `${id} was put back; what was there before is ${before.id}`,
  );
  return 0;
}

async function migrate(invocation: Invocation, name: string): Promise<ExitCode> {
  const { workflow, closure, path } = await (await invocation.project()).catalog.load(name);
  if (workflow.database === undefined) throw usageError(`workflow \`${workflow.id}\` has no database`);
  const open = await invocation.open();
  await demandAccepted(open, { name, closure, path });
  const { database } = workflow;
  const applied = await working(invocation.out, 'applying migrations', () =>
    open.databases.migrate(database),
  );
  await invocation.out.result({ applied }, () =>
    applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`,
  );
  return 0;
}

/** Migrations are code of the workflow's: with a human set up, only what that human has accepted is applied. */
async function demandAccepted(
  open: People,
  { name, closure, path }: { readonly name: string; readonly closure: string; readonly path: string },
): Promise<void> {
  if ((await open.humans.list()).length === 0) return;
  const card = await open.trust.workflows.card(name);
  // The very files that were loaded: others may lie there by now.
  if (card.trusted && card.closure === closure) return;
  throw new PhasegateError('untrusted_workflow', `no human has accepted \`${path}\` as it is now`, {
    hint: `phasegate trust ${shellWord(name)}`,
  });
}

function wire({ id, createdAt, path, run, sizeBytes }: DatabaseBackup): object {
  // What was made stays on record; its file goes when there are newer ones enough.
  return { id, created_at: createdAt, path, exists: existsSync(path), run, size_bytes: sizeBytes };
}
