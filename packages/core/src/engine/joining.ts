import type { JsonObject } from '../json.ts';
import type { Outcome } from '../model/workflow.ts';
import type { Item, Result } from './run.ts';

type Items = Readonly<Record<string, Item>>;

/** The joined result of a parallel phase (design 4a: after the join `result.items` maps key to result). */
export function joinedResult(items: Items): Result {
  const entries = Object.entries(items);
  const words = entries.flatMap(([key, { word }]) => (word === undefined ? [] : [[key, word] as const]));
  const outcomes = entries.flatMap(([key, { outcome = 'ok' }]) =>
    outcome === 'ok' ? [] : [[key, outcome] as const],
  );
  return {
    evidence: { items: Object.fromEntries(entries.map(([key, item]) => [key, item.evidence ?? {}])) },
    ...(words.length === 0 ? {} : { word: { items: Object.fromEntries(words) } }),
    ...(entries.some(([, item]) => item.letThrough === true) ? { letThrough: true } : {}),
    ...(outcomes.length === 0 ? {} : { outcomes: Object.fromEntries(outcomes) }),
  };
}

/** What came of the phase: no item speaks for the others, and the order in which they ended does not matter. */
export function joinedOutcome(items: Items): Outcome {
  const outcomes = Object.values(items).map(({ outcome = 'ok' }) => outcome);
  if (outcomes.includes('fail')) return 'fail';
  if (outcomes.includes('iterate')) return 'iterate';
  return outcomes.length > 0 && outcomes.every((outcome) => outcome === 'skip') ? 'skip' : 'ok';
}

/** What the handlers of all items returned, merged in the order of their keys (as listed, whole numbers first), whichever ended first. */
export function joinedState(items: Items): JsonObject {
  return Object.assign({}, ...Object.values(items).map(({ state }) => state ?? {}));
}
