import { defineWorkflow as compileWorkflow } from '@phasegate/core';
import type { DraftProblem } from '@phasegate/core/model';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { defineWorkflow } from './defineWorkflow.ts';
import type {
  ArtifactDefinition,
  Condition,
  ConditionalNext,
  DatabaseDefinition,
  EvidenceDefinition,
  GateDefinition,
  GateOption,
  HumanGate,
  PropertyDefinition,
  WorkflowDefinition,
  WorkflowStep,
} from './definition.ts';

type Kind = 'text' | 'number' | 'flag' | 'null' | 'list' | 'object' | 'function';

/** One value of each kind, none of which has a meaning anywhere. */
const VALUES: Readonly<Record<Kind, unknown>> = {
  text: 'junk',
  number: 7,
  flag: true,
  null: null,
  list: [7],
  object: { junk: 7 },
  function: () => true,
};
const KINDS = Object.keys(VALUES) as readonly Kind[];
const ID: readonly Kind[] = ['text', 'number'];
const TARGET: readonly Kind[] = [...ID, 'null'];
const JSON_KINDS = KINDS.filter((kind) => kind !== 'function');

/** The kinds each field takes. The compiler sees to it that no field is missing here. */
type Fields<T> = { readonly [K in keyof T]-?: Kind | readonly Kind[] };

const WORKFLOW: Fields<WorkflowDefinition> = {
  type: 'text',
  name: 'text',
  version: 'text',
  description: 'text',
  initialStep: ID,
  params: 'object',
  tools: 'object',
  schemas: 'object',
  enforcement: 'object',
  start: 'text',
  capabilities: 'list',
  oneRunPer: 'text',
  database: 'object',
  gates: 'object',
  steps: 'list',
  properties: 'list',
};
const STEP: Fields<WorkflowStep> = {
  name: ID,
  id: ID,
  title: 'text',
  description: 'text',
  instructions: 'text',
  actions: 'list',
  body: ['text', 'list', 'function'],
  command: 'text',
  handler: ['function', 'object'],
  args: 'object',
  onlyWhen: 'object',
  preconditions: 'list',
  postconditions: 'list',
  parallel: 'flag',
  parallelKey: 'text',
  onEmpty: TARGET,
  timeout: ['number', 'text'],
  humanGate: 'object',
  gate: ['text', 'object'],
  gates: 'list',
  allowedTools: 'list',
  forbiddenTools: 'list',
  toolConstraints: 'object',
  writes: 'list',
  network: 'object',
  tasks: 'list',
  requiredArtifacts: 'list',
  requiredEvidence: 'object',
  next: [...TARGET, 'object'],
};
const ENFORCEMENT: Fields<NonNullable<WorkflowDefinition['enforcement']>> = {
  mode: 'text',
  ring: 'text',
  workspace: 'text',
  phaseTokens: 'object',
  leaseSeconds: 'number',
  maxReclaims: 'number',
};
const HUMAN: Fields<HumanGate> = {
  prompt: 'text',
  context: 'list',
  options: 'list',
  approvers: 'list',
  quorum: 'number',
  required: 'flag',
  timeout: 'object',
};
const OPTION: Fields<GateOption> = {
  label: 'text',
  nextStep: TARGET,
  requiresInput: 'flag',
  approves: 'flag',
};
const CONDITION: Fields<Condition> = {
  name: 'text',
  check: ['text', 'function'],
  error: 'text',
  message: 'text',
  with: 'object',
  needs: 'text',
  verify: 'flag',
  recheck: 'flag',
  severity: 'text',
};
const CONDITIONAL: Fields<ConditionalNext> = {
  condition: ['text', 'function'],
  onTrue: TARGET,
  onFalse: TARGET,
  maxIterations: 'number',
  onExhausted: TARGET,
};
const PROPERTY: Fields<PropertyDefinition> = {
  name: 'text',
  always: [...ID, 'list'],
  never: [...ID, 'list'],
  before: [...ID, 'list'],
};
const DATABASE: Fields<DatabaseDefinition> = {
  file: 'text',
  migrations: 'text',
  keep: 'number',
  helpers: 'object',
};
const ARTIFACT: Fields<ArtifactDefinition> = {
  type: 'text',
  description: 'text',
  schema: ['text', 'object', 'flag'],
};
const EVIDENCE: Fields<EvidenceDefinition> = {
  type: 'text',
  rule: 'text',
  falseOk: 'flag',
  description: 'text',
};
const GATE: Fields<GateDefinition> = { blockers: 'list', human: 'object' };
const TASK: Fields<NonNullable<WorkflowStep['tasks']>[number]> = {
  name: 'text',
  instructions: 'text',
  acceptanceCriteria: 'list',
};
/** An `Arg` says `null` for what it leaves out, and so may anyone who writes one by hand. */
const PARAM: Readonly<Record<string, readonly Kind[]>> = {
  type: ['text', 'null'],
  description: ['text', 'null'],
  choices: ['list', 'null'],
  min: ['number', 'null'],
  max: ['number', 'null'],
  constant: JSON_KINDS,
  default: JSON_KINDS,
  required: ['flag', 'null'],
};

