import { isJsonObject, type JsonObject, PhasegateError, type Problem, type Workflow } from '@phasegate/core';
import type { ContractTests } from '../../runtime/ports.ts';
import { readSource } from '../readSource.ts';
import { shapeInOne } from '../yaml/shapeProblems.ts';
import { YamlTree } from '../yaml/yamlTree.ts';
import { contractOf } from './contractOf.ts';
import { contractSchema } from './contractSchema.ts';
import { meaningProblems } from './meaningProblems.ts';

/** Reads a file of contract tests; whatever is wrong with it is thrown at once, each with its place. */
export async function readContract(root: string, path: string, workflow: Workflow): Promise<ContractTests> {
  const source = await readSource(root, path);
  if (!source.ok) {
    const { code, message, line, column } = source;
    throw invalid(path, [{ file: path, line, column, code, message, severity: 'error' }]);
  }
  const tree = new YamlTree(path, source.text);
  const problems: Problem[] = tree.flaws.map(({ offset, code, message }) =>
    problemAt(tree, offset, code, message),
  );
  if (problems.length > 0) throw invalid(path, problems);
  const { value } = tree;
  if (value === null || value === undefined) {
    const message = 'the file is empty; contract tests start with `tests:` and at least one test';
    throw invalid(path, [problemAt(tree, 0, 'empty_file', message)]);
  }
  for (const { path: at, code, message, at: part } of shapeInOne(value, contractSchema)) {
    problems.push(problemAt(tree, tree.offsetOf(at, part), code, message));
  }
  for (const { at, key, code, message } of isJsonObject(value) ? meaningProblems(value, workflow) : []) {
    problems.push(problemAt(tree, tree.offsetOf(at, key ? 'key' : 'value'), code, message));
  }
  if (problems.length > 0) throw invalid(path, problems);
  return contractOf(value as JsonObject, path, (at) => tree.lines.at(tree.offsetOf(at)).line);
}

function problemAt(tree: YamlTree, offset: number, code: string, message: string): Problem {
  return { file: tree.file, ...tree.lines.at(offset), code, message, severity: 'error' };
}

function invalid(path: string, problems: readonly Problem[]): PhasegateError {
  return new PhasegateError('workflow_invalid', `\`${path}\` cannot be used as contract tests`, { problems });
}
