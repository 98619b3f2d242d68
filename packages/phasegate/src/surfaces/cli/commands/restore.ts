import { resolve } from 'node:path';
import { type ErrorCode, PhasegateError } from '@phasegate/core';
import type { Humans } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';

/** `phasegate restore`: the state database as it was in a backup. */
export const restore: CliCommand = {
  usage: ['restore FILE [--as NAME] [--passphrase-fd N]'],
  details: 'Stop everything else that uses the project first: runs go back to where they were in the backup.',
  examples: ['phasegate restore /mnt/safe/phasegate.db'],
  options: HUMAN_OPTIONS,
  positionals: ['FILE'],
  async run(invocation) {
    const file = resolve(invocation.args.positionals[0] as string);
    const backup: { close?: () => Promise<void> } = {};
    const human = await unlockHuman(invocation, {
      adminFor: 'restoring the state',
      humans: () => humansFor(invocation, file, backup),
    }).finally(() => backup.close?.());
    // The database cannot be replaced under our own feet.
    await invocation.close();
    const project = await invocation.project();
    await working(invocation.out, 'restoring the state', () => project.restore(file, human));
    await invocation.out.result({ restored: file }, () => `restored from ${file}`);
    return 0;
  },
};

/** A state that cannot be read, or was tampered with, is what restoring is for: then the backup says who the humans are. */
async function humansFor(
  invocation: Invocation,
  file: string,
  backup: { close?: () => Promise<void> },
): Promise<Humans> {
  try {
    const { humans } = await invocation.open();
    // Nobody left is no reason to let nobody restore: the backup's humans are this project's own, or it is refused.
    if ((await humans.list()).length > 0) return humans;
  } catch (error) {
    if (!(error instanceof PhasegateError) || !REPAIRED_BY_IT.has(error.code)) throw error;
  }
  const opened = await (await invocation.project()).openBackup(file);
  backup.close = opened.close;
  return opened.humans;
}

const REPAIRED_BY_IT: ReadonlySet<string> = new Set([
  'store_corrupt',
  'store_newer',
  'state_tampered',
  'audit_broken',
] satisfies ErrorCode[]);