/** A definition that has every part, and where in it and in its draft each kind of part stands. */
const PARTS: readonly [what: string, fields: object, path: readonly (string | number)[]][] = [
  ['a workflow', WORKFLOW, []],
  ['a step', STEP, ['steps', 0]],
  ['the enforcement', ENFORCEMENT, ['enforcement']],
  ['the database', DATABASE, ['database']],
  ['a property', PROPERTY, ['properties', 0]],
  ['a param', PARAM, ['params', 'mode']],
  ['a gate', GATE, ['gates', 'ready']],
  ['a check of a gate', CONDITION, ['gates', 'ready', 'blockers', 0]],
  ['a precondition', CONDITION, ['steps', 0, 'preconditions', 0]],
  ['a postcondition', CONDITION, ['steps', 0, 'postconditions', 0]],
  ['a human gate', HUMAN, ['steps', 0, 'humanGate']],
  ['an option', OPTION, ['steps', 0, 'humanGate', 'options', 0]],
  ['a task', TASK, ['steps', 0, 'tasks', 0]],
  ['an artifact', ARTIFACT, ['steps', 0, 'requiredArtifacts', 0]],
  ['a piece of evidence', EVIDENCE, ['steps', 0, 'requiredEvidence', 'count']],
  ['a way on', CONDITIONAL, ['steps', 0, 'next']],
];

describe('a field of a definition that is of another kind than it may be is a problem, and tells where', () => {
  test('and the definition the wrong ones are put into has none', () => {
    expect(problemsOf(valid())).toEqual([]);
  });

  const wrong = PARTS.flatMap(([what, fields, path]) =>
    Object.entries(fields as Readonly<Record<string, Kind | readonly Kind[]>>).flatMap(([field, takes]) =>
      KINDS.filter((kind) => ![takes].flat().includes(kind)).map(
        (kind) => [what, field, kind, path] as const,
      ),
    ),
  );

  test.each(wrong)('%s: `%s` as %s [S3.78]', (_, field, kind, path) => {
    const problems = problemsOf(put(valid(), [...path, field], VALUES[kind]));

    expect(problems).not.toEqual([]);
    for (const problem of problems) {
      expect(Array.isArray(problem.path)).toBe(true);
      expect(problem.message).not.toBe('');
    }
    // Something is said about the part itself, and not only about what no longer fits to it.
    const place = path.filter((step) => typeof step === 'number').length;
    expect(problems.some((problem) => problem.path.length > place)).toBe(true);
  });

  test('junk at any place of a definition is a problem with a path or a workflow, and nothing is thrown [S3.78]', () => {
    const places = placesIn(valid());
    expect(places.length).toBeGreaterThan(60);

    fc.assert(
      fc.property(fc.constantFrom(...places), junk, (path, value) => {
        const problems = problemsOf(put(valid(), path, value));

        for (const problem of problems) {
          expect(problem.path.every((step) => typeof step === 'string' || typeof step === 'number')).toBe(
            true,
          );
          expect(problem.message).not.toBe('');
        }
        expect(Object.isFrozen(Object.prototype)).toBe(false);
      }),
      { numRuns: cases({ quick: 600, full: 15_000 }) },
    );
  });

  test('junk instead of a definition is a problem too [S3.78]', () => {
    fc.assert(
      fc.property(junk, (value) => problemsOf(value).length > 0),
      { numRuns: cases({ quick: 100, full: 2000 }) },
    );
  });
});

