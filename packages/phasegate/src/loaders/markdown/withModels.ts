import { defined } from '../yaml/spots.ts';
import { mergeModels, type PhaseModel } from './phaseModel.ts';
import type { PlacedPhase } from './placedPhase.ts';
import type { Report } from './report.ts';

/** A phase with what its files say in the keys of the contract, beside the evidence it asks for. */
export function withModels(phase: PlacedPhase, models: readonly PhaseModel[], report: Report): PlacedPhase {
  const { fields, artifacts, postconditions, ...more } = mergeModels(phase.draft.id, models, report);
  const { draft } = phase;
  return {
    ...phase,
    draft: {
      ...draft,
      ...more,
      ...defined({
        fields: added(fields, draft.fields),
        artifacts: added(artifacts, draft.artifacts),
        // The author's own come first, so that their places can be told by their index.
        postconditions: added(postconditions, draft.postconditions),
      }),
    },
    locate: (path) => models.map((model) => model.locate(path)).find((place) => place !== null) ?? null,
  };
}

function added<T>(
  first: readonly T[] | undefined,
  second: readonly T[] | undefined,
): readonly T[] | undefined {
  if (first === undefined) return second;
  return second === undefined ? first : [...first, ...second];
}
