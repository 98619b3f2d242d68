import { standsFor } from '@phasegate/audit';
import type { Run, Workflow } from '@phasegate/core';
import { jsonBytes } from '@phasegate/core/model';

type Completion = Run['completions'][number];

/** Where that is read which a run is kept without. */
export interface LateParts {
  /** A completion of the run as it was stored, by its place among them. */
  readonly completion: (index: number) => Completion;
  /** Given where its workflow, too, is only read when it is asked for. */
  readonly workflow?: (hash: string) => Workflow;
}

/** A run that is kept without what is large in it, and how large the rest of its history is, in characters. */
export interface LateRun {
  readonly run: Run;
  readonly historyLength: number;
}

/**
 * The run with what is large in its completions, such as evidence, read when it is asked for: together it may be of many
 * megabytes, and most questions are about the phase it is in, or about which phases it left. INVARIANT: completions are
 * only ever added, so these are the ones that the run had, whatever came since.
 */
export function withLateHistory(run: Run, read: LateParts): LateRun {
  const { completions, workflow, ...others } = run;
  // What the properties below hold on to is never the run itself.
  const light = (read.workflow === undefined ? { ...others, workflow } : others) as Run;
  // One source for all completions of a run, moved on to where its newest ones stand, too: each by its own would read the
  // steps up to it once more.
  const source = completions.map((one) => lateOnes.get(one)?.source).find((one) => one !== undefined) ?? {
    completion: read.completion,
  };
  source.completion = read.completion;
  let historyLength = 0;
  const made = completions.map((completion, index) => {
    const known = lateOnes.get(completion);
    const one =
      known === undefined ? withLateValues(completion, { source, index }) : { completion, ...known };
    historyLength += one.length;
    return one.completion;
  });
  // A list of its own each time: what is kept for a list, such as values by their names, holds evidence, too.
  const list = () => [...made];
  define(light, 'completions', list(), list);
  if (read.workflow !== undefined) define(light, 'workflow', workflow, laterWorkflow(run, read.workflow));
  return { run: light, historyLength };
}

/** Where completions of one run are read. */
interface Source {
  completion: LateParts['completion'];
}

/** Completions that have something read late: from where, and how long the rest of them is. */
const lateOnes = new WeakMap<Completion, { readonly length: number; readonly source: Source }>();

/** The completion itself where nothing of it is large. */
function withLateValues(
  completion: Completion,
  { source, index }: { readonly source: Source; readonly index: number },
): { readonly completion: Completion; readonly length: number } {
  const light: Record<string, unknown> = {};
  let length = PLAIN;
  let isLate = false;
  for (const [key, value] of Object.entries(completion)) {
    const bytes = jsonBytes(value, LARGE);
    if (bytes > LARGE && typeof value === 'object') {
      isLate = true;
      const make = () => source.completion(index)[key as keyof Completion] as never;
      defineLate(light, key, new WeakRef(value), make);
    } else {
      light[key] = value;
      length += bytes;
    }
  }
  if (!isLate) return { completion, length };
  const late = light as unknown as Completion;
  length += GETTERS;
  lateOnes.set(late, { length, source });
  standsFor(late, completion);
  return { completion: late, length };
}

/** In bytes of JSON. */
const LARGE = 1024;
/** About what the names of the members of a completion take. */
const PLAIN = 200;
/** About what it takes to read some of them late. */
const GETTERS = 700;

function laterWorkflow({ workflowHash }: Run, read: NonNullable<LateParts['workflow']>): () => Workflow {
  return () => read(workflowHash);
}

/** Not made twice while somebody has it. */
function define<K extends 'completions' | 'workflow'>(
  run: Run,
  key: K,
  ...[first, make]: [first: Run[K], make: () => Run[K]]
): void {
  defineLate(run, key, new WeakRef(first), make);
}

function defineLate<T extends WeakKey>(on: object, key: string, first: WeakRef<T>, make: () => T): void {
  Object.defineProperty(on, key, { enumerable: true, get: weakly(first, make) });
}

function weakly<T extends WeakKey>(first: WeakRef<T>, make: () => T): () => T {
  let known = first;
  return () => {
    const there = known.deref();
    if (there !== undefined) return there;
    const made = make();
    known = new WeakRef(made);
    return made;
  };
}
