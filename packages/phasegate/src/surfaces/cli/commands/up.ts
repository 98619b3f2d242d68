import type { CliCommand } from '../command.ts';
import { durationOption } from '../durationOption.ts';
import { describeServer } from '../text/describeServer.ts';
import { usageError } from '../usage.ts';

/** `phasegate up`: the server is there when it returns. */
export const up: CliCommand = {
  usage: ['up [--idle TIME] [--wait TIME]'],
  details:
    'Starts the server of the project in the background, unless it runs, and waits until it answers. There is one for each\n' +
    'user and project: it is found by the state directory and proven by a key in it, whatever its port. It ends by itself\n' +
    'when nothing has used it for the time of `--idle`; a running one keeps its own. Hooks and `phasegate mcp` start it too.',
  examples: ['phasegate up', 'phasegate up --idle 8h', 'phasegate up --json'],
  options: {
    idle: { type: 'text', value: 'TIME', summary: 'how long nothing may use it before it ends (default 1h)' },
    wait: { type: 'text', value: 'TIME', summary: 'how long to wait until it answers (default 20s)' },
  },
  positionals: [],
  async run(invocation) {
    const { args, out, machine } = invocation;
    const background = machine?.background;
    if (background === undefined) throw usageError('no server can be started from here');
    const idle = durationOption(args, 'idle', '1h');
    const wait = durationOption(args, 'wait', '20s');
    const { root, stateDir } = await invocation.project();
    const { started, ...entry } = await background.ensure({
      root,
      stateDir,
      idle: idle.text,
      deadlineMs: wait.ms,
    });
    await out.result(
      { ...entry, started },
      () => `${started ? 'started' : 'running'}  ${describeServer(entry)}`,
    );
    return 0;
  },
};
