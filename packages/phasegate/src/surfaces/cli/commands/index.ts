import { oneLine } from '@phasegate/core/model';
import type { CliCommand } from '../command.ts';
import { working } from '../showWork.ts';
import { facts } from '../text/table.ts';

/** `phasegate index`: brings the documentation index up to date and says what is in it. */
export const index: CliCommand = {
  usage: ['index [--rebuild]'],
  details:
    'Every search does this by itself. The documents are those the config names under `docs`, else `docs/`, `standards/`, `.praxis-os/standards/` and `README.md`.',
  examples: ['phasegate index', 'phasegate index --rebuild --json'],
  options: { rebuild: { type: 'flag', summary: 'forget the index and make it anew' } },
  positionals: [],
  server: 'ignored',
  async run({ args, out, project }) {
    const { standards } = await project();
    try {
      const report = await working(out, 'reading the documentation', () =>
        standards.sync({ rebuild: args.flag('rebuild') }),
      );
      const { files, chunks, added, changed, removed, bytes, warnings = [] } = report;
      await out.result(report, () =>
        facts([
          ['files', String(files)],
          ['chunks', String(chunks)],
          ['added', String(added)],
          ['changed', String(changed)],
          ['removed', String(removed)],
          ['size', `${Math.ceil(bytes / 1024)} KiB`],
        ]),
      );
      if (!out.json) {
        for (const { file, line, message } of warnings)
          await out.log(`${oneLine(file)}:${line}: ${oneLine(message)}`);
      }
    } finally {
      await standards.close();
    }
    return 0;
  },
};
