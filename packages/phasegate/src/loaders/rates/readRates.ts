import {
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  PhasegateError,
  type Problem,
  type Workflow,
} from '@phasegate/core';
import { type PhaseRates, type Rates, rateProblems } from '@phasegate/proofs';
import { shapeInOne } from '../yaml/shapeProblems.ts';
import { camelCase } from '../yaml/spelling.ts';
import { YamlTree } from '../yaml/yamlTree.ts';
import { ratesSchema } from './ratesSchema.ts';

/** Reads the text of a file of rates; whatever is wrong with it is thrown at once, each with its place. */
export function readRates(file: string, text: string, workflow: Workflow): Rates {
  const tree = new YamlTree(file, text);
  const at = (offset: number, code: string, message: string): Problem => {
    return { file, ...tree.lines.at(offset), code, message, severity: 'error' };
  };
  const flaws = tree.flaws.map(({ offset, code, message }) => at(offset, code, message));
  if (flaws.length > 0) throw invalid(file, flaws);
  const { value } = tree;
  if (value === null || value === undefined) {
    const message = 'the file is empty; rates start with `phases:` and at least one phase';
    throw invalid(file, [at(0, 'empty_file', message)]);
  }
  const shape = shapeInOne(value, ratesSchema).map(({ path, code, message, at: part }) =>
    at(tree.offsetOf(path, part), code, message),
  );
  // What has the right shape is looked at further even where something else has not: everything is said at once.
  const rates = ratesIn(value);
  const meaning = rateProblems(workflow, rates).map(({ path, key, code, message }) => {
    const [phase = '', name, ...rest] = path;
    const spelt = typeof name === 'string' && !hasKey(value, phase, name) ? camelCase(name) : name;
    const place = ['phases', phase, ...(spelt === undefined ? [] : [spelt]), ...rest];
    return at(tree.offsetOf(place, key ? 'key' : 'value'), code, message);
  });
  const problems = [...shape, ...meaning].sort(
    (one, other) => one.line - other.line || one.column - other.column,
  );
  if (problems.length > 0) throw invalid(file, problems);
  return rates;
}

/** The parts that have the shape of rates. */
function ratesIn(value: Json): Rates {
  const phases = own(value, 'phases');
  if (!isJsonObject(phases)) return {};
  return Object.fromEntries(Object.entries(phases).map(([id, said]) => [id, phaseIn(said)]));
}

function phaseIn(said: Json): PhaseRates {
  const kept = Object.entries(isJsonObject(said) ? said : {}).flatMap(([key, value]): [string, Json][] => {
    const name = snakeCase(key);
    const alone = { phases: { any: { [name]: value } } };
    return ratesSchema.safeParse(alone).success ? [[name, value]] : [];
  });
  return Object.fromEntries(kept) as JsonObject as PhaseRates;
}

function hasKey(value: Json, phase: string | number, name: string): boolean {
  return own(own(own(value, 'phases'), String(phase)), name) !== undefined;
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function invalid(file: string, problems: readonly Problem[]): PhasegateError {
  return new PhasegateError('workflow_invalid', `\`${file}\` cannot be used as rates`, { problems });
}
