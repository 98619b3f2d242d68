import { resolve } from 'node:path';
import { shellWord } from '@phasegate/core/model';
import type { CommitRange, KnownContents, PinnedKeys, RangeRecords } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { demandProject } from '../demandProject.ts';
import { rangeText } from '../rangeText.ts';
import { working } from '../showWork.ts';
import { usageError } from '../usage.ts';
import { writeText } from '../writeText.ts';

/** `phasegate verify-range`: are these commits what phases ended with? */
export const verifyRange: CliCommand = {
  usage: [
    'verify-range BASE..HEAD [--bundle FILE… [--pin WHO=KEY]…] [--completed] [--newest] [--each-commit]',
    'verify-range [BASE..HEAD] --export FILE [--bundle FILE]…',
    'verify-range --pins',
  ],
  details:
    'Judges commits by content: what stands at each path they change, or that it is gone, must be what a phase which\n' +
    'may write that path ended with, what a human accepted in a run, or what a human signed with `phasegate attest`.\n' +
    'So rebased and squashed work passes. Anything else is listed as outside, with its commits, and the exit code is 1.\n' +
    'Where there is no project, as in CI, --bundle takes a file that --export wrote where it is. It is believed for keys\n' +
    'that are pinned with --pin or PHASEGATE_PINS, which --pins prints, and for nothing that is in it.\n' +
    'Runs that were archived are in bundles of before: several are judged by together, and --export takes them over.\n' +
    'What is judged is what the range changes altogether; --each-commit judges every commit of it too. What is not\n' +
    'committed is not judged.',
  examples: [
    'phasegate verify-range main..HEAD',
    'phasegate verify-range main..HEAD --export bundle.json',
    'phasegate verify-range main..HEAD --bundle bundle.json --completed',
  ],
  options: {
    bundle: {
      type: 'texts',
      value: 'FILE',
      summary: 'judge by this bundle, without the project; with --export, add what it knows',
    },
    pin: { type: 'texts', value: 'WHO=KEY', summary: 'a public key to believe (also PHASEGATE_PINS)' },
    completed: { type: 'flag', summary: 'count only phases of runs that reached their end' },
    newest: { type: 'flag', summary: 'count only the newest content that is known of a path' },
    'each-commit': { type: 'flag', summary: 'judge every commit too, not only what they come to' },
    export: { type: 'text', value: 'FILE', summary: 'write a signed bundle of what is known, for --bundle' },
    pins: { type: 'flag', summary: 'print the public keys to pin' },
  },
  positionals: ['[BASE..HEAD]'],
  anywhere: true,
  server: 'ignored',
  async run(invocation) {
    const { args } = invocation;
    if (args.flag('pins')) return printPins(invocation);
    const file = args.text('export');
    const [words] = args.positionals;
    if (file !== undefined) return exportBundle(invocation, file, words);
    if (words === undefined) {
      throw usageError('which commits are to be judged is missing', 'phasegate verify-range main..HEAD');
    }
    return judge(invocation, words);
  },
};

async function judge(invocation: Invocation, words: string): Promise<ExitCode> {
  const { args, out } = invocation;
  const { ranges } = await invocation.project();
  const [completed, newest] = [args.flag('completed'), args.flag('newest')];
  const report = await working(out, 'reading the commits', async () => {
    const by = await knownBy(invocation);
    const range = await ranges.read(words, { eachCommit: args.flag('each-commit') });
    return ranges.judge(range, { ...by, rules: { completed, newest } });
  });
  await out.result(report, () => rangeText(report, words, out.paint));
  if (report.ok) return 0;
  const outside = report.files.filter(({ verdict }) => verdict === 'outside').length;
  const what =
    outside === 0 ? 'a commit holds what no phase ended with' : 'no phase answers for what is outside';
  await out.log(
    `${out.paint.cyan('hint:')} ${what}: do it again in a run, or sign it as your own work with \`phasegate attest ${shellWord(words)} --reason TEXT\``,
  );
  return 1;
}

/** INVARIANT: with a bundle nothing of a project is asked: what is checked out there may be what is to be judged. */
async function knownBy(
  invocation: Invocation,
): Promise<{ readonly known: KnownContents; readonly keys: PinnedKeys }> {
  const { args, env } = invocation;
  const [bundles, pins] = [args.texts('bundle'), args.texts('pin')];
  if (bundles.length > 0) {
    const { ranges } = await invocation.project();
    const keys = await ranges.readPins(pins.length > 0 ? pins : [env.PHASEGATE_PINS ?? '']);
    return {
      known: await ranges.readBundles(
        bundles.map((file) => resolve(file)),
        keys,
      ),
      keys,
    };
  }
  if (pins.length > 0) throw usageError('`--pin` is for `--bundle`', 'add `--bundle FILE`');
  return (await rangeRecords(invocation)).established();
}

/** What the audit of the project knows about commits. */
export async function rangeRecords(invocation: Invocation): Promise<RangeRecords> {
  await demandProject(await invocation.project());
  return (await invocation.open()).ranges;
}

async function exportBundle(
  invocation: Invocation,
  file: string,
  words: string | undefined,
): Promise<ExitCode> {
  const { out } = invocation;
  const { ranges } = await invocation.project();
  const written = await working(out, 'gathering contents', async () => {
    const records = await rangeRecords(invocation);
    const { known, keys } = await records.established();
    // What was exported before runs were archived, by this project itself.
    const before = invocation.args.texts('bundle').map((one) => resolve(one));
    const all = await ranges.readBundles(before, keys, known);
    const range: CommitRange | null =
      words === undefined
        ? null
        : await ranges.read(words, { eachCommit: invocation.args.flag('each-commit') });
    return ranges.writeBundle(all, { range, records });
  });
  await writeText(file, written);
  await out.result({ file, bytes: written.length }, () => `wrote ${file}`);
  return 0;
}

async function printPins(invocation: Invocation): Promise<ExitCode> {
  const found = await demandProject(await invocation.project());
  const pins = await found.ranges.writePins(await (await invocation.open()).ranges.keys());
  await invocation.out.result({ pins }, () => pins.join('\n'));
  return 0;
}
