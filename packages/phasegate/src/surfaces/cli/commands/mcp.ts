import type { CliCommand, Invocation } from '../command.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { VERSION } from '../version.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate mcp`: serves an agent's client over stdin and stdout. */
export const mcp: CliCommand = {
  usage: ['mcp [--run RUN]'],
  details:
    'Started by an agent’s client, which speaks MCP on stdin and reads it on stdout; ends when the client goes away.\n' +
    'With --run only that run is served, and its tools need no session_id.',
  examples: ['phasegate mcp', 'phasegate mcp --project /path/to/project --run RUN'],
  options: { run: { type: 'text', value: 'RUN', summary: 'serve this run and no other' } },
  positionals: [],
  async run(invocation) {
    const { args, out, machine } = invocation;
    if (machine === null) throw usageError('MCP cannot be served from here');
    const { catalog, standards } = await invocation.project();
    const agent = await agentOf(invocation);
    const phasegate = (await invocation.open()).as(agent);
    const run = args.text('run');
    // A run nobody has is told now, not at the first call.
    if (run !== undefined) await phasegate.view(run);
    const told = toldBefore(invocation.env);
    const log = (text: string) => void out.log(text);
    try {
      await machine.serveMcp({ phasegate, catalog, standards, version: VERSION, run, epochs: told, log });
    } finally {
      await standards.close();
    }
    return 0;
  },
};

/** The work of an agent that a runner started is for the visit it was started for, also before it has asked here. */
function toldBefore(env: Invocation['env']): Map<string, number> {
  const { PHASEGATE_RUN: run = '' } = env;
  const { at } = workedAt(env, run);
  return new Map(at === undefined ? [] : [[run, at.epoch]]);
}
