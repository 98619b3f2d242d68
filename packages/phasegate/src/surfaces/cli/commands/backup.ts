import type { CliCommand } from '../command.ts';
import { newFile, workspaceNote } from '../newFile.ts';
import { working } from '../showWork.ts';

/** `phasegate backup`: a consistent copy while others write. */
export const backup: CliCommand = {
  usage: ['backup [FILE]'],
  details: 'Without FILE the copy goes to `backups/` in the state directory.',
  examples: ['phasegate backup', 'phasegate backup /mnt/safe/phasegate.db --json'],
  options: {},
  positionals: ['[FILE]'],
  async run({ args, out, open, project: find }) {
    const [word] = args.positionals;
    const file = word === undefined ? undefined : await newFile('FILE', word);
    const project = await open();
    const record = await working(out, 'copying the state', () => project.backup(file));
    const { id, createdAt, path, sizeBytes } = record;
    await out.result({ id, created_at: createdAt, path, size_bytes: sizeBytes }, () => `wrote ${path}`);
    const note = workspaceNote((await find()).root, path, 'copy');
    if (note !== null) await out.log(note);
    return 0;
  },
};
