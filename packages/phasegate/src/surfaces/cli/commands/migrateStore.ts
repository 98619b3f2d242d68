import type { CliCommand } from '../command.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate migrate-store`: from the file to a database that several machines can share. */
export const migrateStore: CliCommand = {
  usage: ['migrate-store --from sqlite: --to URL [--as NAME] [--passphrase-fd N]'],
  details:
    'Copies all runs, humans and records of this project into an empty database, verifies the audit there, and keeps them\n' +
    'there from then on. A copy that was cut short is resumed when it is called again. No server of the project may run.\n' +
    'The file stays as it was and is not used any more.',
  examples: ['phasegate migrate-store --from sqlite: --to postgres://phasegate@db.example/phasegate'],
  options: {
    from: { type: 'text', value: 'sqlite:', summary: 'the file of this project' },
    to: { type: 'text', value: 'URL', summary: 'an empty database: postgres://USER@HOST/NAME' },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  async run(invocation) {
    const { args, out } = invocation;
    const [from, to] = [args.text('from') ?? 'sqlite:', args.text('to')];
    if (from !== 'sqlite:')
      // Without the value: it may be an address with a password.
      throw usageError('`--from` names something else than the file of this project', FROM);
    if (to === undefined)
      throw usageError('`--to` is missing', 'name an empty database: postgres://USER@HOST/NAME');
    await unlockHuman(invocation, { adminFor: 'moving the state' });
    // What is moved must not be open here.
    await invocation.close();
    const project = await invocation.project();
    const { runs, records } = await working(out, 'moving the state', () =>
      project.moveRunsTo(to, (done, all) => {
        if (done % 10_000 === 0) void out.log(`copied ${done} of ${all} records`);
      }),
    );
    await out.result(
      { runs, records, verified: true },
      () => `moved ${records} records of ${runs} ${runs === 1 ? 'run' : 'runs'}, and verified them`,
    );
    return 0;
  },
};

const FROM =
  'write `--from sqlite:`, without a path, or leave it out: the file of the project in this folder is moved, or in that of `--project`';
