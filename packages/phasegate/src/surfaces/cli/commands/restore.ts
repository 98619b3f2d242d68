import { resolve } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { Humans } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
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
      humans: () => humansFor(invocation, file, backup),
    }).finally(() => backup.close?.());
    // The database cannot be replaced under our own feet.
    await invocation.close();
    await (await invocation.project()).restore(file, human);
    await invocation.out.result({ restored: file }, () => `restored from ${file}`);
    return 0;
  },
};

/** A database that cannot be read is what restoring is for: then the backup says who the humans are. */
async function humansFor(
  invocation: Invocation,
  file: string,
  backup: { close?: () => Promise<void> },
): Promise<Humans> {
  try {
    return (await invocation.open()).humans;
  } catch (error) {
    if (
      !(error instanceof PhasegateError) ||
      (error.code !== 'store_corrupt' && error.code !== 'store_newer')
    )
      throw error;
    const opened = await (await invocation.project()).openBackup(file);
    backup.close = opened.close;
    return opened.humans;
  }
}
