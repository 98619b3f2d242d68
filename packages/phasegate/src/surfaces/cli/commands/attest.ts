import type { CliCommand } from '../command.ts';
import { outsideText } from '../rangeText.ts';
import { required } from '../required.ts';
import { working } from '../showWork.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { rangeRecords } from './verifyRange.ts';

/** `phasegate attest`: a human signs what no phase ended with. */
export const attest: CliCommand = {
  usage: ['attest BASE..HEAD --reason TEXT [--each-commit] [--as NAME] [--passphrase-fd N]'],
  details:
    'Shows the files that `phasegate verify-range` lists as outside, and signs their contents with your key: from then\n' +
    'on they pass, also rebased or squashed. Read them first (`git diff BASE HEAD`): an agent may have committed in your\n' +
    'name. What is signed is on the record of the project with your reason.',
  examples: ['phasegate attest main..HEAD --reason "typo in the README, by hand"'],
  options: {
    reason: { type: 'text', value: 'TEXT', summary: 'why it was not made in a phase; it is kept' },
    'each-commit': { type: 'flag', summary: 'sign what single commits hold too, as for verify-range' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['BASE..HEAD'],
  async run(invocation) {
    const { args, out } = invocation;
    const [words = ''] = args.positionals;
    const reason = required(args, 'reason');
    const { ranges } = await invocation.project();
    const { report, range, records } = await working(out, 'reading the commits', async () => {
      const records = await rangeRecords(invocation);
      const range = await ranges.read(words, { eachCommit: args.flag('each-commit') });
      const { known, keys } = await records.established();
      const rules = { completed: false, newest: false };
      return { records, range, report: await ranges.judge(range, { known, keys, rules }) };
    });
    const outside = [...report.files, ...report.history].filter(({ verdict }) => verdict === 'outside');
    const unread = outside.find(({ now, change }) => now === null && change === 'written');
    if (unread !== undefined) {
      throw usageError(
        `\`${unread.path}\` cannot be signed: ${unread.reason}`,
        'correct it, and commit again',
      );
    }
    if (outside.length === 0) {
      await out.result({ attested: 0 }, () => 'nothing is outside, so there is nothing to sign');
      return 0;
    }
    await out.log(outsideText(report, out.paint).join('\n'));
    const human = await unlockHuman(invocation);
    // INVARIANT: what was read and shown is signed, and not what the names of the range stand for by now.
    await ranges.attest(outside, { range, reason, human, records });
    const { name } = human.principal;
    const told = `${outside.length} ${outside.length === 1 ? 'file' : 'files'}`;
    await out.result({ attested: outside.length, by: name }, () => `${name} signed ${told}`);
    return 0;
  },
};
