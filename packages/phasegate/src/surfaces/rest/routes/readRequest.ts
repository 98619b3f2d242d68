import type { z } from '@hono/zod-openapi';
import { kindOf } from '@phasegate/core/contract';
import { didYouMean } from '@phasegate/core/model';
import { type FieldProblem, RequestRefused } from '../problem.ts';
import type { Endpoint } from './endpoint.ts';

/** What a request says: as it was sent, and then by the schemas of its route. */
export interface Read {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Reads a request; everything that is wrong with it is said at once, and nothing of it is passed on. */
export function readRequest(sent: Read, route: Endpoint): Read {
  const params = route.params?.safeParse(sent.params);
  const query = route.query?.safeParse(sent.query);
  const body = route.body?.safeParse(sent.body);
  if (params?.success !== false && query?.success !== false && body?.success !== false)
    return { params: params?.data, query: query?.data, body: body?.data };
  throw refusalOf([
    { parsed: params, value: sent.params, schema: route.params },
    { parsed: query, value: sent.query, schema: route.query },
    { parsed: body, value: sent.body, schema: route.body },
  ]);
}

interface Part {
  readonly parsed: z.ZodSafeParseResult<unknown> | undefined;
  readonly value: unknown;
  readonly schema: z.ZodType | undefined;
}

function refusalOf(parts: readonly Part[]): RequestRefused {
  const problems: FieldProblem[] = [];
  const named = new Set<string>();
  let unnamed = 0;
  for (const { parsed, value, schema } of parts) {
    if (parsed === undefined || parsed.success || schema === undefined) continue;
    for (const issue of parsed.error.issues) {
      unnamed += Math.max(0, keysIn(issue) - MOST_PROBLEMS);
      for (const found of problemsOf(issue, value, schema)) {
        // What is wrong in two ways is said once.
        if (named.has(found.field)) continue;
        named.add(found.field);
        if (problems.length < MOST_PROBLEMS) problems.push(found);
        else unnamed++;
      }
    }
  }
  const [first] = problems as [FieldProblem, ...FieldProblem[]];
  const others = problems.length - 1 + unnamed;
  const more = others === 0 ? '' : `, and ${others} more`;
  const message =
    first.field === '' ? `the request ${first.message}` : `\`${shown(first.field)}\` ${first.message}`;
  return new RequestRefused('request_invalid', `${message}${more}`, { fields: problems });
}

const LONGEST_ECHO = 200;
/** What is wrong is said at once, but no answer grows with what was sent. */
const MOST_PROBLEMS = 50;

function keysIn(issue: Issue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 0;
}

type Issue = z.core.$ZodIssue;

function problemsOf(issue: Issue, input: unknown, schema: z.ZodType): readonly FieldProblem[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const known = path.length === 0 ? keysOf(schema) : [];
    return issue.keys.slice(0, MOST_PROBLEMS).map((key) => ({
      field: fieldOf([...path, key]),
      message: isWorktreeOfStart(key, known)
        ? 'cannot be asked of a server, which works in its own folder: run `phasegate start WORKFLOW --worktree` on its machine'
        : `is not known here${didYouMean(shown(key), known)}`,
    }));
  }
  return [{ field: fieldOf(path), message: messageOf(issue, valueAt(input, issue.path)) }];
}

/** The command has an option of that name, so callers look for it here. */
function isWorktreeOfStart(key: string, known: readonly string[]): boolean {
  return key === 'worktree' && known.includes('workflow');
}

function messageOf(issue: Issue, value: unknown): string {
  if (value === undefined && issue.code !== 'custom') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${WORDS[issue.expected] ?? issue.expected}, got ${kindOf(value)}`;
    case 'too_big':
      return `must ${measured(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'too_small':
      return `must ${measured(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((one) => `\`${String(one)}\``).join(', ')}`;
    default:
      return issue.message;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function measured(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `have ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `be ${bound} ${limit}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value;
}

function keysOf(schema: z.ZodType): readonly string[] {
  return 'shape' in schema && typeof schema.shape === 'object' ? Object.keys(schema.shape ?? {}) : [];
}

function fieldOf(path: readonly string[]): string {
  return path.map(shown).join('.');
}

/** A caller's own words, short enough to be repeated. */
function shown(text: string): string {
  return text.length > LONGEST_ECHO ? `${text.slice(0, LONGEST_ECHO)}…` : text;
}
