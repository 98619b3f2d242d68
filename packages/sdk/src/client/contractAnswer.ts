import {
  blockersOf,
  type Command,
  isJsonObject,
  type Json,
  type JsonObject,
  type RunView,
  type Verdict,
  warningsOf,
} from '@phasegate/core';

/** What a server answered to a command, and the run after it. */
export interface Answered {
  readonly command: Command;
  readonly verdict: Verdict;
  /** The body of the answer, or of the problem where it was refused. */
  readonly said: JsonObject;
  readonly view: RunView;
}

/** The answer to a command in the words of the public contract, as the engine itself gives it. */
export function contractAnswer({ command, verdict, said, view }: Answered): JsonObject {
  const next_action = view.next_action.text;
  const common = { current_phase: view.phase, status: view.status, next_action };
  if (!verdict.allowed) return refusedAnswer({ command, verdict, said, view }, common);
  const would = {
    ...(verdict.wouldRefuse === undefined ? {} : { would_refuse: blockersOf(verdict.wouldRefuse) }),
    ...warningsOf(verdict.warnings),
  };
  if (command.kind === 'fetch_task') {
    const { phase, task_number, task_content, source } = said as Readonly<Record<string, Json>>;
    const told = { phase, task_number, task_content, source } as JsonObject;
    return { session_id: view.run, ...told, next_action };
  }
  if (command.kind !== 'complete') return { ok: true, ...common };
  if (view.status === 'waiting') return { checkpoint_passed: true, ...common, gate: gateOf(view), ...would };
  const phase_completed = said.phase_completed;
  if (view.status !== 'completed' && phase_completed === undefined) {
    return { ...common, checkpoint_passed: true, item_completed: said.item_completed ?? null, ...would };
  }
  const done = {
    checkpoint_passed: true,
    phase_completed: phase_completed ?? command.phase,
    ...common,
    ...would,
  };
  if (view.status === 'completed') {
    return { ...done, workflow_complete: true, message: 'All phases complete' };
  }
  return {
    ...done,
    next_phase: view.phase,
    next_phase_content: view.current_phase?.phase_content ?? '',
    checkpoint_criteria: view.current_phase?.checkpoint_criteria ?? {},
    artifacts_available: view.current_phase?.artifacts_from_previous ?? {},
  };
}

/** Members of a problem that are about the request rather than about the run. */
const OF_THE_PROBLEM: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'allowed',
  'run_status',
  'blockers',
]);

function refusedAnswer({ command, verdict, said }: Answered, common: JsonObject): JsonObject {
  const told = Object.fromEntries(Object.entries(said).filter(([name]) => !OF_THE_PROBLEM.has(name)));
  const skipped = told.error === 'phase_sequence_violation';
  if (command.kind === 'fetch_task') {
    const { current_phase, ...rest } = told;
    const place = skipped && current_phase !== undefined ? { current_phase } : {};
    return { ...rest, ...place, next_action: common.next_action ?? '' };
  }
  const blockers = verdict.allowed ? [] : blockersOf(verdict.blockers);
  return { ...told, ...common, blockers };
}

function gateOf({ gate }: RunView): Json {
  if (gate === null) return null;
  const { id, prompt, options } = gate;
  const labels: readonly Json[] = options.map(({ label, requires_input }) => ({ label, requires_input }));
  return { id, prompt, options: labels };
}

/** A body as the fields it has; nothing where it is none. */
export function fieldsOf(body: unknown): JsonObject {
  return isJsonObject(body) ? body : {};
}
