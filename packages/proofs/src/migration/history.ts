import type { GateDecision, Run, RunEvent } from '@phasegate/core/engine';
import type { HumanGate, Phase, PhaseId, PropertySubject, Workflow } from '@phasegate/core/model';
import { approvalOf, coveredBy, declaredNames, edgesOf, leadsBack, phaseById } from '@phasegate/core/model';
import { reachabilityOf } from '../check/abstractWorkflow.ts';
import type { Marked } from '../check/markLife.ts';
import { type Marks, Monitor, nameOfMark, type Watched, watchedIn } from '../check/monitor.ts';

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** What a recorded run has been through, in the eyes of a workflow that may not be its own. */
export class History {
  /** Follows every phase and human gate of the workflow, and its promises. */
  readonly monitor: Monitor;
  readonly #workflow: Workflow;
  readonly #run: Run;
  /** Whether what was passed is passed for good, by the place of its letter. */
  readonly #lasting: readonly boolean[];
  readonly #watched: readonly Watched[];

  constructor(workflow: Workflow, run: Run) {
    this.#workflow = workflow;
    this.#run = run;
    // First, so that everything has a letter: a promise may be about nothing.
    this.#watched = [{ name: '', kind: 'always', of: subjectsOf(workflow) }, ...watchedIn(workflow)];
    this.monitor = new Monitor(workflow, this.#watched, { keepsAll: true });
    this.#lasting = this.monitor.marked.map((marked) => isLasting(workflow, marked));
  }

  /** The marks of the run after its events. */
  of(events: readonly RunEvent[]): Marks {
    let marks: Marks = '';
    let votes: readonly GateDecision[] = [];
    events.forEach((event, index) => {
      if (event.type === 'run_started') {
        marks = this.monitor.started({ ...this.#run, phase: event.phase } as Run);
      } else if (event.type === 'gate_opened') {
        votes = [];
        marks = this.#after(marks, [event], { [event.phase]: this.#isGate(event.phase, event.wait.gate) });
      } else if (event.type === 'gate_decided') {
        votes = [...votes, event.decision];
      } else if (event.type === 'phase_completed') {
        // A decision leads on at once or not at all: what was worked out since then nobody decided on.
        const asked = decidedBy(events[index - 1]);
        const left = { ...event, next: this.#onward(events, index) };
        const counts = asked !== null && this.#isPassed(left, asked.decision, votes);
        const decided = asked === null ? [] : [this.#settled(asked, left)];
        marks = this.#after(marks, [...decided, left], { [event.phase]: counts });
      }
    });
    return marks;
  }

  /** The phases a run has entered, one after another, without those that the workflow does not have. */
  pathOf(events: readonly RunEvent[]): readonly PhaseId[] {
    return events.flatMap((event) => {
      const entered =
        event.type === 'run_started' ? event.phase : event.type === 'phase_completed' ? event.next : null;
      return entered === null || phaseById(this.#workflow, entered) === undefined ? [] : [entered];
    });
  }

  /** Names of the promises a run with these marks has broken. */
  brokenIn(marks: Marks): readonly string[] {
    return this.monitor.brokenIn(marks).flatMap((place) => {
      const name = this.#watched[place]?.name ?? '';
      return name === '' ? [] : [`\`${name}\``];
    });
  }

  /** The first thing that is passed or reached in these marks for good and not in the others; null where there is none. */
  beyond(marks: Marks, others: Marks): string | null {
    const place = this.monitor.marked.findIndex((_, at) => {
      const [mark, other] = [rankOf(marks[at]), rankOf(others[at])];
      return this.#lasting[at] === true ? mark > other : mark > 0 && other === 0;
    });
    return place === -1 ? null : nameOfMark(this.monitor.marked[place] as Marked);
  }

  /** Everything that is passed or reached in these marks and not in the others. */
  differences(marks: Marks, others: Marks): readonly string[] {
    return this.monitor.marked.flatMap((marked, place) =>
      rankOf(marks[place]) > rankOf(others[place]) ? [nameOfMark(marked)] : [],
    );
  }

  /** As the monitor, for a workflow that has the gate of a phase only where that is said. */
  #after(marks: Marks, events: readonly RunEvent[], gates: Readonly<Record<string, boolean>>): Marks {
    const phases = this.#workflow.phases.map((phase) =>
      gates[phase.id] === false ? { ...phase, humanGate: null } : phase,
    );
    return this.monitor.after(marks, { ...this.#run, workflow: { ...this.#workflow, phases } }, events);
  }

  /** With what it means: of runs from before that was recorded, a yes is what did not lead back. */
  #settled(asked: Of<'gate_decided'>, { phase, next }: Of<'phase_completed'>): Of<'gate_decided'> {
    const { gate, option, input } = asked.decision;
    const approves = asked.settles?.approves ?? !leadsBack(this.#workflow, phase, next);
    return { ...asked, settles: { gate, phase, option, input, approves } };
  }

  #gateOf(phase: string | number): HumanGate | null {
    return phaseById(this.#workflow, phase)?.humanGate ?? null;
  }

  #isGate(phase: string | number, instance: string): boolean {
    return this.#gateOf(phase)?.id === instance.slice(0, instance.lastIndexOf('#'));
  }

  /** A gate that asks for other or more humans now, or for another choice, was not passed by what was decided. */
  #isPassed(
    { phase, next }: Of<'phase_completed'>,
    decision: GateDecision,
    votes: readonly GateDecision[],
  ): boolean {
    const gate = this.#gateOf(phase);
    if (gate === null || !this.#isGate(phase, decision.gate)) return false;
    const chosen = gate.options.find(({ label }) => label === decision.option);
    if (chosen === undefined || (chosen.next !== undefined && chosen.next !== next)) return false;
    const phaseNow = phaseById(this.#workflow, phase) as Phase;
    if (approvalOf(this.#workflow, phaseNow, chosen) === 'no') return false;
    const agreed = votes.filter(
      ({ option, by }) =>
        option === decision.option && (gate.approvers.length === 0 || gate.approvers.includes(by)),
    );
    return new Set(agreed.map(({ by }) => by)).size >= gate.quorum;
  }

  /** Where a run came to next: phases that the workflow does not have are passed over. */
  #onward(events: readonly RunEvent[], index: number): Of<'phase_completed'>['next'] {
    for (const event of events.slice(index)) {
      if (event.type !== 'phase_completed') continue;
      if (event.next === null || phaseById(this.#workflow, event.next) !== undefined) return event.next;
    }
    return (events[index] as Of<'phase_completed'>).next;
  }
}

function decidedBy(event: RunEvent | undefined): Of<'gate_decided'> | null {
  return event?.type === 'gate_decided' && event.final ? event : null;
}

/** From nothing to reached to passed. */
function rankOf(letter = '-'): number {
  return ['-', 'r', 'p'].indexOf(letter);
}

/** A gate's yes lasts where its phase is never entered again and nobody ahead declares what it covers. */
function isLasting(workflow: Workflow, marked: Marked): boolean {
  if (marked.kind === 'phase') return true;
  const gated = phaseById(workflow, marked.phase) as Phase;
  const covered = coveredBy(gated);
  const reachable = reachabilityOf(workflow);
  const after = edgesOf(gated).flatMap(({ to }) => [...(reachable.get(String(to)) ?? [])]);
  return !workflow.phases.some(
    (phase) =>
      after.includes(String(phase.id)) &&
      (phase === gated || declaredNames(phase).some((name) => covered.includes(name))),
  );
}

function subjectsOf({ phases }: Workflow): readonly PropertySubject[] {
  const gates = phases.flatMap(({ humanGate }) => (humanGate === null ? [] : [humanGate.id]));
  return [
    ...phases.map(({ id }): PropertySubject => ({ kind: 'phase', phase: id })),
    ...[...new Set(gates)].map((gate): PropertySubject => ({ kind: 'gate', gate })),
  ];
}
