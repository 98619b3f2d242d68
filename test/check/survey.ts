import type { Run, RunEvent, Workflow } from '@phasegate/core';
import { type CheckReport, checkWorkflow } from '@phasegate/proofs';
import { type Abstraction, abstractionOf } from '../../packages/proofs/src/check/abstractWorkflow.ts';
import { DEFAULT_BOUNDS } from '../../packages/proofs/src/check/checkWorkflow.ts';
import { keyBefore } from '../../packages/proofs/src/check/essence.ts';
import { explore } from '../../packages/proofs/src/check/explore.ts';
import { keeping, keptIn, sizesIn } from '../../packages/proofs/src/check/givenItems.ts';
import { type Marks, Monitor } from '../../packages/proofs/src/check/monitor.ts';

/** What the check makes of a workflow, with every state it walked. */
export class Survey {
  readonly report: CheckReport;
  readonly #workflow: Workflow;
  readonly #abstraction: Abstraction;
  readonly #monitor: Monitor;
  /** Steps from each state to the nearest end; absent for one from which there is none. */
  readonly #distances: ReadonlyMap<string, number>;
  readonly #keys: ReadonlySet<string>;

  /** Null where there are more states than that. */
  static of(workflow: Workflow, maxStates: number): Survey | null {
    const report = checkWorkflow(workflow, { bounds: { states: maxStates } });
    return report.bound === null ? new Survey(workflow, report) : null;
  }

  constructor(workflow: Workflow, report: CheckReport) {
    this.#workflow = workflow;
    this.report = report;
    this.#abstraction = abstractionOf(workflow, DEFAULT_BOUNDS.params);
    this.#monitor = new Monitor(workflow);
    const { states } = explore(this.#abstraction, this.#monitor, { maxStates: report.states + 1 });
    // What was answered about evidence is no part of a real run, but of the evidence itself.
    const keys = states.map(({ run, marks }) =>
      keyBefore(keeping(run, { ...keptIn(run), answers: {} }), marks, this.#abstraction),
    );
    const before: number[][] = states.map(() => []);
    states.forEach(({ next }, place) => {
      for (const other of next) before[other]?.push(place);
    });
    const distances = new Map<string, number>();
    let ring = states.flatMap(({ run }, place) => (run.phase === null ? [place] : []));
    for (let distance = 0; ring.length > 0; distance++) {
      for (const place of ring) distances.set(keys[place] as string, distance);
      const further = new Set(ring.flatMap((place) => before[place] ?? []));
      ring = [...further].filter((place) => !distances.has(keys[place] as string));
    }
    this.#distances = distances;
    this.#keys = new Set(keys);
  }

  /** The marks of a run that just started, and after more events. */
  marks(run: Run, more?: { readonly before: Marks; readonly events: readonly RunEvent[] }): Marks {
    return more === undefined
      ? this.#monitor.started(run)
      : this.#monitor.after(more.before, run, more.events);
  }

  /** Whether the check has seen a run like this, or null where it has items in a number it never makes. */
  knows(run: Run, marks: Marks): boolean | null {
    if (mostItems(run) > 2) return null;
    return this.#keys.has(this.#keyOf(run, marks));
  }

  /** How far a run is from an end, or undefined where the check sees no way to one. */
  distance(run: Run, marks: Marks): number | undefined {
    return this.#distances.get(this.#keyOf(run, marks));
  }

  /** Whether the check takes nothing both ways that is not free indeed: no condition is about evidence. */
  get isExact(): boolean {
    const written = JSON.stringify(this.#workflow.phases);
    return !/"root":"(?:result|state|artifacts|approved|checkpoint)"|result\.|"key":"(?!places)/u.test(
      written,
    );
  }

  #keyOf(run: Run, marks: Marks): string {
    const { tried } = this.#abstraction;
    const params = Object.fromEntries(Object.entries(run.params).filter(([name]) => tried.has(name)));
    const paused = run.status === 'queued' || (run.status === 'waiting' && run.wait.for === 'questions');
    const sizes = sizesIn(run.params, this.#abstraction.lists);
    const seen = keeping({ ...run, params, ...(paused ? { status: 'active' } : {}) } as Run, {
      sizes,
      answers: {},
    });
    return keyBefore(seen, marks, this.#abstraction);
  }
}

/** The most items of any list of a run: the check makes up to two. */
export function mostItems(run: Run): number {
  const { places } = run.params;
  return Math.max(Array.isArray(places) ? places.length : 0, Object.keys(run.work.items ?? {}).length);
}
