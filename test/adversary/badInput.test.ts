import { type Json, type JsonObject, own } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, laySiege, type Siege } from './siege.ts';
import { bearer, type Got } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': `
workflow: change
phases:
  PLAN:
    allowed_tools: [read_files]
    tasks: [{ name: Look, instructions: Look around }]
    required_artifacts:
      - { type: plan, schema: { type: object, required: [summary, steps], additionalProperties: false,
          properties: { summary: { type: string }, steps: { type: array, minItems: 1, items: { type: string } } } } }
    next: SHIP
  SHIP: { next: DONE }
  DONE: { next: null }
`,
};
const PLAN = { plan: { summary: 'change it', steps: ['one', 'two'] } };

let siege: Siege;
let key: string;
let run: string;
let token: string;

beforeAll(async () => {
  siege = await laySiege({ files: FILES });
  key = await siege.agent('ada');
  await siege.queue('change');
  ({ run, token } = await siege.claim('ada', key));
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
      () => post('/runs', '{"workflow":"change","priority":1e400}', siege.human),
      422,
      'request_invalid',
      'priority',
    ],
    [
      '-1e400',
      () => post('/runs', '{"workflow":"change","priority":-1e400}', siege.human),
      422,
      'request_invalid',
      'priority',
    ],
    [
      '2^53',
      () => post('/runs', '{"workflow":"change","priority":9007199254740992}', siege.human),
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
      'keys that become one in the audit',
      () => post('/tasks/transition', '{"artifacts":{"p":{"\\ud800":1,"\\ud801":2}}}'),
      422,
      'request_invalid',
      'artifacts.p.\ufffd',
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
      'a target that is not a successor',
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
      // What the workflow refuses is on record, and that it was is the newest the run knows.
      const leaving = status === 409 ? ['expires_at', 'updated_at'] : ['expires_at'];
      const before = await stateBut(leaving);

      const got = await ask();

      expect([got.status, got.body.error], got.text).toEqual([status, error]);
      expect(got.headers['content-type']).toBe('application/problem+json');
      expect(got.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
      expect(got.text.length).toBeLessThan(16_000);
      const problems = (own(got.body, 'problems') ?? []) as readonly JsonObject[];
      if (field !== null) expect(problems.map((problem) => problem.field)).toContain(field);
      if (status === 405) expect(got.headers.allow).toMatch(/^[A-Z, ]+$/);
      expect(await stateBut(leaving)).toBe(before);
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

  async function stateBut(leaving: readonly string[]): Promise<string> {
    const { body } = await siege.ask('GET', `/runs/${run}`);
    const text = `${await siege.everything()}${JSON.stringify(body)}`;
    return text.replaceAll(new RegExp(`"(${leaving.join('|')})": ?"[^"]*"`, 'g'), '');
  }
});

test('the server is unharmed, and its log holds no secret', async () => {
  await siege.expectUnharmed([key, token]);
});
