import type { Arguments, CliCommand } from '../command.ts';
import { durationOption } from '../durationOption.ts';
import { required } from '../required.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate pause`: sessions without a run are free for a while. */
export const pause: CliCommand = {
  usage: ['pause --reason T [--for 1h]', 'pause --end'],
  details:
    'In a project that is set up, an agent’s client without a run may only read. For work by hand, a human frees such\n' +
    'sessions for a while, an hour unless it is said otherwise, at most a day. Runs stay held, and settings of clients\n' +
    'stay closed. It is in the audit and ends by itself.',
  examples: ['phasegate pause --for 30m --reason "renaming by hand"', 'phasegate pause --end'],
  options: {
    for: { type: 'text', value: 'TIME', summary: 'how long, such as `30m` or `2h`; one hour by default' },
    reason: { type: 'text', value: 'T', summary: 'why' },
    end: { type: 'flag', summary: 'end it now' },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  async run(invocation) {
    const { args, out } = invocation;
    if (args.flag('end')) {
      const human = await unlockHuman(invocation);
      const ended = await (await invocation.open()).hooks.endPause(human);
      await out.result({ ended }, () => (ended ? 'the pause has ended' : 'there was no pause'));
      return 0;
    }
    const minutes = minutesOf(args);
    const reason = required(args, 'reason');
    const human = await unlockHuman(invocation);
    const begun = await (await invocation.open()).hooks.beginPause({ minutes, reason }, human);
    await out.result(
      { paused: { by: begun.by, reason: begun.reason, from: begun.from, until: begun.until } },
      () =>
        `sessions without a run are free until ${begun.until}; runs stay held. End it with \`phasegate pause --end\``,
    );
    return 0;
  },
};

/** Longer than a day is not work by hand for a while. */
function minutesOf(args: Pick<Arguments, 'text'>): number {
  const minutes = durationOption(args, 'for', '1h').ms / 60_000;
  if (minutes <= LONGEST_MINUTES) return minutes;
  throw usageError('a pause lasts at most a day', 'begin it again when it is over');
}

const LONGEST_MINUTES = 24 * 60;
