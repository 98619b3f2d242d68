import type { Run, RunEvent } from '@phasegate/core/engine';
import type { PhaseId, Property, PropertySubject, Workflow } from '@phasegate/core/model';
import { changersOf, liveIn, type Marked } from './markLife.ts';

/** What a run has reached and passed: a letter for each subject, then the places of the promises it has broken. */
export type Marks = string;

/** A promise to be watched, of the author or of a human gate. */
export interface Watched extends Property {
  /** The gate, where the promise is that nothing ends without a human's yes at it. */
  readonly required?: { readonly gate: string; readonly phase: PhaseId };
}

/** Every promise about the runs of a workflow: no gate may be got around unless its author says so. */
export function watchedIn(workflow: Workflow): readonly Watched[] {
  const gates = workflow.phases.flatMap(({ id, humanGate }): Watched[] => {
    if (humanGate === null || humanGate.required === false) return [];
    const gate = humanGate.id;
    return [{ name: gate, kind: 'always', of: [{ kind: 'gate', gate }], required: { gate, phase: id } }];
  });
  return [...gates, ...(workflow.properties ?? [])];
}

/** A promise with the places of its subjects' marks; of a gate behind several phases there are several. */
interface Placed {
  readonly kind: Property['kind'];
  readonly of: readonly (readonly number[])[];
}

/** Follows what matters for promises along a run. */
export class Monitor {
  /** What the letters stand for, in their order. */
  readonly marked: readonly Marked[];
  readonly #promises: readonly Placed[];
  readonly #places: ReadonlyMap<string, number>;
  /** By phase as text, the gates whose yes is about something that a completion of the phase changes. */
  readonly #changed: ReadonlyMap<string, readonly number[]>;
  /** Whether it matters that something was reached and not passed, by place. */
  readonly #reaching: readonly boolean[];
  /** By phase as text, the marks that can still matter there; null where all are kept. */
  readonly #live: ReadonlyMap<string, ReadonlySet<number>> | null;

