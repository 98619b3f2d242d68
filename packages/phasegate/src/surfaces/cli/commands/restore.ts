import { resolve } from 'node:path';
import type { CliCommand } from '../command.ts';
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
    const human = await unlockHuman(invocation);
    // The database cannot be replaced under our own feet.
    await invocation.close();
    await (await invocation.project()).restore(file, human);
    await invocation.out.result({ restored: file }, () => `restored from ${file}`);
    return 0;
  },
};
