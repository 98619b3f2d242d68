import type { Phase, PhaseId, RunEvent, Workflow } from '@phasegate/core';
import type { Property } from '@phasegate/core/model';

/**
 * What a run has done with the promises of its workflow, read from the events of its whole life. Written apart from the
 * monitor of the check: for every question it looks back over all that happened, and remembers nothing.
 */
export function brokenPromises(workflow: Workflow, events: readonly RunEvent[]): ReadonlySet<string> {
  const life = events.flatMap((event): Happened[] => {
    if (event.type === 'run_started') return [{ what: 'entered', phase: event.phase }];
    if (event.type === 'gate_opened') return [{ what: 'opened', phase: event.phase }];
    if (event.type === 'gate_decided')
      return event.settles === undefined || !event.settles.approves
        ? []
        : [{ what: 'yes', phase: event.settles.phase }];
    if (event.type !== 'phase_completed') return [];
    const { phase, outcome, next } = event;
    return [
      { what: 'completed', phase, outcome },
      next === null ? { what: 'ended', phase } : { what: 'entered', phase: next },
    ];
  });
  const promises = promisesOf(workflow);
  return new Set(
    promises
      .filter((promise) => life.some((_, at) => isBroken(workflow, promise, life.slice(0, at + 1))))
      .map(({ name }) => name),
  );
}

type Happened =
  | { readonly what: 'entered' | 'opened' | 'yes' | 'ended'; readonly phase: PhaseId }
  | { readonly what: 'completed'; readonly phase: PhaseId; readonly outcome: string };

/** Something a promise is about: a phase, or the gates behind some phases. */
interface Subject {
  readonly phases: readonly PhaseId[];
  readonly gate: boolean;
}

interface Promised {
  readonly name: string;
  readonly kind: Property['kind'];
  readonly of: readonly Subject[];
}

function promisesOf({ phases, properties = [] }: Workflow): readonly Promised[] {
  const gated = phases.filter(({ humanGate }) => humanGate !== null && humanGate.required !== false);
  return [
    ...properties.map(({ name, kind, of }): Promised => {
      const subjects = of.map((subject): Subject => {
        if (subject.kind === 'phase') return { phases: [subject.phase], gate: false };
        const behind = phases.filter(({ humanGate }) => humanGate?.id === subject.gate);
        return { phases: behind.map(({ id }) => id), gate: true };
      });
      return { name, kind, of: subjects };
    }),
    ...gated.map(
      ({ id, humanGate }): Promised => ({
        name: `required ${humanGate?.id} of ${id}`,
        kind: 'always',
        of: [{ phases: [id], gate: true }],
      }),
    ),
  ];
}

/** Whether the newest of what happened breaks it. */
function isBroken(workflow: Workflow, { kind, of }: Promised, life: readonly Happened[]): boolean {
  const now = life.at(-1) as Happened;
  const earlier = life.slice(0, -1);
  if (kind === 'always') return now.what === 'ended' && !of.every((one) => wasPassed(workflow, one, life));
  if (kind === 'never') return of.every((one) => life.some((then) => isArrival(one, then)));
  return of.some((one, place) => {
    const before = of[place - 1];
    return (
      before !== undefined && isArrival(one, now) && !wasPassed(workflow, before, reentered(earlier, now))
    );
  });
}

/** Anyone who enters a phase has entered it before anything is asked. */
function reentered(earlier: readonly Happened[], now: Happened): readonly Happened[] {
  return now.what === 'entered' ? [...earlier, now] : earlier;
}

function isArrival({ phases, gate }: Subject, { what, phase }: Happened): boolean {
  return phases.includes(phase) && what === (gate ? 'opened' : 'entered');
}

function wasPassed(workflow: Workflow, { phases, gate }: Subject, life: readonly Happened[]): boolean {
  if (gate) return phases.every((phase) => stands(workflow, phase, life));
  return phases.every((phase) =>
    life.some((then) => then.what === 'completed' && then.phase === phase && then.outcome === 'ok'),
  );
}

/** Whether a yes at the gate of a phase still is one: nobody entered the phase or replaced what was shown since. */
function stands({ phases, params }: Workflow, phase: PhaseId, life: readonly Happened[]): boolean {
  const yes = life.findLastIndex((then) => then.what === 'yes' && then.phase === phase);
  if (yes === -1) return false;
  const gated = phases.find(({ id }) => id === phase) as Phase;
  const shown = gated.humanGate?.context.map((path) => path.split('.')[0] as string) ?? [];
  const covered = new Set([...namesOf(gated), ...shown].filter((name) => !(name in params)));
  const others = phases.filter((one) => one !== gated && namesOf(one).some((name) => covered.has(name)));
  return !life.slice(yes + 1).some((then) => {
    if (then.what === 'entered') return then.phase === phase;
    if (then.what !== 'completed' || !['ok', 'iterate'].includes(then.outcome)) return false;
    return others.some(({ id }) => id === then.phase);
  });
}

function namesOf({ evidence }: Phase): readonly string[] {
  return [...evidence.fields.map(({ name }) => name), ...evidence.artifacts.map(({ type }) => type)];
}
