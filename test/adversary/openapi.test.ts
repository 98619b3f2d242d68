import { readFileSync } from 'node:fs';
import { ERROR_CODES, type Json, type JsonObject, own } from '@phasegate/core';
import { array as arrayOf, asyncProperty, assert as check, nat, record } from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { phasegate } from '../e2e/cli.ts';
import { readUnion } from '../surface/readUnion.ts';
import { cases, FULL, SEED } from '../tier.ts';
import { anyRequest, type Known } from './anyRequest.ts';
import { type Operation, operationsOf, validatorsOf } from './openapiDocument.ts';
import { expectStatus, laySiege, PASSPHRASE, type Siege, textAt } from './siege.ts';
import { bearer, type Got, newAddress } from './wire.ts';

const FILES = {
  'change.workflow.yaml': `
workflow: change
enforcement: { workspace: shared }
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
  'ship.workflow.yaml': `
workflow: ship
gates:
  go: { human: { prompt: Go?, options: [{ label: Go, next: DONE }, { label: Back, next: SHIP, requires_input: true }] } }
phases: { SHIP: { gate: go, next: DONE }, DONE: {} }
`,
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
  siege = await laySiege({ files: FILES, human: true, here: !FULL });
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
  const known: Known = {
    secrets: { none: ['', 'pgk_nobody'], agent: [key], token: [token], human: [siege.human] },
    fields: {
      [`of ${key}`]: ['ada'],
      id: [run],
      task_id: [run],
      run: [run],
      phase: ['PLAN', 'WRITE'],
      target: ['EACH', 'SHIP', 'READ'],
      workflow: ['change', 'note', 'ship'],
      // Others than the agent that works all the time, so that it stays.
      name: ['bob', 'carl'],
      tool: ['read_files', 'write_files', 'list_files', 'grep'],
      gate: [],
      shown: [],
      option: ['Go', 'Back', 'yes'],
      options: ['yes', 'no', 'perhaps'],
      item: ['one', 'two'],
      url: ['http://127.0.0.1:9/hook'],
      n: ['1'],
      // Wrong ones are answered later and later, which is tried elsewhere.
      passphrase: [PASSPHRASE],
    },
    words: ['change', 'PLAN', 'read_files', 'out/a.md', 'because', 'fast'],
    objects: [PLAN, {}, { path: 'brief.md' }, { mode: 'quick' }, { path: 'out/a.md', content: 'a' }],
  };
  const seen = new Map<number, number>();
  const steps = arrayOf(record({ route: nat(), entropy: arrayOf(nat(), { minLength: 16, maxLength: 40 }) }), {
    minLength: 15,
    maxLength: 45,
  });

  const property = asyncProperty(steps, async (calls) => {
    // Of its own for each sequence: limits count by address.
    const from = newAddress();
    await siege.queue(['change', 'note', 'ship'][calls.length % 3] ?? 'note');
    const claim = await siege.send({ ...CLAIM, headers: [bearer(key)] });
    learn(expectStatus(claim, 200).body, known);
    for (const { route, entropy } of calls) {
      let at = 0;
      const chance = (below: number) => (entropy[at++ % entropy.length] ?? 0) % below;
      const operation = operations[route % operations.length] as Operation;
      const sent = anyRequest({ document, known, chance }, operation);
      const got = await withinReason(siege.send({ ...sent, from }), sent.path);
      expectDocumented({ operation, got, twisted: sent.twisted, validate });
      seen.set(got.status, (seen.get(got.status) ?? 0) + 1);
      learn(got.body, known);
    }
  });
  // Not vacuous: requests get through, and are refused for all kinds of reasons. Which, is left to chance, so that few
  // sequences may miss one; many do not.
  const missing = () => [200, 201, 401, 403, 404, 409, 415, 422].filter((status) => !seen.has(status));
  for (let round = 0; round === 0 || (missing().length > 0 && round < 10); round += 1)
    await check(property, {
      numRuns: cases({ quick: 10, full: 90 }),
      endOnFailure: true,
      ...(SEED === undefined ? {} : { seed: SEED + round }),
    });

  expect(missing()).toEqual([]);
  await expectConsistent();
});

test('the server is unharmed, and its log holds no secret', async () => {
  await expectConsistent();
  await siege.expectUnharmed([key, token]);
});

const CLAIM = { method: 'POST', path: '/api/v1/tasks/claim', body: { agent_id: 'ada' } };

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
  if (answer.type.includes('ndjson')) {
    for (const line of got.text.split('\n').filter((one) => one !== '')) JSON.parse(line);
    return;
  }
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
    expect(view.current_phase === null, JSON.stringify(view)).toBe(ended);
    if (view.status === 'waiting')
      expect(view.gate !== null || (view.questions as readonly Json[]).length > 0).toBe(true);
    if (view.status === 'queued') expect(view.holder).toBe(null);
  }
  expect((await phasegate(siege.project, ['audit', 'verify'])).code).toBe(0);
}

/** Takes up what an answer tells, so that later requests can be about it. */
function learn(answer: Json, known: Known): void {
  if (typeof answer !== 'object' || answer === null) return;
  const { secrets, fields } = known as { secrets: Known['secrets']; fields: Record<string, string[]> };
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value !== 'string') learn(value, known);
    else if (name === 'phase_token') keep(secrets.token, value);
    else if (name === 'key' && value.startsWith('pgk_')) {
      keep(secrets.agent, value);
      fields[`of ${value}`] = [String(own(answer, 'name'))];
    } else if (name === 'run' || (name === 'id' && value.startsWith('run-'))) {
      for (const field of ['id', 'task_id', 'run']) keep(fields[field], value);
    } else if (name === 'gate' || name === 'shown') keep(fields[name], value);
    else if (name === 'id' && value.includes('#')) keep(fields.gate, value);
  }
}

function keep(list: string[] | undefined, value: string): void {
  if (list === undefined || list.includes(value)) return;
  list.push(value);
  if (list.length > 8) list.splice(1, 1);
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
