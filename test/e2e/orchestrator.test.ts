import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { connect, type PhasegateClient } from '@phasegate/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { type Served, serve, sessionFrom } from './server.ts';

const WORKFLOW = `
workflow: change
enforcement: { workspace: shared }
gates:
  agreed: { human: { prompt: Is this the plan?, options: [{ label: Approve }, { label: Rework, next: PLAN, requires_input: true }] } }
  red: { blockers: [{ check: tests_are_failing, message: Tests must fail first }] }
phases:
  PLAN:
    instructions: Read and plan
    allowed_tools: [read_files]
    required_artifacts: [{ type: plan, schema: { type: object, required: [summary] } }]
    gate: agreed
  TDD:
    instructions: Write a failing test
    allowed_tools: [read_files, write_files]
    forbidden_tools: [bash]
    writes: ["test/**"]
    required_artifacts: [{ type: test_run_result, schema: { type: object } }]
    gate: red
  IMPL:
    instructions: Make it pass
    allowed_tools: [read_files, write_files, bash]
    tool_constraints: { bash: { allowed: ["true"] } }
    writes: ["src/**"]
  REVIEW:
    instructions: Look at it as a stranger would
    allowed_tools: [read_files]
    required_artifacts: [{ type: review, schema: { type: object, required: [summary] } }]
  COMPLETE:
    instructions: Say what was done
    allowed_tools: []
`;
const PLAN = { plan: { summary: 'greet' } };
const RED = { test_run_result: { total: 1, passed: 0, failed: 1, skipped: 0 } };
const REVIEW = { review: { summary: 'good' } };
const SECRET = { passphrase: 'open sesame' };
const AT = { project: undefined as unknown as TestProject, server: undefined as unknown as Served };
let key = '';
let maria = '';

beforeAll(async () => {
  AT.project = makeProject({ 'agent_workflow.yaml': WORKFLOW, 'brief.md': 'Write a greeting.\n' });
  await phasegate(AT.project, ['humans', 'add', 'maria'], SECRET);
  await phasegate(AT.project, ['trust', 'change', '--yes'], SECRET);
  key = String((await phasegate(AT.project, ['agents', 'add', 'ada', '--json'], SECRET)).json.key);
  AT.server = await serve(AT.project);
  maria = await sessionFrom(AT.server.url, { name: 'maria', passphrase: SECRET.passphrase });
});

