import { type Command, OUTCOMES, type Outcome, type Phasegate, type PhaseId } from '@phasegate/core';
import type { Arguments, CliCommand } from '../command.ts';
import { readEvidence } from '../evidence.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { reportAnswer } from '../reportSubmitted.ts';
import { runOf } from '../runOf.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate done`: completes the current phase, or says why not. */
export const done: CliCommand = {
  usage: ['done [RUN] [--phase P] [--evidence FILE|-] [--outcome O] [--reason T] [--item KEY]'],
  details:
    'Evidence is one JSON object of at most 1 MB. Keep evidence files outside the workspace, or use stdin.\n' +
    'Without --phase the current phase is meant; naming it makes a repeated call harmless.',
  examples: [
    'phasegate done RUN --phase PLAN --evidence /tmp/plan.json',
    'echo \'{"plan":{"steps":["a"]}}\' | phasegate done RUN --evidence -',
    'phasegate done RUN --outcome fail --reason "the upstream service is down"',
  ],
  options: {
    phase: { type: 'text', value: 'P', summary: 'the phase to complete: id, number or name' },
    evidence: { type: 'text', value: 'FILE|-', summary: 'a JSON object from a file, or from stdin with -' },
    outcome: { type: 'text', value: 'O', summary: 'ok, fail or iterate, where the workflow asks for one' },
    reason: { type: 'text', value: 'T', summary: 'why, with --outcome fail' },
    item: { type: 'text', value: 'KEY', summary: 'the item, in a parallel phase' },
  },
  positionals: ['RUN'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const outcome = outcomeOf(args);
    const source = args.text('evidence');
    const evidence = source === undefined ? {} : await readEvidence(source, () => invocation.stdin);
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    const gate = (await invocation.reach()).as(agent);
    const named = args.text('phase');
    const phase = named === undefined ? await currentPhase(gate, runId) : phaseIdOf(named);
    const reason = args.text('reason');
    const item = args.text('item');
    const command: Command = {
      kind: 'complete',
      phase,
      evidence,
      ...workedAt(invocation.env, runId),
      ...(outcome === undefined ? {} : { outcome }),
      ...(reason === undefined ? {} : { reason }),
      ...(item === undefined ? {} : { item }),
    };
    return reportAnswer(out, await gate.submit(runId, command));
  },
};

/** A run that has ended has no phase; what is said about that is the engine's to say, in its own shape. */
async function currentPhase(gate: Phasegate, runId: string): Promise<PhaseId> {
  return (await gate.view(runId)).phase ?? '';
}

function outcomeOf(args: Arguments): Outcome | undefined {
  const word = args.text('outcome');
  if (word === undefined) return undefined;
  const outcome = OUTCOMES.find((known) => known === word);
  if (outcome === undefined) {
    throw usageError(`there is no outcome \`${word}\``, `outcomes: ${OUTCOMES.join(', ')}`);
  }
  return outcome;
}
