import { PhasegateError, type Run, type Workflow } from '@phasegate/core';

/** Where that is read which a run is kept without. */
export interface LateParts {
  /** The run as it is stored now. */
  readonly run: (id: string) => Run | undefined;
  /** Given where its workflow, too, is only read when it is asked for. */
  readonly workflow?: (hash: string) => Workflow;
}

/**
 * The run with its completions read when they are asked for: they hold all evidence, may be of many megabytes, and most
 * questions are about the phase it is in. INVARIANT: they are those that the run had. Completions are only ever added, so
 * these are the first of those that are read, whatever came since.
 */
export function withLateHistory(run: Run, read: LateParts): Run {
  const { completions, workflow, ...others } = run;
  const { id, workflowHash } = run;
  // What the properties below hold on to is never the run itself.
  const light = (read.workflow === undefined ? { ...others, workflow } : others) as Run;
  define(light, 'completions', completions, laterCompletions(id, completions.length, read.run));
  if (read.workflow !== undefined)
    define(light, 'workflow', workflow, laterWorkflow(workflowHash, read.workflow));
  return light;
}

function laterCompletions(id: string, count: number, read: LateParts['run']): () => Run['completions'] {
  return () => {
    const found = read(id)?.completions;
    if (found === undefined || found.length < count) throw gone(id);
    return found.length === count ? found : found.slice(0, count);
  };
}

function laterWorkflow(hash: string, read: (hash: string) => Workflow): () => Workflow {
  return () => read(hash);
}

/** Not made twice while somebody has it. */
function define<K extends 'completions' | 'workflow'>(
  run: Run,
  key: K,
  ...[first, make]: [first: Run[K], make: () => Run[K]]
): void {
  Object.defineProperty(run, key, { enumerable: true, get: weakly(new WeakRef(first), make) });
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

function gone(id: string): PhasegateError {
  return new PhasegateError('run_changed', `run \`${id}\` was taken away while it was looked at`);
}
