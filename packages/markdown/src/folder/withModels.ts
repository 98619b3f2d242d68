import type { PhaseModel } from '@phasegate/core/ports';
import { mergeModels } from './mergeModels.ts';
import type { PlacedPhase } from './placedPhase.ts';
import type { Report } from './report.ts';

/** A phase with what its files say in the keys of the contract, beside the evidence it asks for. */
export function withModels(phase: PlacedPhase, models: readonly PhaseModel[], report: Report): PlacedPhase {
  const { draft } = phase;
  const { fields, artifacts, postconditions, ...more } = mergeModels(draft.id, models, report);
  const allFields = added(fields, draft.fields);
  const allArtifacts = added(artifacts, draft.artifacts);
  // The author's own come first, so that their places can be told by their index.
  const allPostconditions = added(postconditions, draft.postconditions);
  return {
    ...phase,
    draft: {
      ...draft,
      ...more,
      ...(allFields === undefined ? {} : { fields: allFields }),
      ...(allArtifacts === undefined ? {} : { artifacts: allArtifacts }),
      ...(allPostconditions === undefined ? {} : { postconditions: allPostconditions }),
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
