import { reasonOf } from '@phasegate/core/model';
import { readRecord } from '../../../settings/settingsRecord.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { VERSION } from '../version.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate mcp`: serves an agent's client over stdin and stdout. */
export const mcp: CliCommand = {
  usage: ['mcp [--run RUN] [--one-visit]'],
  details:
    'Started by an agent’s client, which speaks MCP on stdin and reads it on stdout; ends when the client goes away.\n' +
    'With --run only that run is served, and its tools need no session_id. With --one-visit work is taken for the visit\n' +
    'of the phase that PHASEGATE_EPOCH names, and for no later one: an agent in a sandbox is there for one phase.',
  examples: ['phasegate mcp', 'phasegate mcp --project /path/to/project --run RUN'],
  options: {
    run: { type: 'text', value: 'RUN', summary: 'serve this run and no other' },
    'one-visit': { type: 'flag', summary: 'take work for the visit in PHASEGATE_EPOCH only' },
  },
  positionals: [],
  async run(invocation) {
    const { args, out, machine } = invocation;
    if (machine === null) throw usageError('MCP cannot be served from here');
    const { catalog, standards, root, stateDir } = await invocation.project();
    const agent = await agentOf(invocation);
    const project = await invocation.open();
    const phasegate = project.as(agent);
    const run = args.text('run');
    // A run nobody has is told now, not at the first call.
    if (run !== undefined) await phasegate.view(run);
    const told = toldBefore(invocation.env, args.flag('one-visit'));
    const log = (text: string) => void out.log(text);
    // Where hooks are set up, the first of them is to find the server there already.
    if (readRecord(stateDir) !== null) {
      const found = machine.background?.ensure({ root, stateDir, idle: '1h', deadlineMs: START_MS });
      void found?.catch((error: unknown) => log(reasonOf(error)));
    }
    try {
      const serving = { phasegate, catalog, standards, version: VERSION, run, epochs: told, log };
      await machine.serveMcp({ ...serving, project, agent });
    } finally {
      await standards.close();
    }
    return 0;
  },
};

const START_MS = 20_000;

/** The work of an agent that a runner started is for the visit it was started for, also before it has asked here. */
function toldBefore(env: Invocation['env'], oneVisit: boolean): Map<string, number> {
  const { PHASEGATE_RUN: run = '' } = env;
  const { at } = workedAt(env, run);
  if (oneVisit && at === undefined)
    throw usageError('`--one-visit` needs the visit', 'name it with `PHASEGATE_RUN` and `PHASEGATE_EPOCH`');
  const told = at === undefined ? [] : [[run, at.epoch] as const];
  return oneVisit ? new OneVisit(told) : new Map(told);
}

/** INVARIANT: what is handed in is for the visit that was named first, whatever the agent is told since. */
class OneVisit extends Map<string, number> {
  override set(run: string, epoch: number): this {
    return this.has(run) ? this : super.set(run, epoch);
  }
}
