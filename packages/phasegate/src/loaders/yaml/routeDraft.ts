import { isJsonObject, OUTCOMES, own, type Target } from '@phasegate/core';
import type { RouteDraft } from '@phasegate/core/model';
import { defined, type Spot, type Spots, targetOf } from './spots.ts';
import type { YamlPath } from './yamlTree.ts';

/** Translates `next`, or `transitions`, of a phase. */
export function routeDraft(spots: Spots, phase: Spot, path: YamlPath): RouteDraft | undefined {
  const route = spots.get(phase, own(phase.value, 'next') === undefined ? 'transitions' : 'next', path);
  if (route.value === undefined) return undefined;
  if (!isJsonObject(route.value)) {
    const to = targetOf(route.value);
    return to === undefined ? undefined : { to };
  }
  const loop = defined({
    maxIterations: spots.number(route, 'max_iterations', [...path, 'maxIterations']),
    onExhausted: spots.target(route, 'on_exhausted', [...path, 'onExhausted']),
  });
  const condition = spots.get(route, 'condition', [...path, 'condition']).value;
  const onTrue = spots.target(route, 'on_true', [...path, 'onTrue']);
  const onFalse = spots.target(route, 'on_false', [...path, 'onFalse']);
  if (condition !== undefined || onTrue !== undefined || onFalse !== undefined) {
    if (typeof condition !== 'string' || onTrue === undefined || onFalse === undefined) return undefined;
    return { condition, onTrue, onFalse, ...loop };
  }
  const outcomes: Record<string, Target> = {};
  spots.map.put([...path, 'outcomes'], route.at);
  for (const outcome of [...OUTCOMES, '_default']) {
    const to = targetOf(own(route.value, outcome));
    if (to !== undefined) outcomes[outcome] = to;
  }
  return { outcomes, ...loop };
}
