import { checkpointPathProblem } from '../checkpointPath.ts';
import type { GateDraft } from '../draft.ts';
import { parseDuration } from '../duration.ts';
import type { DraftPath } from '../problems.ts';
import type { GateOption, GateTimeout, HumanGate, PhaseId } from '../workflow.ts';
import type { PlacedCheck } from './compileCheck.ts';
import type { PhasePlace } from './compileContext.ts';

/** The gates behind a phase: all their blockers, and the human's decision, if any. */
export interface CompiledGates {
  readonly blockers: readonly Omit<PlacedCheck, 'id'>[];
  readonly human: HumanGate | null;
}

/** Finds a phase's gates by name or in place and checks them. */
export function compileGates(place: PhasePlace): CompiledGates {
  const blockers: Omit<PlacedCheck, 'id'>[] = [];
  let human: HumanGate | null = null;
  (place.phase.gates ?? []).forEach((named, index) => {
    const at = [...place.path, 'gates', index];
    const found =
      typeof named === 'string' ? gateByName(place, named, at) : { gate: named, path: at, id: named.id };
    if (found === null) return;
    const { gate, path } = found;
    for (const [position, draft] of (gate.blockers ?? []).entries()) {
      if (blockers.length === MOST_BLOCKERS) {
        const message = `phase \`${place.phase.id}\` has more than ${MOST_BLOCKERS} blockers, with those of all its gates`;
        place.context.problems.error(at, 'too_many_checks', message);
      }
      if (blockers.length > MOST_BLOCKERS) break;
      blockers.push({ draft, path: [...path, 'blockers', position] });
    }
    if (gate.human === undefined) return;
    if (human !== null) {
      place.context.problems.error(
        at,
        'two_human_gates',
        `phase \`${place.phase.id}\` has two human gates; put one in a phase of its own`,
      );
      return;
    }
    human = compileHuman(place, gate.human, {
      path: [...path, 'human'],
      id: found.id ?? String(place.phase.id),
    });
  });
  return { blockers, human };
}

function gateByName(place: PhasePlace, name: string, at: DraftPath) {
  const gates = place.context.draft.gates ?? {};
  const gate: GateDraft | undefined = Object.hasOwn(gates, name) ? gates[name] : undefined;
  if (gate !== undefined) return { gate, path: ['gates', name] as DraftPath, id: name };
  const hint = place.context.problems.hint(name, () => Object.keys(gates));
  place.context.problems.error(at, 'unknown_gate', `there is no gate \`${name}\`${hint}`);
  return null;
}

/** Each by itself is far more than a gate needs; a gate is compiled anew for every phase that names it. */
export const MOST_IN_CONTEXT = 200;
const MOST_OPTIONS = 200;
const MOST_BLOCKERS = 200;

type HumanDraft = NonNullable<GateDraft['human']>;

function compileHuman(
  place: PhasePlace,
  draft: HumanDraft,
  { path, id }: { readonly path: DraftPath; readonly id: string },
): HumanGate {
  const { problems } = place.context;
  const approvers = draft.approvers ?? [];
  const quorum = draft.quorum ?? 1;
  for (const [key, most] of [
    ['options', MOST_OPTIONS],
    ['context', MOST_IN_CONTEXT],
  ] as const) {
    if ((draft[key]?.length ?? 0) <= most) continue;
    problems.error([...path, key], 'bad_value', `a human gate has at most ${most} entries in \`${key}\``);
  }
  if (draft.options.length === 0)
    problems.error([...path, 'options'], 'no_options', 'a human gate needs at least one option');
  if (!Number.isInteger(quorum) || quorum < 1) {
    problems.error([...path, 'quorum'], 'bad_value', '`quorum` is a whole number from 1');
  } else if (approvers.length > 0 && quorum > new Set(approvers).size) {
    problems.error(
      [...path, 'quorum'],
      'unsatisfiable',
      `${quorum} humans must agree and only ${new Set(approvers).size} may decide`,
    );
  }
  const context = draft.context?.slice(0, MOST_IN_CONTEXT) ?? [];
  context.forEach((contextPath, index) => {
    const wrong = checkpointPathProblem(place.context, contextPath);
    if (wrong !== null) problems.error([...path, 'context', index], 'bad_path', wrong);
  });
  return {
    id,
    prompt: draft.prompt,
    context,
    options: compileOptions(place, draft, path),
    approvers,
    quorum,
    timeout: compileTimeout(place, draft, path),
    ...(draft.separate === true ? { separate: true } : {}),
    ...(draft.required === undefined ? {} : { required: draft.required }),
  };
}

