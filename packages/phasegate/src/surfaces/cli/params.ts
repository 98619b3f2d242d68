import { canonicalJson, type Json, type JsonObject, type Param, type StartRequest } from '@phasegate/core';
import { goalProblem, jsonProblem } from '@phasegate/core/model';
import type { Arguments, Invocation, OptionSpecs } from './command.ts';
import { usageError } from './usage.ts';

/** What a run is started with. */
export const START_OPTIONS = {
  target: { type: 'text', value: 'FILE', summary: 'what the run is about' },
  param: { type: 'texts', value: 'k=v', summary: 'a parameter of the workflow' },
  option: { type: 'texts', value: 'k=v', summary: 'the same as --param' },
} as const satisfies OptionSpecs;

/** The goal a command line gives behind the workflow; one that no run can have is a fault of the call. */
export function goalOf({ positionals }: Pick<Arguments, 'positionals'>): Pick<StartRequest, 'goal'> {
  const goal = positionals[1];
  if (goal === undefined) return {};
  const problem = goalProblem(goal);
  if (problem !== null)
    throw usageError(problem, 'give a few words in quotes, such as `"add a subtract function"`');
  return { goal };
}

/** The params a command line gives, as the workflow of this name declares them. */
export async function paramsOf({ args, declaredParams }: Invocation, name: string): Promise<JsonObject> {
  const written = [
    ...splitParams(args.texts('param'), 'param'),
    ...splitParams(args.texts('option'), 'option'),
  ];
  // The definition is read only where a value's type depends on it.
  if (written.length === 0) return {};
  return readParams(written, await declaredParams(name));
}

/** One `k=v` as it was written. */
export interface WrittenParam {
  readonly key: string;
  readonly text: string;
}

/** Splits `k=v` words; `--option` is another name of `--param`, one bag holds both. */
export function splitParams(words: readonly string[], option: 'param' | 'option'): readonly WrittenParam[] {
  return words.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) {
      throw usageError(
        `\`--${option} ${word}\` is not of the form \`key=value\``,
        `write \`--${option} NAME=VALUE\`, with the name of a param of the workflow`,
      );
    }
    return { key: word.slice(0, at), text: word.slice(at + 1) };
  });
}

/** The values, by what the workflow declares: text for a string, else JSON where it is JSON. */
export function readParams(
  written: readonly WrittenParam[],
  declared: Readonly<Record<string, Pick<Param, 'type'>>>,
): JsonObject {
  const params = new Map<string, Json>();
  for (const { key, text } of written) {
    const param = Object.hasOwn(declared, key) ? declared[key] : undefined;
    const value = valueFrom(text, param);
    const unfit = jsonProblem(value);
    if (unfit !== null) throw usageError(`\`${key}\` ${unfit}`);
    const before = params.get(key);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(value)) {
      throw usageError(`\`${key}\` is given twice with two values`);
    }
    params.set(key, value);
  }
  return Object.fromEntries(params);
}

function valueFrom(text: string, param: Pick<Param, 'type'> | undefined): Json {
  if (param?.type === 'string') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // Not JSON: a bare word. Whether the param may be text is for the engine to say.
    return text;
  }
}
