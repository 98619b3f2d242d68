import type { CliCommand } from '../command.ts';
import { reportRun } from '../reportSubmitted.ts';
import { required } from '../required.ts';
import { runOf } from '../runOf.ts';
import { agentOf } from '../unlockHuman.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate blocked`: the honest way out when evidence cannot be provided. */
export const blocked: CliCommand = {
  usage: ['blocked [RUN] --reason T'],
  examples: ['phasegate blocked RUN --reason "the test database cannot be reached"'],
  options: { reason: { type: 'text', value: 'T', summary: 'why the phase cannot be completed' } },
  positionals: ['RUN'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const reason = required(args, 'reason');
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    const at = workedAt(invocation.env, runId);
    const gate = (await invocation.reach()).as(agent);
    const submitted = await gate.submit(runId, { kind: 'report_blocked', reason, ...at });
    return reportRun(out, submitted);
  },
};