describe('in ring served, over the API', () => {
  test('a plan is approved by a human or it is not a plan: nothing of an agent leads into TDD [S2.2]', async () => {
    const { run, token } = await claimed();

    expect(await transition(token, { artifacts: {} })).toMatchObject({ status: 409 });
    expect(await transition(token, { artifacts: PLAN, target: 'TDD' })).toMatchObject({
      status: 202,
      body: { allowed: true, status: 'waiting', phase: 'PLAN', gate: { prompt: 'Is this the plan?' } },
    });
    expect(await transition(token, { artifacts: PLAN, target: 'TDD' })).toMatchObject({
      status: 409,
      body: { allowed: false, error: 'run_waiting' },
    });
    const { gate } = (await AT.server.send('GET', `/api/v1/runs/${run}`, { bearer: maria })).body as {
      gate: { id: string; shown: string };
    };
    const decision = { gate: gate.id, option: 'Approve', shown: gate.shown };
    for (const bearer of [token, key]) {
      const body = decision;
      expect((await AT.server.send('POST', `/api/v1/runs/${run}/decisions`, { bearer, body })).status).toBe(
        403,
      );
    }
    expect(await judged(token, 'write_files', { path: 'test/a.txt', content: '' })).toBe(false);
    expect(await stateOf(run)).toEqual({ status: 'waiting', phase: 'PLAN', completed: [] });

    await decide(run);

    expect(await stateOf(run)).toEqual({ status: 'active', phase: 'TDD', completed: ['PLAN'] });
  });

  test('each phase has its own tools, by its own token, and the one before is dead [S2.7 S2.9]', async () => {
    const { run, token } = await claimed();
    const tried: Record<string, readonly boolean[]> = {};
    const tokens: string[] = [];
    const look = async (phase: string, live: string) => {
      tried[phase] = [
        await judged(live, 'read_files', { path: 'brief.md' }),
        await judged(live, 'write_files', { path: 'test/a.txt', content: '' }),
        await judged(live, 'write_files', { path: 'src/a.txt', content: '' }),
        await judged(live, 'bash', { command: 'true' }),
      ];
      const check = { tool: 'read_files', input: { path: 'brief.md' } };
      for (const old of tokens) {
        expect((await AT.server.send('POST', CHECK, { bearer: old, body: check })).status).toBe(403);
      }
      expect((await AT.server.send('POST', CHECK, { bearer: forged(live), body: check })).status).toBe(401);
      expect((await AT.server.send('POST', CHECK, { body: check })).status).toBe(401);
      tokens.push(live);
    };

    await look('PLAN', token);
    await transition(token, { artifacts: PLAN });
    await decide(run);
    let live = await fresh(run);
    for (const [phase, artifacts] of [
      ['TDD', RED],
      ['IMPL', {}],
      ['REVIEW', REVIEW],
    ] as const) {
      await look(phase, live);
      live = String((await transition(live, { artifacts })).body.phase_token);
    }
    await look('COMPLETE', live);

    expect(tried).toEqual({
      PLAN: [true, false, false, false],
      TDD: [true, true, false, false],
      IMPL: [true, false, true, true],
      REVIEW: [true, false, false, false],
      COMPLETE: [false, false, false, false],
    });
  });

  test('a review cannot be missed, and the state says at every step how far the run is [S2.3 S2.65 S2.78]', async () => {
    const { run, token } = await claimed();
    await transition(token, { artifacts: PLAN });
    await decide(run);
    const impl = await transition(await fresh(run), { artifacts: RED });
    const inImpl = String(impl.body.phase_token);

    expect(await transition(inImpl, { artifacts: {}, target: 'COMPLETE' })).toMatchObject({
      status: 409,
      body: { error: 'not_the_next_phase' },
    });
    expect(await stateOf(run)).toMatchObject({ phase: 'IMPL', completed: ['PLAN', 'TDD'] });
    const inReview = String((await transition(inImpl, { artifacts: {} })).body.phase_token);
    expect(await transition(inReview, { artifacts: {} })).toMatchObject({
      status: 409,
      body: { blockers: [{ message: 'Missing review' }] },
    });
    expect(await stateOf(run)).toMatchObject({ phase: 'REVIEW', completed: ['PLAN', 'TDD', 'IMPL'] });
    const last = String((await transition(inReview, { artifacts: REVIEW })).body.phase_token);
    const end = await transition(last, { artifacts: {}, target: null });

    expect(end).toMatchObject({ status: 200, body: { phase: null, status: 'completed' } });
    expect(end.body).not.toHaveProperty('phase_token');
    // What is left of the state when the server is gone: the file, and all that was done.
    expect(readFileSync(join(AT.project.stateDir, 'state.db')).subarray(0, 15).toString()).toBe(
      'SQLite format 3',
    );
    expect(
      (await phasegate(AT.project, ['status', run, '--json', '--as', 'maria'], SECRET)).json,
    ).toMatchObject({
      status: 'completed',
      completed_phases: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
      progress: { completed: 5, total: 5 },
    });
  });

  test('nothing the SDK offers leads an agent past its phase or out of its scope [S2.8]', async () => {
    const { run, token } = await claimed();
    const agent = connect({ url: AT.server.url, key, token });
    await agent.rejoinTask(run);
    const tries = attempts(agent, run);
    const before = readdirSync(AT.project.root).sort();

    // A method that is added later must be thought of here.
    expect(Object.keys(tries).sort()).toEqual(Object.keys(agent).sort());
    for (const attempt of Object.values(tries)) await attempt().catch(() => undefined);

    expect(await stateOf(run)).toMatchObject({ phase: 'PLAN', completed: [] });
    expect(readdirSync(AT.project.root).sort()).toEqual(before);
    const verdicts = (await recordsOf(run)).filter(({ event }) => event === 'tool_judged');
    expect(new Set(verdicts.filter(({ data }) => data.allowed).map(({ data }) => data.tool))).toEqual(
      new Set(['read_files']),
    );
  });
});

const CHECK = '/api/v1/tools/check';

