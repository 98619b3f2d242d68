import { resolve } from 'node:path';
import type { CliCommand } from '../command.ts';
import { working } from '../showWork.ts';

/** `phasegate backup`: a consistent copy while others write. */
export const backup: CliCommand = {
  usage: ['backup [FILE]'],
  details: 'Without FILE the copy goes to `backups/` in the state directory.',
  examples: ['phasegate backup', 'phasegate backup /mnt/safe/phasegate.db --json'],
  options: {},
  positionals: ['[FILE]'],
  async run({ args, out, open }) {
    const [file] = args.positionals;
    const project = await open();
    const record = await working(out, 'copying the state', () =>
      project.backup(file === undefined ? undefined : resolve(file)),
    );
    const { id, createdAt, path, sizeBytes } = record;
    await out.result({ id, created_at: createdAt, path, size_bytes: sizeBytes }, () => `wrote ${path}`);
    return 0;
  },
};
