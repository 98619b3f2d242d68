import type { Problem } from '../errors.ts';

/** Of one definition; more than anyone reads, and a hostile file must not make a report of its own size. */
export const MOST_PROBLEMS = 1000;

/**
 * The first problems of a definition, from a list that is in order; the last one says how many more there are. Errors
 * come before notes, as what makes a definition invalid must be seen.
 */
export function firstProblems(
  inOrder: readonly Problem[],
  { errors: moreErrors, notes: moreNotes } = { errors: 0, notes: 0 },
): readonly Problem[] {
  let errors = inOrder.reduce((count, { severity }) => count + (severity === 'error' ? 1 : 0), 0);
  let notes = inOrder.length - errors;
  if (inOrder.length <= MOST_PROBLEMS && moreErrors + moreNotes === 0) return inOrder;
  const most = { error: MOST_PROBLEMS, note: Math.max(0, MOST_PROBLEMS - errors) };
  const kept = inOrder.filter(({ severity }) => {
    most[severity] -= 1;
    return most[severity] >= 0;
  });
  for (const { severity } of kept) {
    if (severity === 'error') errors -= 1;
    else notes -= 1;
  }
  errors += moreErrors;
  notes += moreNotes;
  const last = kept.at(-1);
  if (last === undefined || errors + notes === 0) return kept;
  const { file, line, column } = last;
  const few = errors + notes === 1 ? 'one more problem is' : `${errors + notes} more problems are`;
  const message = `${few} left out; correct those above first`;
  return [
    ...kept,
    { file, line, column, code: 'more_problems', message, severity: errors > 0 ? 'error' : 'note' },
  ];
}
