import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Json, type JsonObject, own } from '@phasegate/core';
import { problem, run, runLine, runList } from '@phasegate/wire/schemas';
import { SESSION_FIELDS } from '@phasegate/wire/schemas/session';
import { describe, expect, test } from 'vitest';
import { makeShell } from '../../packages/phasegate/src/surfaces/cli/fixtures/callCli.ts';
import { connect, makeTestBed } from '../../packages/phasegate/src/surfaces/mcp/fixtures/connect.ts';
import { ERRAND, GATED } from '../../packages/phasegate/src/surfaces/mcp/fixtures/workflows.ts';
import { TOOLS } from '../../packages/phasegate/src/surfaces/mcp/toolTable.ts';
import { openApiBed } from '../../packages/phasegate/src/surfaces/rest/routes/fixtures/apiBed.ts';
import { FIVE, PLAN } from '../../packages/phasegate/src/surfaces/rest/routes/fixtures/workflows.ts';
import { ENDPOINTS } from '../../packages/phasegate/src/surfaces/rest/routes/index.ts';
import { FIXTURE } from '../compatibility/fixture.ts';
import { unknownFields, unknownInside } from './unknownFields.ts';

const SESSION: JsonObject = { properties: SESSION_FIELDS };

/** Commands whose answers are not runs and no sessions: what they say is their own. */
const OWN_WORDS = new Set(
  'agents audit check coverage database doctor graph humans index list migrate replay search simulate trust validate webhooks'.split(
    ' ',
  ),
);

describe('a surface spells no field that the wire does not have', () => {
  test.each(kept('rest'))('in the kept answer rest/%s', (_, { request, status, body }) => {
    if (!isAnswer(body)) return;
    expect(unknownToRest(String(request), Number(status), body)).toEqual([]);
  });

  test.each(kept('mcp').filter(([, { tool }]) => tool !== undefined))(
    'in the kept answer mcp/%s',
    (_, { tool, answer }) => {
      expect(unknownToMcp(String(tool), answer as Json)).toEqual([]);
    },
  );

  test.each(kept('cli'))('in the kept answer cli/%s', (_, { command, json }) => {
    const [word = ''] = String(command).split(' ');
    if (OWN_WORDS.has(word)) return;
    expect((json as readonly Json[]).flatMap((one) => unknownToCli(word, one))).toEqual([]);
  });

  test('on a walk over HTTP, refusals included', async () => {
    const bed = openApiBed(FIVE);
    const maria = await bed.human('maria');
    await bed.trust('maria');
    const { run: id, token } = await bed.claimed(await bed.agent('a1'), 'a1');
    const move = '/tasks/transition';
    const calls = [
      ['POST', '/runs', maria, { workflow: FIVE.id }],
      ['GET', `/runs/${id}`, maria],
      ['GET', `/runs/${id}`, token],
      ['GET', `/runs/${id}/phase`, token],
      ['GET', `/runs/${id}/phase?phase=IMPL`, token],
      ['POST', move, token, { phase: 'IMPL', artifacts: {} }],
      ['POST', move, token, { artifacts: {} }],
      ['GET', `/runs/${id}/tasks/PLAN/9`, token],
      ['GET', `/runs/${id}/tasks/PLAN/1`, token],
      ['POST', '/tools/check', token, { tool: 'bash', input: { command: 'ls' } }],
      ['GET', '/state/snapshot', token],
      ['GET', '/state/snapshot', maria],
      ['POST', `/runs/${id}/decisions`, maria, { gate: 'x', option: 'y', shown: 'z' }],
      ['POST', move, token, { artifacts: PLAN }],
      ['POST', `/runs/${id}/stop`, maria, { reason: 'enough' }],
      ['GET', '/runs', maria],
    ] as const;
    const seen: number[] = [];
    for (const [method, path, as, body] of calls) {
      const got = await bed.call(method, path, { as, ...(body === undefined ? {} : { body }) });
      seen.push(got.status);
      expect([path, unknownToRest(`${method} /api/v1${path}`, got.status, got.body)]).toEqual([path, []]);
    }
    expect(new Set(seen)).toEqual(new Set([200, 201, 409]));
  });

  test('on a walk over MCP, refusals included', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND, 'gated.workflow.yaml': GATED });
    const { call } = await connect(bed.parts(), { era: 'modern' });
    const { session_id } = await call('start_workflow', { workflow_type: 'errand', options: {} });
    const of = { session_id: String(session_id) };
    const gated = {
      session_id: String((await call('start_workflow', { workflow_type: 'gated' })).session_id),
    };
    const calls: readonly (readonly [string, JsonObject])[] = [
      ['start_workflow', { workflow_type: 'errand' }],
      ['start_workflow', { workflow_type: 'errand', options: { mode: 'other' } }],
      ['get_current_phase', of],
      ['get_phase', { ...of, phase: 'REST' }],
      ['complete_phase', { ...of, phase: 'REST', evidence: {} }],
      ['complete_phase', { ...of, phase: 'LOOK', evidence: {} }],
      ['get_task', { ...of, phase: 'LOOK', task_number: 9 }],
      ['get_task', { ...of, phase: 'LOOK', task_number: 1 }],
      ['get_task', { ...of, phase: 'LOOK', task_number: 2 }],
      ['complete_phase', { ...of, phase: 'LOOK', evidence: {} }],
      ['complete_phase', { ...of, phase: 'LOOK', evidence: { notes: 'seen' } }],
      ['ask_human', { ...of, questions: [{ text: 'Which?', options: ['a', 'b'] }] }],
      ['get_workflow_state', of],
      ['complete_phase', { ...gated, phase: 'BUILD', evidence: {} }],
      ['get_current_phase', gated],
      ['get_workflow_state', { session_id: 'nobody' }],
      ['report_blocked', { ...gated, reason: 'it is not there' }],
    ];
    for (const [tool, args] of calls) {
      const { is_error: _fault, ...answer } = await call(tool, args);
      expect([tool, unknownToMcp(tool, answer)]).toEqual([tool, []]);
    }
  });

  test('on a walk in a shell, refusals included', async () => {
    const shell = makeShell({ 'errand.workflow.yaml': ERRAND, 'gated.workflow.yaml': GATED });
    const start = async (name: string) => String((await shell.call(['start', name, '--json'])).json().run);
    const [id, gated] = [await start('errand'), await start('gated')];
    const calls = [
      ['start', 'errand', '--queue'],
      ['start', 'errand', '--param', 'mode=other'],
      ['claim'],
      ['next', id],
      ['task', id, 'LOOK', '9'],
      ['task', id, 'LOOK', '1'],
      ['done', id, '--phase', 'REST'],
      ['done', id],
      ['done', gated],
      ['status', gated],
      ['blocked', id, '--reason', 'it is not there'],
      ['status', id],
      ['status', 'nobody'],
      ['runs'],
    ];
    for (const words of calls) {
      const told = (await shell.call([...words, '--json'])).json();
      expect([words, unknownToCli(words[0] ?? '', told)]).toEqual([words, []]);
    }
  });

  test('and one that is made up is found, wherever it stands', () => {
    const line = { run: 'r', started_at: 't', startedAt: 't' };

    expect(unknownFields(runList, { runs: [line], next_offset: null })).toEqual(['.runs[].startedAt']);
    expect(unknownToMcp('get_workflow_state', { gate: { id: 'g', requiresInput: true } })).toEqual([
      '.gate.requiresInput',
    ]);
    expect(unknownToCli('status', { run: 'r', escalation: { blockers: [{ nextAction: 'x' }] } })).toEqual([
      '.escalation.blockers[].nextAction',
    ]);
    expect(unknownToRest('POST /api/v1/tasks/transition', 409, { error: 'x', currentPhase: 1 })).toEqual([
      '.currentPhase',
    ]);
  });
});

