import type { PhaseId } from '@phasegate/core';
import type { DefinitionPath, PhaseModel } from '@phasegate/core/ports';
import type { PlacedObject } from './jsonTree.ts';
import type { Report } from './report.ts';

/** A part of a file that may hold keys of the contract. */
export interface ModelSource {
  readonly source: PlacedObject;
  /** Where in the file the keys stand. */
  readonly at: DefinitionPath;
  readonly id: PhaseId;
}

/** What it says of a phase; what is wrong is reported. */
export function readModel({ source, at, id }: ModelSource, report: Report): PhaseModel {
  const model = source.tree.phase(at, id);
  for (const problem of model.problems) report.error(problem.place, problem);
  return model;
}
