import { readFileSync } from 'node:fs';
import { ERROR_CODES, type Json, type JsonObject, own } from '@phasegate/core';
import { array as arrayOf, asyncProperty, assert as check, nat, record } from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { phasegate } from '../e2e/cli.ts';
import { readUnion } from '../surface/readUnion.ts';
import { anyRequest, type Known } from './anyRequest.ts';
import { type Operation, operationsOf, validatorsOf } from './openapiDocument.ts';
import { expectStatus, laySiege, type Siege, textAt } from './siege.ts';
import { bearer, type Got } from './wire.ts';

const FILES = {
  'change.workflow.yaml': `
workflow: change
params: { mode: { type: string, choices: [quick, full], default: full } }
gates:
  ship: { human: { prompt: Ship it?, options: [{ label: Go, next: DONE }, { label: Back, next: PLAN, requires_input: true }] } }
phases:
  PLAN:
    allowed_tools: [read_files, write_files, list_files, grep]
    writes: ["out/**"]
    tasks: [{ name: Look, instructions: Look around }]
    required_artifacts:
      - { type: plan, schema: { type: object, required: [summary, steps], additionalProperties: false,
          properties: { summary: { type: string }, steps: { type: array, minItems: 1, items: { type: string } } } } }
    next: EACH
  EACH: { parallel: true, parallel_key: plan.steps, next: SHIP }
  SHIP: { gate: ship, next: DONE }
  DONE: { next: null }
`,
  'note.workflow.yaml': 'workflow: note\nphases: { WRITE: { allowed_tools: [read_files] }, READ: {} }\n',
  'brief.md': 'Change it.\n',
};
const PLAN = { plan: { summary: 'change it', steps: ['one', 'two'] } };
const SOURCE = new URL('../../packages/core/src/engine/verdict.ts', import.meta.url);
const CODES = new Set([
  ...Object.keys(ERROR_CODES),
  ...readUnion(readFileSync(SOURCE, 'utf8'), 'BlockerCode'),
]);

let siege: Siege;
let document: JsonObject;
let key: string;
let run: string;
let token: string;

beforeAll(async () => {
  siege = await laySiege({ files: FILES, human: true });
  key = await siege.agent('ada');
  await siege.queue('change');
  ({ run, token } = await siege.claim('ada', key));
  document = expectStatus(await siege.send({ path: '/openapi.json' }), 200).body;
});

test('the document is OpenAPI 3.1, and says of every route what it takes, answers and refuses [S2.103]', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(document.info).toMatchObject({ title: 'Phasegate', version: expect.any(String) });
  const validate = validatorsOf(document);
  const operations = operationsOf(document);
  expect(operations.length).toBeGreaterThan(30);

  for (const operation of operations) {
    const { method, template, parameters, answers } = operation;
    const where = `${method} ${template}`;
    expect(
      [...answers.keys()].some((status) => status >= 400),
      where,
    ).toBe(true);
    const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const told = parameters.filter(({ place }) => place === 'path');
    expect(told.map(({ name }) => name).sort(), where).toEqual(inPath.sort());
    for (const [status, answer] of answers) {
      if (answer === null) continue;
      expect(answer.type === 'application/problem+json', where).toBe(status >= 400);
      expect(() => validate(answer.schema), where).not.toThrow();
    }
    if (operation.body !== undefined) expect(() => validate(operation.body ?? null), where).not.toThrow();
  }
});

test('any calls, in any order, by anybody: each is answered as the document says, and never with a fault', async () => {
  const validate = validatorsOf(document);
  const operations = operationsOf(document).filter(({ template }) => !UNUSUAL.has(template));
  const known: Known & { readonly credentials: (string | null)[] } = {
    credentials: [null, 'pgk_nobody', key, token, siege.human, siege.human],
    words: [
      run,
      'ada',
      'change',
      'note',
      'PLAN',
      'WRITE',
      'read_files',
      'write_files',
      'out/a.md',
      'quick',
      '1',
    ],
    artifacts: [PLAN, {}, { path: 'brief.md' }, { mode: 'quick' }, { path: 'out/a.md', content: 'a' }],
  };
  const seen = new Map<number, number>();
  const steps = arrayOf(record({ route: nat(), entropy: arrayOf(nat(), { minLength: 16, maxLength: 40 }) }), {
    minLength: 15,
    maxLength: 45,
  });

  await check(
    asyncProperty(steps, async (calls) => {
      for (const { route, entropy } of calls) {
        let at = 0;
        const chance = (below: number) => (entropy[at++ % entropy.length] ?? 0) % below;
        const operation = operations[route % operations.length] as Operation;
        const sent = anyRequest({ document, known, chance }, operation);
        const got = await withinReason(siege.send(sent), sent.path);
        expectDocumented({ operation, got, twisted: sent.twisted, validate });
        seen.set(got.status, (seen.get(got.status) ?? 0) + 1);
        learn(got.body, known);
      }
    }),
    { numRuns: 18, endOnFailure: true },
  );

  // Not vacuous: requests got through, and were refused for all kinds of reasons.
  for (const status of [200, 201, 401, 403, 404, 409, 415, 422])
    expect(seen.get(status) ?? 0, `${status}`).toBeGreaterThan(0);
  await expectConsistent();
});

