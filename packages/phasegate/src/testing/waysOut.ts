import type { Json, JsonObject, Outcome, Phase, Run } from '@phasegate/core';
import { scopeFor } from '@phasegate/core/engine';
import { evaluate } from '@phasegate/core/model';
import { listedValues, namedValues, routeExpression, valuesToTry } from './conditionValues.ts';
import type { JsonPath } from './jsonPath.ts';
import { evidenceWith } from './sampleEvidence.ts';

/** One way to complete a phase. */
export interface WayOut {
  /** What is different about it, for people; empty where nothing is. */
  readonly words: string;
  readonly evidence: JsonObject;
  readonly outcome: Outcome | null;
}

/**
 * The ways an agent may leave a phase by: one for each outcome it may report, and, where a condition decides, with
 * evidence that turns it the other way. The first is with the evidence as it stands.
 */
export function waysOut(run: Run, phase: Phase, evidence: JsonObject): readonly WayOut[] {
  if (phase.work.kind === 'handler' || phase.work.kind === 'command') return [plain(evidence)];
  if (phase.next.kind === 'outcomes') return outcomeWays(phase.next.map, phase, evidence);
  const turned = phase.parallel === null ? turnedAround(run, phase, evidence) : null;
  return turned === null ? [plain(evidence)] : [plain(evidence), turned];
}

function plain(evidence: JsonObject): WayOut {
  return { words: '', evidence, outcome: null };
}

const REPORTABLE: readonly Outcome[] = ['ok', 'fail', 'iterate'];

function outcomeWays(
  map: Readonly<Partial<Record<Outcome, unknown>>>,
  { next }: Phase,
  evidence: JsonObject,
): readonly WayOut[] {
  const otherwise = next.kind === 'outcomes' && next.otherwise !== undefined;
  const mapped = REPORTABLE.filter(
    (outcome) => Object.hasOwn(map, outcome) || (otherwise && outcome === 'ok'),
  );
  return mapped.map((outcome) => ({ words: `outcome \`${outcome}\``, evidence, outcome }));
}

/** How much is tried until a condition is taken as one that cannot be turned. */
const MOST_TRIES = 2000;

/** The evidence changed where the condition looks at it, in as few places as it takes, so that it decides otherwise. */
function turnedAround(run: Run, phase: Phase, evidence: JsonObject): WayOut | null {
  const expression = routeExpression(phase);
  if (expression === null) return null;
  const decided = (tried: JsonObject) => evaluate(expression, scopeFor(run, { phase, evidence: tried }));
  const before = decided(evidence);
  if (!before.ok) return null;
  const scope = scopeFor(run, { phase, evidence });
  const places = namedValues(expression, phase)
    .filter(({ from }) => from === 'result')
    .map(({ path, at }) => ({
      path,
      values: [...listedValues(phase, path), ...valuesToTry(expression, at, scope)],
    }));
  let tries = 0;
  for (const { words, evidence: tried } of changes(phase, { words: [], evidence }, places)) {
    const after = decided(tried);
    if (after.ok && after.value !== before.value)
      return { words: words.join(', '), evidence: tried, outcome: null };
    if (++tries > MOST_TRIES) break;
  }
  return null;
}

interface Changed {
  readonly words: readonly string[];
  readonly evidence: JsonObject;
}

interface ChangePlace {
  readonly path: JsonPath;
  readonly values: readonly Json[];
}

/** Every change of one place, then those of two, and so on. */
function* changes(phase: Phase, from: Changed, places: readonly ChangePlace[]): Generator<Changed> {
  let level: readonly { readonly changed: Changed; readonly next: number }[] = [{ changed: from, next: 0 }];
  while (level.length > 0) {
    const deeper: { readonly changed: Changed; readonly next: number }[] = [];
    for (const { changed, next } of level) {
      for (let place = next; place < places.length; place++) {
        const { path, values } = places[place] as ChangePlace;
        for (const value of values) {
          const evidence = evidenceWith(phase, changed.evidence, { path, values: [value] });
          if (evidence === null) continue;
          const words = [...changed.words, `\`${path.join('.')}\` ${JSON.stringify(value)}`];
          yield { words, evidence };
          if (deeper.length < MOST_TRIES) deeper.push({ changed: { words, evidence }, next: place + 1 });
        }
      }
    }
    level = deeper;
  }
}
