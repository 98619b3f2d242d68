import { join } from 'node:path';
import type { CliCommand } from '../command.ts';
import { newFile, workspaceNote } from '../newFile.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate archive`: runs that ended long ago go to a signed file. */
export const archive: CliCommand = {
  usage: ['archive --before DATE [--to FILE] [--as NAME] [--passphrase-fd N]'],
  details:
    'Runs that ended before DATE leave the state database with their records, for one signed file: without --to in\n' +
    '`archives/` of the state directory. A sealed stub of each stays, so the audit goes on verifying. Keep the file:\n' +
    'nothing else has what is in it, and `verify-range` does not know any more what their phases ended with: export a\n' +
    'bundle before, and give it to `verify-range --bundle`. No command brings a run back; each line of the file is JSON, and\n' +
    '`grep RUN FILE` prints what it has of a run: its state, then its records. DATE is a day (from its midnight UTC) or a time with its zone.',
  examples: [
    'phasegate archive --before 2026-01-01',
    'phasegate archive --before 2026-01-01T12:00:00Z --to /mnt/safe/runs.jsonl',
  ],
  options: {
    before: { type: 'text', value: 'DATE', summary: 'archive runs that ended before then' },
    to: { type: 'text', value: 'FILE', summary: 'where the archive goes; never overwritten' },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  async run(invocation) {
    const { args, out } = invocation;
    const before = timeOf(args.text('before'));
    const to = args.text('to');
    const file = to === undefined ? undefined : await newFile('`--to`', to);
    const project = await invocation.open();
    const { root, stateDir } = await invocation.project();
    const place = file ?? `a new file in ${join(stateDir, 'archives')}`;
    // Before the passphrase: afterwards it is done.
    await out.log(
      `note: runs that ended before ${before} leave the database for ${place}; no command brings them back\n` +
        'note: `phasegate verify-range` knows only by bundles that were exported before what the phases of archived runs ended with',
    );
    const human = await unlockHuman(invocation);
    const wanted = { before, ...(file === undefined ? {} : { file }) };
    const archived = await working(out, 'archiving runs', () => project.archive(wanted, human));
    const done = archived ?? { runs: 0, records: 0, file: null, sha256: null };
    const { runs, records, sha256 } = done;
    await out.result({ before, runs, records, file: done.file, sha256 }, () =>
      archived === null
        ? `nothing to archive: no run ended before ${before}`
        : `archived ${records} records of ${runs} ${runs === 1 ? 'run' : 'runs'} to ${done.file}`,
    );
    const note = archived === null ? null : workspaceNote(root, archived.file, 'archive');
    if (note !== null) await out.log(note);
    return 0;
  },
};

function timeOf(word: string | undefined): string {
  if (word === undefined) throw usageError('`--before` is missing', 'phasegate archive --before 2026-01-01');
  const time = FORM.test(word) && isDay(word.slice(0, 10)) ? Date.parse(word) : Number.NaN;
  if (Number.isNaN(time)) {
    throw usageError(
      `\`${word}\` is not a date`,
      'give a day, `2026-01-01`, or a time with its zone, `2026-01-01T12:00:00Z`',
    );
  }
  if (time > Date.now()) throw usageError(`\`${word}\` is in the future`, 'nothing has ended there yet');
  return new Date(time).toISOString();
}

const FORM = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** The 30th of February would else be taken for a day in March. */
function isDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
