import type { GateView, Json, PhaseView, RunSummary, RunView } from '@phasegate/core';
import { encodeBlockers, type Reader, spellNext } from '@phasegate/wire';
import type { Claimed, LeaseRecord } from '../../../runtime/ports.ts';
import type {
  ClaimedAnswer,
  GateAnswer,
  LeaseAnswer,
  RunAnswer,
  RunLineAnswer,
  TaskAnswer,
} from '../schemas/index.ts';
import { HTTP } from './spell.ts';

/** One run as its reader may see it. */
export function describeRun(view: RunView, reader: Reader): RunAnswer {
  return { run: view.run, ...fieldsOf(view, reader) };
}

/** What an agent works on. */
export function describeTask(view: RunView, item: Claimed['item'] = null): TaskAnswer {
  const task = { id: view.run, ...fieldsOf(view, 'agent') };
  return item === null ? task : { ...task, item: { key: item.key, value: (item.value ?? null) as Json } };
}

/** What was claimed, with its token. */
export function describeClaimed({ view, item, token, tokenExpiresAt }: Claimed): ClaimedAnswer {
  return { task: describeTask(view, item), phase_token: token, expires_at: tokenExpiresAt };
}

/** A phase as it is answered. */
export function describePhase(phase: PhaseView): PhaseView {
  return { ...phase, tasks: phase.tasks.map(({ number, name }) => ({ number, name })) };
}

/** A gate: what is asked, and for humans also what they are shown and how far the vote is. */
export function describeGate(gate: GateView, reader: Reader): GateAnswer {
  const { id, prompt, since, expires_at, approvers, quorum, context } = gate;
  const options = gate.options.map(({ label, requires_input }) => ({ label, requires_input }));
  const asked = { id, prompt, options, since, expires_at };
  if (reader === 'agent') return asked;
  const votes = gate.votes.map(({ by, option }) => ({ by, option }));
  return { ...asked, approvers, quorum, votes, context };
}

/** One line of the list of runs. */
export function describeLine(summary: RunSummary): RunLineAnswer {
  const { startedAt, updatedAt, ...line } = summary;
  return { ...line, started_at: startedAt, updated_at: updatedAt };
}

/** A lease, without the ids of its tokens. */
export function describeLease({ run, item, agent, epoch, expiresAt }: LeaseRecord): LeaseAnswer {
  return { run, item, agent, epoch, expires_at: expiresAt };
}

function fieldsOf(view: RunView, reader: Reader): Omit<RunAnswer, 'run'> {
  const { run: _run, current_phase: phase, gate, escalation, questions, answers, ...plain } = view;
  return {
    ...plain,
    ...(phase === null ? {} : describePhase(phase)),
    phase: view.phase,
    current_phase: view.phase,
    gate: gate === null ? null : describeGate(gate, reader),
    questions: questions.map(({ text, options }) => ({ text, options })),
    answers: answers.map((answer) => ({ ...answer })),
    escalation:
      escalation === null
        ? null
        : { ...escalation, blockers: encodeBlockers(escalation.blockers, view, HTTP[reader]) },
    next_action: spellNext(view, HTTP[reader]),
    next_step: view.next_action,
  };
}
