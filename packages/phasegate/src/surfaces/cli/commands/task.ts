import type { Json } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';
import { encodeSubmitted } from '@phasegate/wire';
import type { CliCommand } from '../command.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { describeRefusal } from '../text/describeAnswer.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate task`: one task; fetching it is recorded, and a phase with tasks needs them fetched. */
export const task: CliCommand = {
  usage: ['task [RUN] PHASE N'],
  details: 'PHASE is an id, a number or a name; N counts from 1.',
  examples: ['phasegate task RUN PLAN 1', 'phasegate task RUN 2 3 --json'],
  options: {},
  positionals: ['RUN', 'PHASE', 'N'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const [, phase, number] = args.positionals as [string, string, string];
    if (!/^\d{1,6}$/.test(number))
      throw usageError(`\`${number}\` is not the number of a task`, `it counts from 1: ${USAGE}`);
    // RUN may be left out: then what stands in the place of PHASE is a run.
    if (isRunId(phase)) throw usageError('`phasegate task` needs `PHASE`', USAGE);
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    const submitted = await (await invocation.reach())
      .as(agent)
      .submit(runId, { kind: 'fetch_task', phase: phaseIdOf(phase), task: Number(number) });
    const { verdict } = submitted;
    const answer = encodeSubmitted(submitted, SHELL);
    await out.result(answer, () =>
      verdict.allowed
        ? `${taskText(answer.task_content)}\n\nnext: ${out.paint.cyan(String(answer.next_action))}`
        : describeRefusal(answer, out.paint),
    );
    return verdict.allowed ? 0 : 1;
  },
};

const USAGE = 'usage: `phasegate task [RUN] PHASE N`';

function taskText(content: Json | undefined): string {
  return typeof content === 'string' ? content.trimEnd() : JSON.stringify(content ?? null, null, 2);
}
