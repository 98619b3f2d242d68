import {
  didYouMean,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  PhasegateError,
  type Problem,
  readPhaseId,
  type Workflow,
} from '@phasegate/core';
import type { ContractTests } from '../../runtime/ports.ts';
import { readSource } from '../readSource.ts';
import { shapeProblems } from '../yaml/shapeProblems.ts';
import { type YamlPath, YamlTree } from '../yaml/yamlTree.ts';
import { contractOf } from './contractOf.ts';
import { contractSchema } from './contractSchema.ts';

/** Reads a file of contract tests; whatever is wrong with it is thrown at once, each with its place. */
export async function readContract(root: string, path: string, workflow: Workflow): Promise<ContractTests> {
  const source = await readSource(root, path);
  if (!source.ok) throw new PhasegateError('file_unreadable', source.message);
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
  for (const { path: at, code, message, at: part } of shapeProblems(value, contractSchema)) {
    problems.push(problemAt(tree, tree.offsetOf(at, part), code, message));
  }
  for (const { at, key, code, message } of isJsonObject(value) ? meaningProblems(value, workflow) : []) {
    problems.push(problemAt(tree, tree.offsetOf(at, key ? 'key' : 'value'), code, message));
  }
  if (problems.length > 0) throw invalid(path, problems);
  return contractOf(value as JsonObject, path, (at) => tree.lines.at(tree.offsetOf(at)).line);
}

interface Meaning {
  readonly at: YamlPath;
  readonly key: boolean;
  readonly code: string;
  readonly message: string;
}

/** Names that the workflow does not have, and tests of one name. */
function meaningProblems(value: JsonObject, workflow: Workflow): readonly Meaning[] {
  const found: Meaning[] = [];
  const say = (at: YamlPath, code: string, message: string, key = false) =>
    void found.push({ at, key, code, message });
  const phases = new Set<string>(workflow.phases.map(({ id }) => String(id)));
  const phase = (name: unknown, at: YamlPath, key = false) => {
    if (
      (typeof name !== 'string' && typeof name !== 'number') ||
      phases.has(String(readPhaseId(String(name))))
    )
      return;
    say(at, 'unknown_phase', `there is no phase \`${name}\`${didYouMean(String(name), [...phases])}`, key);
  };
  // The phases of a dynamic workflow are known only once a run has read its source.
  const open = workflow.templates !== null;
  const params = Object.keys(workflow.params);
  const labels = new Set(workflow.phases.flatMap(checkNames));
  const checks = (map: Json | undefined, at: YamlPath) => {
    for (const name of Object.keys(isJsonObject(map) ? map : {})) {
      if (labels.has(name) || open) continue;
      say(
        [...at, name],
        'unknown_check',
        `there is no check \`${name}\`${didYouMean(name, [...labels])}`,
        true,
      );
    }
  };
  const given = (map: Json | undefined, at: YamlPath) => {
    for (const name of Object.keys(isJsonObject(map) ? map : {})) {
      if (params.includes(name)) continue;
      say([...at, name], 'unknown_param', `there is no param \`${name}\`${didYouMean(name, params)}`, true);
    }
  };
  const keys = (map: Json | undefined, at: YamlPath) => {
    for (const name of open || !isJsonObject(map) ? [] : Object.keys(map)) phase(name, [...at, name], true);
  };
  given(value.params, ['params']);
  given(value.domains, ['domains']);
  keys(value.evidence, ['evidence']);
  keys(value.skip, ['skip']);
  checks(value.checks, ['checks']);
  const names = new Set<string>();
  listOf(value.tests).forEach((test, index) => {
    const at = ['tests', index];
    const name = String(own(test, 'name'));
    if (names.has(name)) say([...at, 'name'], 'duplicate_test', `there are two tests \`${name}\``);
    names.add(name);
    given(own(test, 'params'), [...at, 'params']);
    checks(own(test, 'checks'), [...at, 'checks']);
    keys(own(test, 'choose'), [...at, 'choose']);
    if (!open) phase(own(own(test, 'expect'), 'phase'), [...at, 'expect', 'phase']);
    listOf(own(test, 'steps')).forEach((step, place) => {
      const here = [...at, 'steps', place];
      checks(own(step, 'checks'), [...here, 'checks']);
      if (open) return;
      phase(own(own(step, 'agent'), 'complete'), [...here, 'agent', 'complete']);
      phase(own(own(step, 'expect'), 'phase'), [...here, 'expect', 'phase']);
    });
  });
  return found;
}

function checkNames({
  preconditions,
  postconditions,
  blockers,
}: Workflow['phases'][number]): readonly string[] {
  return [...preconditions, ...postconditions, ...blockers].flatMap(({ id, label }) => [id, label]);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function problemAt(tree: YamlTree, offset: number, code: string, message: string): Problem {
  return { file: tree.file, ...tree.lines.at(offset), code, message, severity: 'error' };
}

function invalid(path: string, problems: readonly Problem[]): PhasegateError {
  return new PhasegateError('workflow_invalid', `\`${path}\` cannot be used as contract tests`, { problems });
}