describe('bad input', () => {
  const post = (path: string, body: Json | undefined, secret = token, type = 'application/json') =>
    siege.send({
      method: 'POST',
      path: `/api/v1${path}`,
      headers: [bearer(secret), ['Content-Type', type]],
      ...(body === undefined ? {} : { body }),
    });
  const big = 'x'.repeat(10_240);
  const deep = (levels: number) => `{"artifacts":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

  test.each<
    readonly [name: string, ask: () => Promise<Got>, status: number, error: string, field: string | null]
  >([
    ['half a text', () => post('/tools/check', '{"tool":'), 422, 'request_invalid', ''],
    ['a brace too many', () => post('/tools/check', '{"tool":"a"}}'), 422, 'request_invalid', ''],
    ['quotes of another kind', () => post('/tools/check', "{'tool':'a'}"), 422, 'request_invalid', ''],
    ['a text that is no JSON', () => post('/tools/check', 'tool=read_files'), 422, 'request_invalid', ''],
    ['a list', () => post('/tools/check', '[]'), 422, 'request_invalid', ''],
    ['nothing at all', () => post('/tools/check', ''), 422, 'request_invalid', 'tool'],
    ['another type', () => post('/tools/check', '{}', token, 'text/plain'), 415, 'request_invalid', null],
    [
      'another charset',
      () => post('/tools/check', '{}', token, 'application/json; charset=utf-16'),
      415,
      'request_invalid',
      null,
    ],
    [
      'a field nobody knows',
      () => post('/tools/check', { tool: 'grep', inputs: {} }),
      422,
      'request_invalid',
      'inputs',
    ],
    [
      'a field nobody knows inside',
      () => post('/tools/check', { calls: [{ tool: 'grep', x: 1 }] }),
      422,
      'request_invalid',
      'calls.0.x',
    ],
    ['text for a list', () => post('/tools/check', { calls: 'all' }), 422, 'request_invalid', 'calls'],
    ['a number for text', () => post('/tools/check', { tool: 7 }), 422, 'request_invalid', 'tool'],
    [
      'a list for an object',
      () => post('/tasks/transition', { artifacts: [] }),
      422,
      'request_invalid',
      'artifacts',
    ],
    [
      'nothing for an object',
      () => post('/tasks/transition', { artifacts: null }),
      422,
      'request_invalid',
      'artifacts',
    ],
    [
      'an outcome there is not',
      () => post('/tasks/transition', { artifacts: {}, outcome: 'skip' }),
      422,
      'request_invalid',
      'outcome',
    ],
    [
      '1e400',
      () => post('/runs', '{"workflow":"note","priority":1e400}', siege.human),
      422,
      'request_invalid',
      'priority',
    ],
    [
      '-1e400',
      () => post('/runs', '{"workflow":"note","priority":-1e400}', siege.human),
      422,
      'request_invalid',
      'priority',
    ],
    [
      '2^53',
      () => post('/runs', '{"workflow":"note","priority":9007199254740992}', siege.human),
      422,
      'request_invalid',
      'priority',
    ],
    [
      '1e400 in artifacts',
      () => post('/tasks/transition', '{"artifacts":{"n":1e400}}'),
      422,
      'request_invalid',
      'artifacts.n',
    ],
    [
      '1e400 in an input',
      () => post('/tools/check', '{"tool":"grep","input":{"limit":1e400}}'),
      422,
      'request_invalid',
      'input.limit',
    ],
    [
      '__proto__',
      () => post('/tasks/transition', '{"artifacts":{"__proto__":{"a":1}}}'),
      422,
      'request_invalid',
      'artifacts.__proto__',
    ],
    ['nesting', () => post('/tasks/transition', deep(1000)), 422, 'request_invalid', ''],
    ['nesting without end', () => post('/tasks/transition', deep(100_000)), 422, 'request_invalid', ''],
    [
      'an agent id of 10 KB',
      () => post('/tasks/claim', { agent_id: big }, key),
      422,
      'request_invalid',
      'agent_id',
    ],
    ['an agent of 10 KB', () => post('/agents', { name: big }, siege.human), 422, 'request_invalid', 'name'],
    [
      'an agent of 10 KB in the path',
      () => siege.ask('DELETE', `/agents/${big}`),
      422,
      'request_invalid',
      'name',
    ],
    ['a run of 10 KB', () => siege.ask('GET', `/runs/${big}`), 422, 'request_invalid', 'id'],
    ['a limit that is text', () => siege.ask('GET', '/runs?limit=many'), 422, 'request_invalid', 'limit'],
    ['a limit of nothing', () => siege.ask('GET', '/runs?limit=0'), 422, 'request_invalid', 'limit'],
    [
      'a limit beyond all',
      () => siege.ask('GET', '/audit?limit=99999999999999999999'),
      422,
      'request_invalid',
      'limit',
    ],
    [
      'an offset before the first',
      () => siege.ask('GET', '/runs?offset=-1'),
      422,
      'request_invalid',
      'offset',
    ],
    ['a query nobody knows', () => siege.ask('GET', '/runs?sort=up'), 422, 'request_invalid', 'sort'],
    [
      'a status there is not',
      () => siege.ask('GET', '/runs?status=asleep'),
      422,
      'request_invalid',
      'status',
    ],
    ['a batch of nothing', () => post('/tools/check', { calls: [] }), 422, 'request_invalid', 'calls'],
    [
      'a batch of too many',
      () => post('/tools/check', { calls: Array(51).fill({ tool: 'grep' }) }),
      422,
      'request_invalid',
      'calls',
    ],
    [
      'a batch and a call',
      () => post('/tools/check', { tool: 'grep', calls: [{ tool: 'grep' }] }),
      422,
      'request_invalid',
      'calls',
    ],
    [
      'four questions',
      () => post(`/runs/${run}/questions`, { questions: Array(4).fill({ text: 'a', options: ['b', 'c'] }) }),
      422,
      'request_invalid',
      'questions',
    ],
    [
      'an answer in two ways',
      () => siege.ask('POST', `/runs/${run}/answers`, { question: 1, option: 'a', text: 'b' }),
      422,
      'request_invalid',
      'text',
    ],
    ['no reason', () => siege.ask('POST', `/runs/${run}/stop`, {}), 422, 'request_invalid', 'reason'],
    [
      'a workflow there is not',
      () => siege.ask('POST', '/runs', { workflow: 'nothing' }),
      404,
      'workflow_unknown',
      null,
    ],
    ['a run there is not', () => siege.ask('GET', '/runs/run-nothing'), 404, 'run_unknown', null],
    ['an agent there is not', () => siege.ask('DELETE', '/agents/nobody'), 404, 'agent_unknown', null],
    ['a route there is not', () => siege.ask('GET', '/nothing'), 404, 'route_unknown', null],
    ['a method there is not', () => siege.ask('DELETE', '/runs'), 405, 'route_unknown', null],
    ['a method nobody has', () => siege.ask('PATCH', `/runs/${run}`), 405, 'route_unknown', null],
    [
      'a target that is no successor',
      () => post('/tasks/transition', { artifacts: PLAN, target: 'DONE' }),
      409,
      'not_the_next_phase',
      null,
    ],
  ])(
    '%s is refused with its code and its field, and nothing changed',
    async (_name, ask, status, error, field) => {
      const task = await siege.send({ path: `/api/v1/runs/${run}/tasks/PLAN/1`, headers: [bearer(token)] });
      expectStatus(task, 200);
      const before = await state();

      const got = await ask();

      expect([got.status, got.body.error], got.text).toEqual([status, error]);
      expect(got.headers['content-type']).toBe('application/problem+json');
      expect(got.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
      expect(got.text.length).toBeLessThan(16_000);
      const problems = (own(got.body, 'problems') ?? []) as readonly JsonObject[];
      if (field !== null) expect(problems.map((problem) => problem.field)).toContain(field);
      if (status === 405) expect(got.headers.allow).toMatch(/^[A-Z, ]+$/);
      expect(await state()).toBe(before);
    },
  );

  test('everything that is wrong with a request is said at once', async () => {
    const got = await siege.ask('POST', '/runs', {
      workflow: 7,
      priority: 'high',
      queue: 'yes',
      colour: 'red',
    });

    const problems = (own(got.body, 'problems') ?? []) as readonly JsonObject[];
    expect(problems.map(({ field }) => field).sort()).toEqual(['colour', 'priority', 'queue', 'workflow']);
  });

  test('everything that is wrong with artifacts is said at once [S2.45 S2.46 S2.96]', async () => {
    const before = (await siege.ask('GET', `/runs/${run}`)).body;

    const got = await post('/tasks/transition', { artifacts: { plan: { steps: [1, 2], extra: true } } });

    expect([got.status, got.body.error]).toEqual([409, 'incomplete_checkpoint']);
    for (const part of ['summary', 'steps', 'extra']) expect(got.text).toContain(part);
    expect(got.body).toMatchObject({
      allowed: false,
      current_phase: 'PLAN',
      next_action: expect.any(String),
    });
    const after = (await siege.ask('GET', `/runs/${run}`)).body;
    expect([after.phase, after.epoch, after.completed_phases]).toEqual([before.phase, before.epoch, []]);
  });

  async function state(): Promise<string> {
    const { body } = await siege.ask('GET', `/runs/${run}`);
    return `${await siege.everything()}${JSON.stringify(body)}`.replaceAll(/"expires_at": "[^"]*"/g, '');
  }
});

test('the server is unharmed, and its log holds no secret', async () => {
  await expectConsistent();
  await siege.expectUnharmed([key, token]);
});

/** A stream never ends; signing in costs a second, and signing out ends the test. */
const UNUSUAL = new Set(['/api/v1/events', '/api/v1/session']);

interface Answered {
  readonly operation: Operation;
  readonly got: Got;
  readonly twisted: boolean;
  readonly validate: ReturnType<typeof validatorsOf>;
}

function expectDocumented({ operation, got, twisted, validate }: Answered): void {
  const { method, template, answers } = operation;
  const where = `${method} ${template} ${got.status} ${got.text.slice(0, 300)}`;
  expect(got.status, where).toBeLessThan(500);
  expect([...answers.keys(), ...(twisted ? [415, 422] : [])], where).toContain(got.status);
  if (got.status >= 400) {
    expect(got.headers['content-type'], where).toBe('application/problem+json');
    expect(CODES.has(String(got.body.error)), where).toBe(true);
    expect(got.body, where).toMatchObject({ status: got.status, message: expect.any(String) });
  }
  const answer = answers.get(got.status) ?? null;
  if (answer === null) {
    if (got.status < 300) expect(got.text, where).toBe('');
    return;
  }
  expect(got.headers['content-type'], where).toContain(answer.type);
  if (!answer.type.includes('json')) return;
  const valid = validate(answer.schema);
  expect(valid(JSON.parse(got.text)) ? [] : valid.errors, where).toEqual([]);
}

/** Chains verify, and every run can be looked at and is in a state a run can be in. */
async function expectConsistent(): Promise<void> {
  expect((await siege.ask('GET', '/audit/verify')).body).toMatchObject({ ok: true, findings: [] });
  const { body } = expectStatus(await siege.ask('GET', '/runs?limit=1000'), 200);
  for (const line of own(body, 'runs') as readonly JsonObject[]) {
    const { body: view } = expectStatus(await siege.ask('GET', `/runs/${textAt(line, 'run')}`), 200);
    const ended = ['completed', 'stopped'].includes(String(view.status));
    expect(view.current_phase === null, JSON.stringify(view)).toBe(ended || view.status === 'queued');
    if (view.status === 'waiting')
      expect(view.gate !== null || (view.questions as readonly Json[]).length > 0).toBe(true);
    if (view.status === 'queued') expect(view.holder).toBe(null);
  }
  expect((await phasegate(siege.project, ['audit', 'verify'])).code).toBe(0);
}

/** Takes up what an answer tells, so that later requests can be about it. */
function learn(
  answer: Json,
  known: { readonly credentials: (string | null)[]; readonly words: string[] },
): void {
  if (typeof answer !== 'object' || answer === null) return;
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === 'string') {
      if (name === 'phase_token' || (name === 'key' && value.startsWith('pgk_')))
        known.credentials.push(value);
      else if (/^(run|id|gate|shown|label|name|item_completed)$/.test(name) && value.length < 100)
        known.words.push(value);
    } else learn(value, known);
  }
  known.credentials.splice(6, Math.max(0, known.credentials.length - 16));
  known.words.splice(11, Math.max(0, known.words.length - 40));
}

async function withinReason<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${what}`)), 15_000);
  });
  try {
    return await Promise.race([work, hangs]);
  } finally {
    clearTimeout(timer);
  }
}
