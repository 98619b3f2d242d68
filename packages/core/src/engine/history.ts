import type { Workflow } from '../model/workflow.ts';
import type { Completion, Run } from './run.ts';

/** What comes of all completions of a run, one after the other. */
export interface Over<T> {
  /** A value of its own, like the given one or like that over no completions. */
  begin(like?: T): T;
  /** Adds a completion to a value that nobody else has yet. */
  add(value: T, completion: Completion, run: Run): void;
}

/** The run's completions and one more. What is known about them is known about the longer list too. */
export function withCompletion(run: Run, completion: Completion): readonly Completion[] {
  const longer = [...run.completions, completion];
  for (const carry of carriers) carry(run, completion, longer);
  return longer;
}

/**
 * A value over the completions of a run. It is kept with their list, so that a run with a long history is read through
 * once and then only carried on: every view and every condition asks.
 */
export function over<T>({ begin, add }: Over<T>): (run: Run) => T {
  const known = new WeakMap<readonly Completion[], Known<T>>();
  carriers.push((run, completion, longer) => {
    const found = knownFor(run);
    if (found === undefined) return;
    const value = begin(found.value);
    add(value, completion, run);
    known.set(longer, { ...found, value });
  });

  function knownFor({ completions, workflow, rules }: Run): Known<T> | undefined {
    const found = known.get(completions);
    // Under another workflow the same completions may mean something else.
    return found?.workflow === workflow && found.rules === rules ? found : undefined;
  }

  return (run) => {
    const found = knownFor(run);
    if (found !== undefined) return found.value;
    const value = begin();
    for (const completion of run.completions) add(value, completion, run);
    const { completions, workflow, rules } = run;
    // Runs from before decisions had an outcome ask their decisions what a completion means, and these grow beside it.
    if (rules !== undefined) known.set(completions, { workflow, rules, value });
    return value;
  };
}

interface Known<T> {
  readonly workflow: Workflow;
  readonly rules: Run['rules'];
  readonly value: T;
}

const carriers: ((run: Run, completion: Completion, longer: readonly Completion[]) => void)[] = [];
