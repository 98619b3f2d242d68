import { oneLine } from '@phasegate/core/model';
import { encodePhase, spellNext } from '@phasegate/wire';
import type { CliCommand } from '../command.ts';
import { wholeRun } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { describeRun } from '../text/describeRun.ts';
import { identifyAgent } from '../unlockHuman.ts';

/** `phasegate claim`: an agent in a plain shell takes a queued run. */
export const claim: CliCommand = {
  usage: ['claim [RUN] [--capability C…]'],
  details:
    'Takes RUN, or the next run or item in the queue that the agent can do: highest priority first, then the oldest.\n' +
    'The agent is the one whose key is in PHASEGATE_KEY, else `local`. It holds the run as long as it goes on\n' +
    'calling; one that falls silent loses it. Where nothing is queued the exit code is 1.',
  examples: ['phasegate claim', 'phasegate claim --capability python --json', 'phasegate claim RUN'],
  options: {
    capability: {
      type: 'texts',
      value: 'C',
      summary: 'what the agent can do, where nobody said so when it was added',
    },
  },
  positionals: ['[RUN]'],
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const [word] = args.positionals as [string?];
    const { principal, capabilities } = await identifyAgent(invocation);
    const able = capabilities ?? args.texts('capability');
    const runId = word === undefined ? undefined : await wholeRun(invocation, principal, word);
    const { claims } = await invocation.reach();
    const claimed =
      runId === undefined
        ? await claims.claim(principal, able)
        : await claims.claimRun(runId, principal, able);
    if (claimed === null) {
      const message =
        'no run is queued that this agent can do, or what is queued waits for the workspace of another run (`phasegate runs`)';
      await out.result({ run: null, message }, () => message);
      return 1;
    }
    const { view, item } = claimed;
    const { run, workflow, status, phase, ring, trusted } = view;
    const next_action = spellNext(view, SHELL);
    const current = view.current === null ? {} : encodePhase(view.current);
    await out.result(
      { run, workflow, status, phase, ring, trusted, item, ...current, next_action },
      () => (item === null ? '' : `item  ${oneLine(item.key)}\n`) + describeRun(view, out),
    );
    return 0;
  },
};
