import { type Json, own } from '@phasegate/core';
import { didYouMean, MOST_PROBLEMS, unknownKey } from '@phasegate/core/model';
import type * as z from 'zod';
import { type Spelling, spelled, spellingOf } from './spelling.ts';
import { conditionalNext, workflowSchema } from './workflowSchema.ts';
import type { YamlPath } from './yamlTree.ts';

/** Something wrong with the shape of a contract, by its place in the YAML. */
export interface ShapeProblem {
  readonly path: YamlPath;
  readonly code: string;
  readonly message: string;
  /** Whether the key is at fault rather than its value. */
  readonly at: 'key' | 'value';
}

type Issue = z.core.$ZodIssue;

/** Everything wrong with the shape of a contract: keys, types, and values out of a fixed set. */
export function shapeProblems(value: Json, schema: z.ZodType = workflowSchema): ShapeFound {
  const spelling = spellingOf(value);
  const parsed = schema.safeParse(value);
  const problems: ShapeProblem[] = [];
  let leftOut = 0;
  for (const issue of parsed.success ? [] : parsed.error.issues) {
    // Each of them is at least one.
    if (problems.length >= MOST_PROBLEMS)
      leftOut += issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
    else problems.push(...problemsOf(issue, [], value));
  }
  const kept = problems.slice(0, MOST_PROBLEMS);
  return {
    problems: kept.map((problem) => ({ ...problem, message: inSpelling(problem, spelling) })),
    leftOut: leftOut + problems.length - kept.length,
  };
}

/** The first of what is wrong, and how much more there is. */
export interface ShapeFound {
  readonly problems: readonly ShapeProblem[];
  readonly leftOut: number;
}

/** The same as one list, whose last says how much more there is. */
export function shapeInOne(value: Json, schema: z.ZodType): readonly ShapeProblem[] {
  const { problems, leftOut } = shapeProblems(value, schema);
  const message = `${leftOut} more problems are left out`;
  return leftOut === 0 ? problems : [...problems, { path: [], code: 'more_problems', message, at: 'value' }];
}

/** What the author wrote is quoted as it is; only what they might have meant is put in their spelling. */
function inSpelling({ code, message }: ShapeProblem, spelling: Spelling): string {
  if (code === 'conflict') return message;
  if (code !== 'unknown_key') return spelled(message, spelling);
  const [said = '', ...meant] = message.split(' (did you mean ');
  return [said, ...meant.map((text) => spelled(text, spelling))].join(' (did you mean ');
}

function issuesOf(schema: z.ZodType, base: YamlPath, value: Json): readonly ShapeProblem[] {
  const parsed = schema.safeParse(valueAt(value, base));
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => problemsOf(issue, base, value));
}

const CONDITION_KEYS = ['condition', 'onTrue', 'on_true', 'onFalse', 'on_false'];

/** Of two maps the library prefers the one that lacks nothing; an incomplete condition is not a map of outcomes. */
function isMisreadCondition(path: YamlPath, unknown: readonly string[]): boolean {
  const isRoute = path.at(-1) === 'next' || path.at(-1) === 'transitions';
  return isRoute && unknown.some((key) => CONDITION_KEYS.includes(key));
}

function problemsOf(issue: Issue, base: YamlPath, value: Json): readonly ShapeProblem[] {
  const path = [...base, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  const found = valueAt(value, path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      if (isMisreadCondition(path, issue.keys)) return issuesOf(conditionalNext, path, value);
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) => ({
        path: [...path, key],
        code: 'unknown_key',
        message: messages[index] ?? unknownKey(key, []),
        at: 'key',
      }));
    }
    case 'invalid_union':
      return unionProblems(issue, path, value);
    case 'invalid_type':
      if (found === undefined) return [missing(path)];
      return [wrongType(path, [nounOf(issue.expected)], found)];
    case 'invalid_value': {
      const choices = issue.values.map((choice) => `\`${String(choice)}\``).join(', ');
      const hint = typeof found === 'string' ? didYouMean(found, issue.values.map(String)) : '';
      const message = `\`${nameOf(path)}\` must be one of ${choices}, not ${show(found)}${hint}`;
      return [{ path, code: 'bad_value', message, at: 'value' }];
    }
    case 'custom': {
      const code = String(issue.params?.code ?? 'bad_value');
      return [{ path, code, message: issue.message, at: code === 'missing_key' ? 'value' : 'key' }];
    }
    case 'too_small':
    case 'too_big': {
      const limit = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
      const message = issue.origin === 'string' ? 'must not be empty' : `must be ${limit}`;
      return [{ path, code: 'bad_value', message: `\`${nameOf(path)}\` ${message}`, at: 'value' }];
    }
    default:
      return [{ path, code: 'bad_value', message: `\`${nameOf(path)}\` is not valid`, at: 'value' }];
  }
}

/** One message for a value that may be several things: about the one it was most likely meant to be. */
function unionProblems(
  issue: Issue & { code: 'invalid_union' },
  path: YamlPath,
  value: Json,
): readonly ShapeProblem[] {
  const found = valueAt(value, path);
  if (found === undefined) return [missing(path)];
  const isWrongType = (branch: readonly Issue[]) =>
    branch.some((candidate) => candidate.path.length === 0 && candidate.code === 'invalid_type');
  const fitting = issue.errors.filter((branch) => !isWrongType(branch));
  if (fitting.length === 0) {
    const nouns = issue.errors.flatMap((branch) =>
      branch.flatMap((candidate) => (candidate.code === 'invalid_type' ? [nounOf(candidate.expected)] : [])),
    );
    return [wrongType(path, [...new Set(nouns)], found)];
  }
  const unknownKeys = (branch: readonly Issue[]) =>
    branch.reduce(
      (sum, candidate) => sum + (candidate.code === 'unrecognized_keys' ? candidate.keys.length : 0),
      0,
    );
  const [best] = fitting.toSorted((a, b) => unknownKeys(a) - unknownKeys(b) || a.length - b.length);
  return (best ?? []).flatMap((candidate) => problemsOf(candidate, path, value));
}

function missing(path: YamlPath): ShapeProblem {
  const parent = path.length < 2 ? 'the workflow' : `\`${path.slice(0, -1).join('.')}\``;
  return { path, code: 'missing_key', message: `${parent} needs \`${nameOf(path)}\``, at: 'value' };
}

function wrongType(path: YamlPath, nouns: readonly string[], found: Json | undefined): ShapeProblem {
  const wanted = nouns.length < 2 ? nouns.join('') : `${nouns.slice(0, -1).join(', ')} or ${nouns.at(-1)}`;
  const message = `\`${nameOf(path)}\` must be ${wanted}, not ${show(found)}`;
  return { path, code: 'wrong_type', message, at: 'value' };
}

function valueAt(value: Json, path: YamlPath): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path) here = own(here, String(step));
  return here;
}

function nameOf(path: YamlPath): string {
  const last = path.at(-1);
  return typeof last === 'number' ? `${path.at(-2) ?? ''}[${last}]` : (last ?? 'the file');
}

function nounOf(expected: string): string {
  switch (expected) {
    case 'string':
      return 'text';
    case 'array':
      return 'a list';
    case 'record':
    case 'object':
      return 'a map';
    case 'boolean':
      return '`true` or `false`';
    case 'null':
      return '`null`';
    case 'int':
      return 'a whole number';
    default:
      return `a ${expected}`;
  }
}

function show(value: Json | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return value.length > 60 ? 'text' : `\`${value}\``;
  return `\`${String(value)}\``;
}