function valid(): WorkflowDefinition {
  return {
    type: 'full',
    name: 'Full',
    version: '1',
    description: 'Everything',
    initialStep: 'first',
    params: {
      mode: {
        type: 'string',
        description: 'How',
        choices: ['full', 'quick'],
        default: 'full',
        required: false,
      },
    },
    tools: { reading: ['read_files'] },
    schemas: { plan: { type: 'object' } },
    enforcement: {
      mode: 'strict',
      ring: 'served',
      phaseTokens: { expirySeconds: 60 },
      leaseSeconds: 60,
      maxReclaims: 1,
    },
    capabilities: ['linux'],
    database: {
      file: 'data/a.db',
      migrations: 'migrations',
      keep: 3,
      helpers: { there: (db) => db !== undefined },
    },
    gates: { ready: { blockers: [check('ready')] } },
    properties: [{ name: 'ends', always: 'second' }],
    steps: [
      {
        id: 'first',
        name: 'First',
        title: 'The first',
        description: 'One',
        instructions: 'Do',
        actions: ['this'],
        body: ['Title', 'Text'],
        args: { confidence: { min: 1, max: 5, type: 'integer' } as never },
        onlyWhen: { mode: ['full'] },
        preconditions: [check('before')],
        postconditions: [check('after')],
        timeout: '5m',
        humanGate: {
          prompt: 'Good?',
          context: ['count'],
          options: [{ label: 'Yes', nextStep: 'second', requiresInput: false }, { label: 'Go on' }],
          approvers: ['ada'],
          quorum: 1,
          required: false,
          timeout: { after: '1h', then: 'park' },
        },
        gates: ['ready'],
        allowedTools: ['reading', 'write_files'],
        forbiddenTools: ['bash'],
        toolConstraints: { write_files: { allowed: ['src/**'], denied: ['src/x'] } },
        writes: ['src/**'],
        network: { hosts: ['registry.example.org'] },
        tasks: [{ name: 'Look', instructions: 'Look', acceptanceCriteria: ['seen'] }],
        requiredArtifacts: [{ type: 'plan', description: 'A plan', schema: 'plan' }],
        requiredEvidence: { count: { type: 'int', rule: 'present', description: 'How many' } },
        next: {
          condition: 'result.count > 1',
          onTrue: 'second',
          onFalse: 'first',
          maxIterations: 2,
          onExhausted: null,
        },
      },
      {
        name: 'second',
        handler: () => ['ok', {}] as const,
        next: { ok: null, iterate: 'second', maxIterations: 3 },
      },
    ],
  };
}

function check(name: string): Condition {
  return { name, check: () => true, error: 'It does not hold', needs: 'claimed' };
}

function problemsOf(definition: unknown): readonly DraftProblem[] {
  const { draft, problems } = defineWorkflow(definition as WorkflowDefinition);
  const compiled = compileWorkflow(
    { ...draft, code: 'x', module: 'w.ts' },
    { checks: { function: { class: 'verified', problems: () => [] } } as never },
  );
  return [...problems, ...(compiled.ok ? [] : compiled.problems)].filter(
    ({ severity }) => severity === 'error',
  );
}

function put(into: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(into)) return into.with(Number(step), put(into[Number(step)], rest, value));
  const object = (into ?? {}) as Record<string, unknown>;
  return { ...object, [step]: put(object[step], rest, value) };
}

function placesIn(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [
    ...(path.length === 0 ? [] : [path]),
    ...members.flatMap(([key, part]) => placesIn(part, [...path, key])),
  ];
}

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
  }),
  fc.constantFrom<unknown>(
    () => true,
    Symbol('junk'),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    new Date(0),
    /x/,
  ),
  fc.constantFrom<unknown>(
    '',
    '__proto__',
    'constructor',
    ['__proto__'],
    { __proto__: null },
    { constructor: 7 },
  ),
);
