import type { CliCommand } from '../command.ts';
import { HUMAN_OPTIONS, humanOnceSetUp } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate down`: ends the server of the project. */
export const down: CliCommand = {
  usage: ['down'],
  details:
    'Asks the server to end: it takes nothing new in, finishes what is under way and keeps leases. Once a human is set up it\n' +
    'needs their passphrase. An agent that kills the server in another way gains nothing: hooks start it again, or block.',
  examples: ['phasegate down', 'phasegate down --as maria --passphrase-fd 3 3<~/secret'],
  options: HUMAN_OPTIONS,
  positionals: [],
  async run(invocation) {
    const { out, machine } = invocation;
    const background = machine?.background;
    if (background === undefined) throw usageError('no server can be ended from here');
    const { stateDir } = await invocation.project();
    const { state } = await background.look(stateDir);
    const ended =
      state === 'running' || state === 'silent'
        ? await humanOnceSetUp(invocation, { adminFor: 'ending the server' }).then(() =>
            background.end(stateDir, PATIENCE_MS),
          )
        : null;
    await out.result(
      { ended: ended !== null, ...(ended === null ? {} : { url: ended.url, pid: ended.pid }) },
      () => (ended === null ? 'no server is running' : `ended  ${ended.url} (process ${ended.pid})`),
    );
    return 0;
  },
};

/** What is under way may take ten seconds. */
const PATIENCE_MS = 30_000;
