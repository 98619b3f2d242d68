import {
  type Command,
  type JsonObject,
  OUTCOMES,
  type Outcome,
  type Phasegate,
  PhasegateError,
  type PhaseId,
  type PhaseView,
} from '@phasegate/core';
import { oneLine, REPORTED_OUTCOMES, shellWord } from '@phasegate/core/model';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import { REPLACE, readEvidence, unreplaced } from '../evidence.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { reportAnswer } from '../reportSubmitted.ts';
import { runOf } from '../runOf.ts';
import { askedEvidence } from '../text/evidenceLines.ts';
import { agentOf } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { workedAt } from '../workedAt.ts';

/** `phasegate done`: completes the current phase, or says why not. */
export const done: CliCommand = {
  usage: [
    'done [RUN] [--phase P] [--evidence FILE|-] [--outcome O] [--reason T] [--item KEY]',
    'done [RUN] --example',
  ],
  details:
    'Evidence is one JSON object of at most 1 MB. Keep evidence files outside the workspace, or use stdin.\n' +
    'Without --phase the current phase is meant; naming it makes a repeated call harmless.\n' +
    '--example prints a skeleton of what the current phase asks for and submits nothing. On a terminal the command says\n' +
    'what it waits for.',
  examples: [
    'phasegate done RUN --phase PLAN --evidence /tmp/plan.json',
    'echo \'{"plan":{"steps":["a"]}}\' | phasegate done RUN --evidence -',
    'phasegate done RUN --example > /tmp/plan.json',
    'phasegate done RUN --outcome fail --reason "the upstream service is down"',
  ],
  options: {
    phase: { type: 'text', value: 'P', summary: 'the phase to complete: id, number or name' },
    evidence: { type: 'text', value: 'FILE|-', summary: 'a JSON object from a file, or from stdin with -' },
    outcome: { type: 'text', value: 'O', summary: 'ok, fail or iterate, where the workflow asks for one' },
    reason: { type: 'text', value: 'T', summary: 'why, with --outcome fail' },
    item: { type: 'text', value: 'KEY', summary: 'the item, in a parallel phase' },
    example: { type: 'flag', summary: 'print a skeleton of the evidence, and submit nothing' },
  },
  positionals: ['RUN'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const outcome = outcomeOf(args);
    const agent = await agentOf(invocation);
    const runId = await runOf(invocation, agent, 'held');
    if (args.flag('example')) return printExample(invocation, runId);
    const source = args.text('evidence');
    if (invocation.prompts !== null && (source === '-' || (source === undefined && outcome === undefined)))
      await sayWhatIsAsked(invocation, runId);
    const evidence =
      source === undefined
        ? {}
        : await readEvidence(source, () => invocation.stdin).catch((error: unknown) => {
            throw withExample(error, runId);
          });
    demandReplaced(evidence);
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

/** What is not JSON, or not an object, is best begun anew from the skeleton. */
function withExample(error: unknown, runId: string): unknown {
  if (!(error instanceof PhasegateError) || error.hint !== undefined) return error;
  const hint = `\`phasegate done ${shellWord(runId)} --example\` prints the JSON object that the phase asks for`;
  return new PhasegateError(error.code, error.message, { hint, cause: error });
}

/** The skeleton has the right shape, so that a schema accepts it; it says nothing about the work. */
function demandReplaced(evidence: JsonObject): void {
  const places = unreplaced(evidence).map((place) => `\`${oneLine(place)}\``);
  if (places.length === 0) return;
  throw usageError(
    `nothing was submitted: ${places.slice(0, MOST_PLACES).join(', ')} still ${places.length === 1 ? 'holds' : 'hold'} \`${REPLACE}\` of the skeleton`,
    'put what is true in its place; where there is nothing to put, `--outcome fail --reason T` says so',
  );
}

const MOST_PLACES = 20;

/** INVARIANT: nothing is submitted, and the skeleton says of itself that it is none of the truth. */
async function printExample(invocation: Invocation, runId: string): Promise<ExitCode> {
  const { args, out } = invocation;
  const given = ['evidence', 'outcome', 'reason'].find((name) => args.text(name) !== undefined);
  if (given !== undefined) throw usageError(`\`--example\` submits nothing: leave out \`--${given}\``);
  const phase = await askedPhase(invocation, runId);
  const { exampleEvidence } = await import('../exampleEvidence.ts');
  const { evidence, open } = exampleEvidence(phase?.requiredEvidence ?? {});
  await out.result(evidence, () => JSON.stringify(evidence, null, 2));
  if (out.json) return 0;
  if (phase === null) await out.log('note: the run has no phase to complete');
  else if (Object.keys(evidence).length === 0) await out.log(`note: phase ${phase.id} asks for no evidence`);
  else await out.log('note: only the shape is right: put what is true in place of every value');
  for (const name of open)
    await out.log(`note: \`${oneLine(name)}\` is ${REPLACE}: nothing was found that its schema allows`);
  return 0;
}

/** Before stdin is read on a terminal, and before nothing is submitted where something is asked for. */
async function sayWhatIsAsked(invocation: Invocation, runId: string): Promise<void> {
  const { args, out } = invocation;
  const phase = await askedPhase(invocation, runId);
  const asked = askedEvidence(phase?.requiredEvidence ?? {});
  const named = args.text('phase');
  // Of another phase than the current one nothing is known; the engine answers for it.
  if (phase === null || (named !== undefined && phaseIdOf(named) !== phase.id)) return;
  const reads = args.text('evidence') === '-';
  if (asked.length === 0 && !reads) return;
  const head = asked.length === 0 ? 'asks for no evidence' : 'waits for one JSON object with:';
  const lines = [`phase ${oneLine(String(phase.id))} ${head}`, ...asked].join('\n');
  const word = shellWord(runId);
  const example = `\`phasegate done ${word} --example\` prints a skeleton`;
  if (!reads && asked.some((line) => line.includes(' (required, '))) {
    throw usageError(
      `nothing was submitted: ${lines}`,
      `give it with \`--evidence FILE\`, or \`--evidence -\` to type it here; ${example}`,
    );
  }
  if (reads) await out.log(`${lines}\nType it and end with Ctrl-D; ${example}`);
}

async function askedPhase(invocation: Invocation, runId: string): Promise<PhaseView | null> {
  const gate = (await invocation.reach()).as(await agentOf(invocation));
  return (await gate.view(runId)).current;
}

/** A run that has ended has no phase; what is said about that is the engine's to say, in its own shape. */
async function currentPhase(gate: Phasegate, runId: string): Promise<PhaseId> {
  return (await gate.view(runId)).phase ?? '';
}

function outcomeOf(args: Arguments): Outcome | undefined {
  const word = args.text('outcome');
  if (word === undefined) return undefined;
  const outcome = OUTCOMES.find((known) => known === word);
  // What is for handlers to say is refused by the engine, which knows the phase.
  if (outcome === undefined) {
    throw usageError(
      `there is no outcome \`${word}\``,
      `outcomes: ${REPORTED_OUTCOMES.join(', ')}, where the workflow asks for one`,
    );
  }
  return outcome;
}