/** The worst an agent could make of each method, the harmless ones as they are. */
function attempts(agent: PhasegateClient, run: string): Record<string, () => Promise<unknown>> {
  const outside = { path: '../escaped', content: 'x' };
  return {
    claimTask: () => agent.claimTask('somebody-else'),
    rejoinTask: () => agent.rejoinTask('run-of-another'),
    requestTransition: () =>
      agent.requestTransition('COMPLETE', { ...PLAN, ...RED, ...REVIEW, approved: true }),
    useTool: () => agent.useTool('write_files', outside),
    useTools: () => agent.useTools([{ tool: 'bash', input: { command: 'touch made' } }]),
    checkTool: () => agent.checkTool('bash', { command: 'touch made' }),
    getPhase: () => agent.getPhase('COMPLETE'),
    getTask: () => agent.getTask('COMPLETE', 1),
    getStateSnapshot: () => agent.getStateSnapshot(),
    readFile: () => agent.readFile('../../etc/passwd').catch(() => agent.readFile('brief.md')),
    writeFile: () => agent.writeFile('made', 'x'),
    editFile: () => agent.editFile('brief.md', { old: 'greeting', new: 'poem' }),
    listFiles: () => agent.listFiles({ path: '..' }),
    grep: () => agent.grep('x', { path: '..' }),
    runCommand: () => agent.runCommand('touch made'),
    signIn: () => agent.signIn({ name: 'maria', passphrase: 'let me in' }),
    signOut: () => agent.signOut(),
    listRuns: () => agent.listRuns(),
    getRun: () => agent.getRun(run),
    startRun: () => agent.startRun({ workflow: 'change' }),
    getGate: () => agent.getGate(run),
    getFence: () => agent.getFence(run),
    getFenceDiff: () => agent.getFenceDiff(run),
    settleFence: () => agent.settleFence(run, { action: 'accept', paths: 'all', reason: 'mine', shown: 'x' }),
    decide: () => agent.decide(run, { option: 'Approve', gate: 'agreed#1', shown: 'x' }),
    answer: () => agent.answer(run, { question: 1, text: 'Approve' }),
    resume: () => agent.resume(run, 'go on'),
    override: () => agent.override(run, { reason: 'let me pass' }),
    stop: () => agent.stop(run, 'enough'),
    events: async () => {
      for await (const _event of agent.events()) return;
    },
    whoAmI: () => agent.whoAmI(),
    listWorkflows: () => agent.listWorkflows(),
    listAgents: () => agent.listAgents(),
    addAgent: () => agent.addAgent('a-second-self'),
    removeAgent: () => agent.removeAgent('ada'),
    audit: () => agent.audit(),
    verifyAudit: () => agent.verifyAudit(),
    asPhasegate: async () =>
      agent.asPhasegate().submit(run, { kind: 'complete', phase: 'TDD', evidence: {}, outcome: 'ok' }),
    askHuman: () => agent.askHuman([{ text: 'May I?', options: ['Yes', 'No'] }]),
    waitForHuman: () => agent.waitForHuman({ signal: AbortSignal.abort(), pollMs: 1 }),
    reportBlocked: () => agent.reportBlocked('I want to be in TDD'),
    release: () => agent.release(),
  };
}

/** A run of its own, in PLAN. */
async function claimed(): Promise<{ readonly run: string; readonly token: string }> {
  const { run } = (
    await AT.server.send('POST', '/api/v1/runs', { bearer: maria, body: { workflow: 'change', queue: true } })
  ).body;
  const { body } = await AT.server.send('POST', '/api/v1/tasks/claim', {
    bearer: key,
    body: { agent_id: 'ada' },
  });
  expect(body.task).toMatchObject({ id: run });
  return { run: String(run), token: String(body.phase_token) };
}

function transition(bearer: string, body: JsonObject) {
  return AT.server.send('POST', '/api/v1/tasks/transition', { bearer, body });
}

async function judged(bearer: string, tool: string, input: JsonObject): Promise<boolean> {
  const { status, body } = await AT.server.send('POST', CHECK, { bearer, body: { tool, input } });
  expect(status).toBe(200);
  return body.allowed === true;
}

async function decide(run: string): Promise<void> {
  const { gate, shown } = (await AT.server.send('GET', `/api/v1/runs/${run}/gate`, { bearer: maria })).body;
  const decided = await AT.server.send('POST', `/api/v1/runs/${run}/decisions`, {
    bearer: maria,
    body: { gate, shown, option: 'Approve' },
  });
  expect(decided.status).toBe(200);
}

async function fresh(run: string): Promise<string> {
  const given = await AT.server.send('POST', '/api/v1/tasks/token', { bearer: key, body: { task_id: run } });
  return String(given.body.phase_token);
}

/** The same token for another phase, with the signature it had. */
function forged(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject;
  const better = Buffer.from(JSON.stringify({ ...claims, allowed_tools: ['bash'], phase: 'IMPL' }));
  return [header, better.toString('base64url'), signature].join('.');
}

async function stateOf(run: string) {
  const { body } = await AT.server.send('GET', `/api/v1/runs/${run}`, { bearer: maria });
  return { status: body.status, phase: body.phase, completed: body.completed_phases };
}

async function recordsOf(run: string) {
  const { body } = await AT.server.send('GET', `/api/v1/runs/${run}/events?limit=1000`, { bearer: maria });
  return body.events as readonly { readonly event: string; readonly data: JsonObject }[];
}