function unknownToRest(request: string, status: number, body: Json): readonly string[] {
  const [method = '', address = ''] = request.split(/ (.*)/s);
  const path = address.replace(/\?.*/s, '').replace(/^\/api\/v1/, '');
  const route = ENDPOINTS.find((one) => one.method === method.toLowerCase() && fits(one.path, path));
  // Sessions, probes and streams stand beside the routes, and describe themselves.
  if (route === undefined) return [];
  const known = { ...route.answers, ...route.problems }[status]?.schema;
  return unknownFields(known ?? problem, body);
}

function fits(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith('{') || part === given[index])
  );
}

function unknownToMcp(tool: string, answer: Json): readonly string[] {
  const { output } = TOOLS.find(({ name }) => name === tool) ?? {};
  const session = own(own(output ?? {}, 'properties'), 'session_id') !== undefined;
  if (session || own(answer, 'error') !== undefined) return unknownInside(SESSION, answer);
  return unknownInside({ properties: {}, ...output }, answer);
}

/** A run, a line of the list, or what MCP would say. */
function unknownToCli(command: string, told: Json): readonly string[] {
  if (command === 'runs') return unknownFields(runList, told);
  const { gate_card: _card, shown: _hash, unaccepted: _files, item: _item, ...answer } = told as JsonObject;
  return Object.entries(answer).flatMap(([key, value]) => {
    const shape: Readonly<Record<string, unknown>> = { ...runLine.shape, ...run.shape };
    const [inRun, inSession] = [Object.hasOwn(shape, key), Object.hasOwn(SESSION_FIELDS, key)];
    if (!inRun && !inSession) return [`.${key}`];
    const found = [
      ...(inRun ? [unknownFields(shape[key], value, `.${key}`)] : []),
      ...(inSession ? [unknownInside({ properties: SESSION_FIELDS }, { [key]: value })] : []),
    ];
    return found.reduce((fewest, one) => (one.length < fewest.length ? one : fewest));
  });
}

function isAnswer(body: unknown): body is JsonObject {
  return typeof body === 'object' && body !== null;
}

function kept(surface: string): (readonly [string, Readonly<Record<string, unknown>>])[] {
  return globSync(join(FIXTURE, 'answers', surface, '*.json'))
    .sort()
    .map((file) => [basename(file, '.json'), JSON.parse(readFileSync(file, 'utf8'))] as const);
}
