import type { DefinitionReader, DefinitionTree } from '../../runtime/ports.ts';
import { readSource } from '../readSource.ts';
import { readPhaseModel } from './phaseModel.ts';
import { isPhaseModelKey, PHASE_MODEL_KEYS } from './phaseModelSchema.ts';
import { YamlTree } from './yamlTree.ts';

/** Reads the files of other formats as the loader of contracts reads its own. */
export const definitionReader: DefinitionReader = {
  source: readSource,
  tree: readTree,
  phaseKeys: PHASE_MODEL_KEYS,
  isPhaseKey: isPhaseModelKey,
};

function readTree(file: string, text: string): DefinitionTree {
  const tree = new YamlTree(file, text);
  const placeAt = (offset: number) => ({ file, ...tree.lines.at(offset) });
  return {
    value: tree.value,
    problems: tree.flaws.map(({ offset, code, message }) => ({ place: placeAt(offset), code, message })),
    at: (path, part = 'value') => placeAt(tree.offsetOf(path, part)),
    phase: (at, id) => readPhaseModel({ tree, at, id }),
  };
}
