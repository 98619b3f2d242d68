import type { RunEvent } from '../../engine/events.ts';
import type { Run } from '../../engine/run.ts';
import { leadsBack } from '../../model/edges.ts';
import type { Property, PropertySubject, Workflow } from '../../model/workflow.ts';

/** What a run has reached and passed: two letters for each subject, then the names of the promises it has broken. */
export type Marks = string;

/** A promise to be watched, of the author or of a gate marked `required`. */
export interface Watched extends Property {
  /** The gate, where the promise is that nothing ends without it. */
  readonly required?: string;
}

/** Every promise about the runs of a workflow. */
export function watchedIn(workflow: Workflow): readonly Watched[] {
  const required = workflow.phases.flatMap(({ humanGate }) =>
    humanGate?.required === true ? [humanGate.id] : [],
  );
  return [
    ...[...new Set(required)].map(
      (gate): Watched => ({ name: gate, kind: 'always', of: [{ kind: 'gate', gate }], required: gate }),
    ),
    ...(workflow.properties ?? []),
  ];
}

/** Follows what matters for promises along a run. */
export class Monitor {
  readonly #watched: readonly Watched[];
  readonly #subjects: readonly PropertySubject[];
  /** Where the letter of each subject stands, by its name. */
  readonly #places: ReadonlyMap<string, number>;

  constructor(watched: readonly Watched[]) {
    this.#watched = watched;
    const byName = new Map(watched.flatMap(({ of }) => of).map((subject) => [nameOf(subject), subject]));
    this.#subjects = [...byName.values()];
    this.#places = new Map([...byName.keys()].map((name, place) => [name, place]));
  }

  /** The marks of a run that just started. */
  started(run: Run): Marks {
    const letters = this.#subjects.map((subject) =>
      subject.kind === 'phase' && subject.phase === run.phase ? 'r' : '-',
    );
    return this.#judged(letters, [], run, []);
  }

  /** The marks after events, on the run before them. */
  after(marks: Marks, before: Run, events: readonly RunEvent[]): Marks {
    // Nothing else is ever marked, and most of what happens is neither.
    if (!events.some(({ type }) => type === 'phase_completed' || type === 'gate_opened')) return marks;
    const [letters, broken] = this.#parts(marks);
    const entered: PropertySubject[] = [];
    const ended = events.some((event) => event.type === 'phase_completed' && event.next === null);
    events.forEach((event, index) => {
      if (event.type === 'phase_completed') {
        if (event.outcome === 'ok') this.#mark(letters, { kind: 'phase', phase: event.phase }, 'p');
        const decided = events
          .slice(0, index)
          .some((earlier) => earlier.type === 'gate_decided' && earlier.final);
        const gate = decided ? gateOf(before.workflow, event.phase) : null;
        // A human who sends the work back has not let it pass.
        if (gate !== null && !leadsBack(before.workflow, event.phase, event.next))
          this.#mark(letters, { kind: 'gate', gate }, 'p');
        if (event.next !== null) entered.push({ kind: 'phase', phase: event.next });
      }
      if (event.type === 'gate_opened') {
        const gate = gateOf(before.workflow, event.phase);
        if (gate !== null) entered.push({ kind: 'gate', gate });
      }
    });
    const all = this.#judged(letters, broken, null, entered);
    return ended ? this.#atTheEnd(all) : all;
  }

  /** Names of promises, by place in the list, that a run with these marks has broken. */
  brokenIn(marks: Marks): readonly number[] {
    return marks.endsWith('!') ? [] : this.#parts(marks)[1];
  }

  #parts(marks: Marks): [string[], number[]] {
    const [letters = '', broken = ''] = marks.split('!');
    return [letters.split(''), broken === '' ? [] : broken.split(',').map(Number)];
  }

  #mark(letters: string[], subject: PropertySubject, letter: 'r' | 'p'): void {
    const place = this.#placeOf(subject);
    if (place === -1 || letters[place] === 'p') return;
    letters[place] = letter;
  }

  #placeOf(subject: PropertySubject): number {
    return this.#places.get(nameOf(subject)) ?? -1;
  }

  #judged(
    letters: string[],
    broken: readonly number[],
    start: Run | null,
    entered: readonly PropertySubject[],
  ): Marks {
    const now = new Set(broken);
    const arriving = start?.phase == null ? entered : [{ kind: 'phase' as const, phase: start.phase }];
    this.#watched.forEach(({ kind, of }, index) => {
      if (kind !== 'before' || arriving.length === 0) return;
      of.slice(1).forEach((subject, position) => {
        const arrives = arriving.some((candidate) => nameOf(candidate) === nameOf(subject));
        const earlier = of[position] as PropertySubject;
        if (arrives && letters[this.#placeOf(earlier)] !== 'p') now.add(index);
      });
    });
    for (const subject of entered) this.#mark(letters, subject, 'r');
    this.#watched.forEach(({ kind, of }, index) => {
      if (kind === 'never' && of.every((subject) => letters[this.#placeOf(subject)] !== '-')) now.add(index);
    });
    return `${letters.join('')}!${[...now].sort((one, other) => one - other).join()}`;
  }

  #atTheEnd(marks: Marks): Marks {
    const [letters, broken] = this.#parts(marks);
    const now = new Set(broken);
    this.#watched.forEach(({ kind, of }, index) => {
      if (kind === 'always' && of.some((subject) => letters[this.#placeOf(subject)] !== 'p')) now.add(index);
    });
    return `${letters.join('')}!${[...now].sort((one, other) => one - other).join()}`;
  }
}

/** A subject as an author names it. */
export function nameOf(subject: PropertySubject): string {
  return subject.kind === 'phase' ? `phase \`${subject.phase}\`` : `gate \`${subject.gate}\``;
}

function gateOf(workflow: Workflow, phase: string | number): string | null {
  return workflow.phases.find(({ id }) => id === phase)?.humanGate?.id ?? null;
}
