import {
  type Command,
  type JsonObject,
  OUTCOMES,
  own,
  type PhaseId,
  type RunView,
  type Submitted,
} from '@phasegate/core';
import { REPORTED_OUTCOMES } from '@phasegate/core/model';
import { encodeSkipped, encodeSubmitted, spellNext } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { optionalText, phaseArgument } from '../arguments.ts';
import { readEvidence } from '../evidence.ts';
import { PHASE, SESSION } from '../schemas.ts';
import { remember, sessionOf, viewOf } from '../session.ts';
import { withRange } from '../skippedPhase.ts';
import { MCP } from '../spell.ts';
import { type McpTool, MOVING, type ToolCall } from '../tool.ts';

/** `complete_phase`: evidence for the current phase; the engine looks and decides. */
export const completePhase: McpTool = {
  name: 'complete_phase',
  title: 'Complete the current phase',
  description:
    'Submit the evidence of the current phase. The engine checks it: either the next phase comes back, or what is missing or wrong, or that a human decides now. If the evidence cannot be had honestly, use report_blocked.',
  input: {
    session_id: SESSION,
    phase: PHASE,
    evidence: { type: 'object', description: 'the values `checkpoint_criteria.required_evidence` names' },
    outcome: {
      enum: ['ok', 'fail', 'iterate'],
      description: 'where the workflow asks for one; else leave it out',
    },
    reason: { type: 'string', description: 'why, with outcome `fail`' },
    item: { type: 'string', description: 'key of the item, in a phase that has items' },
  },
  required: ['session_id', 'phase', 'evidence'],
  output: SESSION_ANSWERS.complete_phase,
  annotations: MOVING,
  alwaysLoad: true,
  async call(args, call) {
    const run = sessionOf(args, call);
    const look = () => viewOf(args, call);
    const { phasegate } = call;
    const phase = phaseArgument(args);
    const read = readEvidence(own(args, 'evidence'));
    if ('problem' in read) return unreadable(read.problem, { args, view: await look(), call });
    const command = commandOf(args, { phase, evidence: read.evidence });
    if (command === undefined) return refuse(await look(), 'outcome_not_allowed', NO_OUTCOME);
    if (call.item !== undefined && own(args, 'item') !== call.item) {
      return refuse(await look(), 'item_held', `your token is for the item \`${call.item}\` and no other`);
    }
    const epoch = call.epochs?.get(run);
    const work = epoch === undefined ? command : { ...command, at: { epoch } };
    const { submitted, token } = await submit(run, work, call).catch(async (error: unknown) => {
      // Whose the run is by now is said before anything else.
      await look();
      throw error;
    });
    // An agent that was told of the run in this epoch may see it: nobody else has taken it since. So may one that moved
    // it. Any other is looked up, before an answer holds a word of the run.
    if (epoch === undefined && !submitted.verdict.allowed) await look();
    remember(call, submitted.view);
    const answer = { session_id: run, ...encodeSubmitted(submitted, MCP), ...token };
    return withRange(answer, phase, { phasegate, run });
  },
};

/** Anyone who calls with a token completes by it, and gets the next one with the answer, or none is left. */
async function submit(
  run: string,
  command: Complete,
  { phasegate, transition }: ToolCall,
): Promise<{ readonly submitted: Submitted; readonly token: JsonObject }> {
  const { evidence, outcome, kind: _, at: __, ...rest } = command;
  // What no agent may say is refused by the engine, and not by a token.
  if (transition === undefined || outcome === 'skip') {
    return { submitted: await phasegate.submit(run, command), token: {} };
  }
  const said = outcome === undefined ? {} : { outcome };
  const submitted = await transition({ ...rest, ...said, artifacts: evidence, whole: true });
  const { next } = submitted;
  return { submitted, token: next === null ? {} : { phase_token: next.token } };
}

type Complete = Extract<Command, { kind: 'complete' }>;

const NO_OUTCOME = `an outcome is one of ${REPORTED_OUTCOMES.map((outcome) => `\`${outcome}\``).join(', ')}`;

function commandOf(
  args: JsonObject,
  work: { readonly phase: PhaseId; readonly evidence: JsonObject },
): Complete | undefined {
  const [word, reason, item] = ['outcome', 'reason', 'item'].map((name) => optionalText(args, name));
  const outcome = OUTCOMES.find((known) => known === word);
  if (word !== undefined && outcome === undefined) return undefined;
  return {
    kind: 'complete',
    ...work,
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
    ...(item === undefined ? {} : { item }),
  };
}

/** Evidence nobody can read is refused here, but not before the phase itself: a skipped one is a skipped one. */
async function unreadable(
  problem: string,
  { args, view, call }: { readonly args: JsonObject; readonly view: RunView; readonly call: ToolCall },
): Promise<JsonObject> {
  const { run } = view;
  const requested = phaseArgument(args);
  const answer = await call.phasegate.phase(run, requested);
  if (answer.ok) return refuse(view, 'evidence_unreadable', problem);
  const common = {
    session_id: run,
    checkpoint_passed: false,
    status: view.status,
    next_action: spellNext(view, MCP),
  };
  const refusal = { ...encodeSkipped(answer.skipped, view), ...common };
  return withRange(refusal, requested, { phasegate: call.phasegate, run });
}

function refuse(view: RunView, error: string, message: string): JsonObject {
  const next_action = spellNext(view, MCP);
  return {
    session_id: view.run,
    checkpoint_passed: false,
    error,
    message,
    blockers: [{ code: error, message, next_action }],
    attempt: view.attempts,
    current_phase: view.phase,
    current_phase_content: view.current?.content ?? '',
    status: view.status,
    next_action,
  };
}
