import type { MovedDatabase } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate migrate-store`: from the file to a database that several machines can share. */
export const migrateStore: CliCommand = {
  usage: [
    'migrate-store --from sqlite: --to URL [--as NAME] [--passphrase-fd N]',
    'migrate-store --moved --to URL --anchor FILE|git-note [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'Copies all runs, humans and records of this project into an empty database, verifies the audit there, and keeps them\n' +
    'there from then on. A copy that was cut short is resumed when it is called again. No server of the project may run.\n' +
    'The file stays as it was and is not used any more.\n' +
    '\n' +
    'With --moved nothing is copied: the database of this project is at another address, after a failover or a restore\n' +
    'elsewhere. All of it is verified there with the keys of this project, as far as the anchors at least, and a human of\n' +
    'it must agree; then this node finds its runs there. Stop every node before, and say it on each.',
  examples: [
    'phasegate migrate-store --from sqlite: --to postgres://phasegate@db.example/phasegate',
    'phasegate migrate-store --moved --to postgres://phasegate@new.example/phasegate --anchor /mnt/safe/anchors',
  ],
  options: {
    from: { type: 'text', value: 'sqlite:', summary: 'the file of this project' },
    to: {
      type: 'text',
      value: 'URL',
      summary: 'an empty database, or the one that moved: postgres://USER@HOST/NAME',
    },
    moved: { type: 'flag', summary: 'the database of this project is at another address now' },
    anchor: {
      type: 'texts',
      value: 'FILE|git-note',
      summary: 'with --moved: anchors that it must go through, from outside',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  async run(invocation) {
    const { args, out } = invocation;
    if (args.flag('moved')) return followMoved(invocation);
    if (args.texts('anchor').length > 0)
      throw usageError('`--anchor` is about a database that moved', 'add `--moved`');
    const [from, to] = [args.text('from') ?? 'sqlite:', args.text('to')];
    if (from !== 'sqlite:')
      // Without the value: it may be an address with a password.
      throw usageError('`--from` names something else than the file of this project', FROM);
    if (to === undefined)
      throw usageError('`--to` is missing', 'name an empty database: postgres://USER@HOST/NAME');
    // Without the value, as above; and before anybody is asked for a passphrase.
    if (!/^postgres(?:ql)?:\/\//i.test(to))
      throw usageError('`--to` is not an address of PostgreSQL', 'write it as postgres://USER@HOST/NAME');
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
      () =>
        `moved ${records} records of ${runs} ${runs === 1 ? 'run' : 'runs'}, and verified them; this project finds them there from now on.\n` +
        'Next: `phasegate serve`. A node on another machine is told the whole address once, with `serve --database URL` or in PHASEGATE_DATABASE',
    );
    return 0;
  },
};

const FROM =
  'write `--from sqlite:`, without a path, or leave it out: the file of the project in this folder is moved, or in that of `--project`';

async function followMoved(invocation: Invocation): Promise<ExitCode> {
  const { args, out } = invocation;
  const to = args.text('to');
  if (args.text('from') !== undefined)
    throw usageError('`--moved` copies nothing, so there is no `--from`', 'leave `--from` out');
  if (to === undefined)
    throw usageError('`--to` is missing', 'name the database where it is now: postgres://USER@HOST/NAME');
  const places = args.texts('anchor');
  if (places.length === 0) throw usageError('`--anchor` is missing', ANCHOR);
  const { anchorsAt } = await import('../anchorsAt.ts');
  const anchors = await anchorsAt(invocation, places);
  const project = await invocation.project();
  let moved: MovedDatabase | undefined;
  try {
    const found = await working(out, 'verifying the audit', () => project.openMoved(to, anchors));
    moved = found;
    // Those of the address before cannot be asked any more, and these were verified with the keys of the project.
    await unlockHuman(invocation, { adminFor: 'moving the state', humans: async () => found.humans });
    found.keep();
    const { runs, records } = found;
    await out.result(
      { runs, records, verified: true },
      () =>
        `verified ${records} records of ${runs} ${runs === 1 ? 'run' : 'runs'}; this node finds them there from now on.\n` +
        'Where PHASEGATE_DATABASE is set, set it to that address, and say it on every other node',
    );
    return 0;
  } finally {
    await moved?.close();
  }
}

const ANCHOR =
  'an older state looks whole without one: name the file of anchors, or `git-note`; if there is none, see the runbook, `The database has another address`';
