import { PhasegateError, type Run } from '@phasegate/core';

/**
 * The run with its completions read when they are asked for: they hold all evidence, may be of many megabytes, and most
 * questions are about the phase it is in. INVARIANT: they are those that the run had. Completions are only ever added, so
 * these are the first of those that are read, whatever came since.
 */
export function withLateHistory(run: Run, read: (id: string) => Run | undefined): Run {
  const { completions, ...others } = run;
  const count = completions.length;
  // Not read twice while somebody has them.
  let known = new WeakRef(completions);
  return Object.defineProperty(others as Run, 'completions', {
    enumerable: true,
    get() {
      const there = known.deref();
      if (there !== undefined) return there;
      const found = read(run.id)?.completions;
      if (found === undefined || found.length < count) throw gone(run.id);
      const first = found.length === count ? found : found.slice(0, count);
      known = new WeakRef(first);
      return first;
    },
  });
}

function gone(id: string): PhasegateError {
  return new PhasegateError('run_changed', `run \`${id}\` was taken away while it was looked at`);
}
