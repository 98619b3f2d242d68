import { itemOf } from './holding.ts';
import type { Repeated, Run } from './run.ts';

/**
 * How often a refusal came in this visit, or of one item in it: what one agent does at its item must not add up with
 * what others do at theirs. One that comes again counts, whatever came in between: two refusals that take turns get an
 * agent nowhere either.
 */
export function repeatedRefusal(
  run: Run,
  blockers: readonly { readonly code: string; readonly message: string }[],
  item?: string,
): Repeated {
  const key = run.rules === undefined ? refusalKey(blockers) : steadyKey(blockers);
  const before = item === undefined ? run.work.refusal : (itemOf(run, item)?.refusal ?? null);
  if (before === null) return { key, count: 1 };
  if (run.rules === undefined) return { key, count: before.key === key ? before.count + 1 : 1 };
  const seen = [...(before.others ?? []), before.key];
  const others = seen.filter((other) => other !== key).slice(-OTHER_REFUSALS);
  const count = seen.includes(key) ? before.count + 1 : before.count;
  return { key, count, ...(others.length === 0 ? {} : { others }), all: (before.all ?? 1) + 1 };
}

/** How many different refusals of a visit are remembered. */
const OTHER_REFUSALS = 8;

/** Says whether two refusals are the same one. */
function refusalKey(blockers: readonly { readonly code: string; readonly message: string }[]): string {
  return blockers.map((blocker) => `${blocker.code} ${blocker.message}`).join('\n');
}

/** A question that cannot be answered is the same one whatever was handed in, which its message lists. */
function steadyKey(blockers: readonly { readonly code: string; readonly message: string }[]): string {
  const isUnanswered = blockers.some(({ code }) => code === 'condition_unanswerable');
  return isUnanswered ? 'condition_unanswerable' : refusalKey(blockers);
}