  constructor(
    workflow: Workflow,
    watched: readonly Watched[] = watchedIn(workflow),
    { keepsAll = false }: { readonly keepsAll?: boolean } = {},
  ) {
    const resolved = watched.map(({ of, required }) =>
      of.map((subject) => markedBy(workflow, subject, required)),
    );
    const byName = new Map(resolved.flat(2).map((marked) => [nameOfMark(marked), marked]));
    this.marked = [...byName.values()];
    this.#places = new Map([...byName.keys()].map((name, place) => [name, place]));
    this.#promises = watched.map(({ kind }, index) => ({
      kind,
      of: (resolved[index] ?? []).map((group) => group.map((marked) => this.#placeOf(marked))),
    }));
    this.#reaching = this.marked.map(
      (_, place) =>
        keepsAll || this.#promises.some(({ kind, of }) => kind === 'never' && of.flat().includes(place)),
    );
    this.#changed = changersOf(workflow, this.marked);
    this.#live = keepsAll ? null : liveIn(workflow, this.marked, this.#promises);
  }

  /** The marks of a run that just started. */
  started(run: Run): Marks {
    const marking = { letters: this.marked.map(() => '-'), broken: new Set<number>() };
    if (run.phase !== null) this.#enter(marking, { kind: 'phase', phase: run.phase });
    return this.#written(marking, run.phase);
  }

  /** The marks after events, on the run before them. */
  after(marks: Marks, before: Run, events: readonly RunEvent[]): Marks {
    // Nothing else is ever marked, and most of what happens is neither.
    if (!events.some(({ type }) => type === 'phase_completed' || type === 'gate_opened')) return marks;
    const marking = this.#read(marks);
    let phase = before.phase;
    let approved = false;
    for (const event of events) {
      if (event.type === 'gate_decided') approved = event.settles?.approves === true;
      if (event.type === 'gate_opened') this.#open(marking, before.workflow, event.phase);
      if (event.type !== 'phase_completed') continue;
      this.#complete(marking, before.workflow, { event, approved });
      approved = false;
      phase = event.next;
    }
    return this.#written(marking, phase);
  }

  /** Places of the promises that a run with these marks has broken. */
  brokenIn(marks: Marks): readonly number[] {
    return marks.endsWith('!') ? [] : [...this.#read(marks).broken];
  }

  #complete(
    marking: Marking,
    workflow: Workflow,
    { event, approved }: { readonly event: Completed; readonly approved: boolean },
  ): void {
    const { phase, outcome, next } = event;
    if (outcome === 'ok') this.#mark(marking, { kind: 'phase', phase }, 'p');
    // What was approved is replaced, so nobody has approved what stands there now.
    if (outcome === 'ok' || outcome === 'iterate')
      for (const place of this.#changed.get(String(phase)) ?? []) this.#fall(marking, place);
    const gate = gateOf(workflow, phase);
    if (approved && gate !== null) this.#mark(marking, { kind: 'gate', gate, phase }, 'p');
    if (next !== null) {
      this.#enter(marking, { kind: 'phase', phase: next });
      return;
    }
    this.#promises.forEach(({ kind, of }, index) => {
      if (kind === 'always' && !of.every((group) => isPassed(marking, group))) marking.broken.add(index);
    });
  }

  #open(marking: Marking, workflow: Workflow, phase: PhaseId): void {
    const gate = gateOf(workflow, phase);
    if (gate !== null) this.#enter(marking, { kind: 'gate', gate, phase });
  }

  #enter(marking: Marking, entered: Marked): void {
    const arriving = this.#placeOf(entered);
    // A phase that is entered again is to be decided about again.
    if (entered.kind === 'phase')
      this.marked.forEach((marked, place) => {
        if (marked.kind === 'gate' && marked.phase === entered.phase) this.#fall(marking, place);
      });
    if (arriving === -1) return;
    this.#promises.forEach(({ kind, of }, index) => {
      if (kind !== 'before') return;
      of.slice(1).forEach((group, position) => {
        const earlier = of[position] as readonly number[];
        if (group.includes(arriving) && !isPassed(marking, earlier)) marking.broken.add(index);
      });
    });
    this.#mark(marking, entered, 'r');
    this.#promises.forEach(({ kind, of }, index) => {
      const reached = (group: readonly number[]) => group.some((place) => marking.letters[place] !== '-');
      if (kind === 'never' && of.every(reached)) marking.broken.add(index);
    });
  }

  #mark({ letters }: Marking, marked: Marked, letter: 'r' | 'p'): void {
    const place = this.#placeOf(marked);
    if (place === -1 || letters[place] === 'p') return;
    if (letter === 'p' || this.#reaching[place] === true) letters[place] = letter;
  }

  #fall({ letters }: Marking, place: number): void {
    if (letters[place] === 'p') letters[place] = this.#reaching[place] === true ? 'r' : '-';
  }

  #placeOf(marked: Marked): number {
    return this.#places.get(nameOfMark(marked)) ?? -1;
  }

  #read(marks: Marks): Marking {
    const [letters = '', broken = ''] = marks.split('!');
    return {
      letters: letters.split(''),
      broken: new Set(broken === '' ? [] : broken.split(',').map(Number)),
    };
  }

  #written({ letters, broken }: Marking, phase: PhaseId | null): Marks {
    const live = this.#live === null || phase === null ? null : this.#live.get(String(phase));
    const kept = live == null ? letters : letters.map((letter, place) => (live.has(place) ? letter : '-'));
    return `${kept.join('')}!${[...broken].sort((one, other) => one - other).join()}`;
  }
}

interface Marking {
  readonly letters: string[];
  readonly broken: Set<number>;
}

type Completed = Extract<RunEvent, { type: 'phase_completed' }>;

function isPassed({ letters }: Marking, group: readonly number[]): boolean {
  return group.every((place) => letters[place] === 'p');
}

/** A gate that stands behind several phases is passed where it is behind each of them. */
function markedBy(
  { phases }: Workflow,
  subject: PropertySubject,
  only: Watched['required'],
): readonly Marked[] {
  if (subject.kind === 'phase') return [subject];
  if (only !== undefined) return [{ kind: 'gate', ...only }];
  return phases.flatMap(({ id, humanGate }) =>
    humanGate?.id === subject.gate ? [{ kind: 'gate' as const, gate: subject.gate, phase: id }] : [],
  );
}

/** A subject as an author names it. */
export function nameOf(subject: PropertySubject): string {
  return subject.kind === 'phase' ? `phase \`${subject.phase}\`` : `gate \`${subject.gate}\``;
}

/** The same of what has a mark of its own. */
export function nameOfMark(marked: Marked): string {
  return marked.kind === 'phase' ? nameOf(marked) : `${nameOf(marked)} of phase \`${marked.phase}\``;
}

function gateOf({ phases }: Workflow, phase: PhaseId): string | null {
  return phases.find(({ id }) => id === phase)?.humanGate?.id ?? null;
}
