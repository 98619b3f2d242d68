import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { WorkflowDatabase } from '@phasegate/core/model';
import { reasonOf } from '@phasegate/core/model';
import { findBeneath } from '../workspace/openBeneath.ts';
import { readBeneath } from '../workspace/readBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { orderMigrations } from './migrations.ts';
import { refused } from './refused.ts';

/** Where a database of the project is. */
export interface DatabasePlace {
  /** Absolute, through no link. */
  readonly file: string;
  readonly exists: boolean;
  /** Where attempts at it are; two projects' or worktrees' databases never share one. */
  readonly folder: string;
}

/** Finds a database by its path in the project; one outside, or behind a link, is refused. */
export async function findDatabase(root: string, given: string, stateDir: string): Promise<DatabasePlace> {
  const real = await realpath(root);
  const path = inside(given);
  const found = await findBeneath(real, path);
  if (found.kind === 'link') throw throughLink(path, found.at);
  if (found.kind !== 'file' && found.kind !== 'missing') {
    throw new PhasegateError('file_unreadable', `the database \`${path}\` is not a file`);
  }
  // Backups are put there and removed from there.
  const backups = dirname(path) === '.' ? 'backups' : `${dirname(path)}/backups`;
  const beside = await findBeneath(real, backups);
  if (beside.kind === 'link') throw throughLink(backups, beside.at);
  const file = join(real, path);
  return { file, exists: found.kind === 'file', folder: folderFor(file, stateDir) };
}

/** Where attempts at a database are, whatever has become of the database. */
export async function attemptsFolder(root: string, given: string, stateDir: string): Promise<string> {
  return folderFor(join(await realpath(root), inside(given)), stateDir);
}

function folderFor(file: string, stateDir: string): string {
  const key = createHash('sha256').update(file).digest('hex').slice(0, 32);
  return join(stateDir, 'attempts', key);
}

/** Reads the migrations of a folder of the project, in order; of those that were accepted, where a list says which. */
export async function readMigrations(root: string, given: string, accepted?: Accepted) {
  const real = await realpath(root);
  const path = inside(given);
  const found = await findBeneath(real, path);
  if (found.kind === 'link') throw throughLink(path, found.at);
  if (found.kind !== 'folder') {
    throw new PhasegateError('file_unreadable', `there is no folder \`${path}\` with migrations`);
  }
  const there = (await readdir(join(real, path))).filter((name) => name.endsWith('.sql'));
  const names = accepted === undefined ? there : Object.keys(accepted);
  const files = names.map(async (name) => {
    try {
      return { name, content: (await readBeneath(real, `${path}/${name}`, MAX_BYTES)).content };
    } catch (error) {
      const reason = reasonOf(error);
      throw new PhasegateError('file_unreadable', `the migration \`${name}\` cannot be read: ${reason}`, {
        cause: error,
      });
    }
  });
  const migrations = orderMigrations(await Promise.all(files));
  for (const { name, sha256 } of migrations) {
    if (accepted !== undefined && accepted[name] !== sha256) throw notAccepted(name);
  }
  return migrations;
}

const MAX_BYTES = 10_000_000;

type Accepted = WorkflowDatabase['accepted'];

function notAccepted(name: string): PhasegateError {
  return refused(
    `the migration \`${name}\` is not what it was when the run was started`,
    'bring it back as it was, or let the run go on under its changed workflow: phasegate migrate RUN',
  );
}

function inside(given: string): string {
  const path = relativePath(given);
  if (path !== null && path !== '') return path;
  throw new PhasegateError('path_outside', `\`${given}\` is not a path inside the project`);
}

function throughLink(path: string, at: string): PhasegateError {
  return new PhasegateError(
    'path_outside',
    `\`${path}\` leads through the link \`${at}\`, which is not followed`,
  );
}