function compileOptions(place: PhasePlace, draft: HumanDraft, path: DraftPath): readonly GateOption[] {
  const ids = place.context.draft.phases.map((phase) => phase.id);
  const seen = new Set<string>();
  return draft.options.slice(0, MOST_OPTIONS).map((option, index) => {
    const at = [...path, 'options', index];
    if (seen.has(option.label)) {
      place.context.problems.error(
        [...at, 'label'],
        'duplicate_option',
        `option \`${option.label}\` is given twice`,
      );
    }
    seen.add(option.label);
    if (option.approves !== undefined && (option.next === undefined || option.next === null)) {
      const message =
        option.next === null
          ? `option \`${option.label}\` ends the run, so it approves nothing: leave \`approves\` out`
          : `option \`${option.label}\` takes the phase's own way, so it approves: leave \`approves\` out, or give it a \`next\``;
      place.context.problems.error([...at, 'approves'], 'bad_value', message);
    }
    if (option.next !== undefined && option.next !== null && !ids.includes(option.next)) {
      const hint = place.context.problems.hint(option.next, () => ids.map(String));
      const message = `option \`${option.label}\` leads to \`${option.next}\`, which is not defined${hint}`;
      place.context.problems.error([...at, 'next'], 'unknown_phase', message);
    }
    return {
      label: option.label,
      requiresInput: option.requiresInput ?? false,
      ...(option.next === undefined ? {} : { next: option.next }),
      ...(option.approves === undefined ? {} : { approves: option.approves }),
    };
  });
}

function compileTimeout(place: PhasePlace, draft: HumanDraft, path: DraftPath): GateTimeout | null {
  if (draft.timeout === undefined) return null;
  const { problems } = place.context;
  const { after, then = 'park', to } = draft.timeout;
  const parsed = parseDuration(after);
  const afterSeconds = parsed ?? 1;
  if (parsed === null) {
    const message = `\`${after}\` is not a duration; write \`90s\`, \`30m\`, \`24h\` or \`7d\``;
    problems.error([...path, 'timeout', 'after'], 'bad_duration', message);
  }
  if (then === 'route') return { afterSeconds, ...routeAfter(place, to, path) };
  if (then !== 'park' && then !== 'stop') {
    const message = `\`then\` is \`park\`, \`stop\` or \`route\`, not \`${then}\`: nothing approves by itself`;
    problems.error([...path, 'timeout', 'then'], 'bad_value', message);
  }
  if (to !== undefined) {
    const message = '`to` goes with `then: route`, and nothing else leads anywhere';
    problems.error([...path, 'timeout', 'to'], 'bad_value', message);
  }
  return { afterSeconds, afterwards: then === 'stop' ? 'stop' : 'park' };
}

/** Whether it may lead there is asked when all phases are known (`checkTimeouts`). */
function routeAfter(
  place: PhasePlace,
  to: PhaseId | undefined,
  path: DraftPath,
): { readonly afterwards: 'park' } | { readonly afterwards: 'route'; readonly to: PhaseId } {
  const { problems, draft } = place.context;
  if (to === undefined) {
    problems.error([...path, 'timeout'], 'missing_key', '`then: route` needs `to`, the phase it leads to');
    return { afterwards: 'park' };
  }
  const ids = draft.phases.map((phase) => phase.id);
  if (ids.includes(to)) return { afterwards: 'route', to };
  const hint = problems.hint(to, () => ids.map(String));
  const message = `the timeout leads to \`${to}\`, which is not defined${hint}`;
  problems.error([...path, 'timeout', 'to'], 'unknown_phase', message);
  return { afterwards: 'park' };
}
