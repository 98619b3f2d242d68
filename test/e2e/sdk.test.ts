import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type EventRecord, type PhasegateClient, PhasegateClientError } from '@phasegate/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLocalServer } from '../../packages/phasegate/src/localServer.ts';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import type { RunningServer } from '../../packages/phasegate/src/runtime/ports.ts';
import { makeProject, type TestProject } from './cli.ts';

const WORKFLOW = `
workflow: change
enforcement: { workspace: shared }
tools: { reading: [read_files, list_files, grep] }
gates:
  red: { blockers: [{ check: tests_are_failing, message: Tests must fail first }] }
  green: { blockers: [{ check: tests_are_passing, message: All tests must pass }] }
  approved:
    human:
      prompt: Is this right?
      options: [{ label: Approve, next: COMPLETE }, { label: Rework, next: IMPL, requires_input: true }]
phases:
  PLAN:
    instructions: Plan it
    allowed_tools: [reading]
    forbidden_tools: [bash]
    tasks: [{ name: Look, instructions: Look around }]
    required_artifacts:
      - { type: plan, schema: { type: object, required: [summary], properties: { summary: { type: string } } } }
      - { type: scope, schema: { type: array, items: { type: string } } }
    next: TDD
  TDD:
    instructions: See it fail
    allowed_tools: [reading, write_files, edit_file]
    writes: ["test/**"]
    required_artifacts: [{ type: test_run_result, schema: { type: object } }]
    gate: red
    next: IMPL
  IMPL:
    instructions: Make it pass
    allowed_tools: [reading, write_files, bash]
    tool_constraints: { bash: { allowed: ["cat **", "false"] } }
    writes: ["src/**"]
    required_artifacts: [{ type: test_run_result, schema: { type: object } }]
    gate: green
    next: REVIEW
  REVIEW:
    instructions: Look at it
    allowed_tools: [reading]
    required_artifacts: [{ type: review, schema: { type: object } }]
    gate: approved
    next: COMPLETE
  COMPLETE:
    instructions: Say what was done
    allowed_tools: [reading]
    required_artifacts: [{ type: report, schema: { type: string } }]
    next: null
`;
const PASSPHRASE = 'open sesame';
const RED = { test_run_result: { total: 1, passed: 0, failed: 1, skipped: 0 } };
const GREEN = { test_run_result: { total: 1, passed: 1, failed: 0, skipped: 0 } };

let project: TestProject;
let server: RunningServer;
let human: PhasegateClient;

beforeAll(async () => {
  project = makeProject({ 'change.workflow.yaml': WORKFLOW, 'brief.md': 'Write a greeting.\n' });
  const opened = await openTestProject({ projectDir: project.root, env: project.env });
  server = await openLocalServer({ project: opened, port: 0, log: () => undefined });
  const { humans } = server.open;
  await humans.add('maria', PASSPHRASE, null);
  const maria = await humans.unlock('maria', PASSPHRASE);
  const { closure } = await server.open.trust.workflows.card('change');
  await server.open.trust.workflows.accept('change', closure, maria);
  human = connect({ url: server.url });
  await human.signIn({ name: 'maria', passphrase: PASSPHRASE });
});
afterAll(() => server.close());

test('an agent goes from PLAN to COMPLETE with nothing but the SDK, and a human decides with it [S2.20 S2.21 S2.22 S2.23 S2.24 S2.32 S2.98]', async () => {
  const { run } = await human.startRun({ workflow: 'change', goal: 'add a subtract function', queue: true });
  const agent = await agentNamed('walker');

  const claim = await agent.claimTask('walker');
  expect(claim).toMatchObject({
    task: { id: run, phase: 'PLAN', status: 'active', goal: 'add a subtract function' },
    phase_token: expect.any(String),
  });
  expect(await agent.getPhase()).toMatchObject({
    phase: 'PLAN',
    goal_by: 'human maria',
    tasks: [{ number: 1, name: 'Look' }],
  });
  expect(await agent.getTask('PLAN', 1)).toMatchObject({
    run,
    task_content: expect.stringContaining('Look around'),
  });
  expect(await agent.readFile('brief.md')).toBe('Write a greeting.\n');
  expect(await agent.getStateSnapshot()).toMatchObject({ task: { id: run, phase: 'PLAN' } });

  await expect(agent.runCommand('ls')).rejects.toMatchObject({ code: 'tool_forbidden' });
  await expect(agent.writeFile('src/greet.txt', 'hi')).rejects.toMatchObject({ code: 'tool_not_allowed' });
  expect(await agent.checkTool('write_files', { path: 'src/greet.txt', content: '' })).toMatchObject({
    allowed: false,
  });
  const refused = await agent
    .requestTransition('TDD', { plan: { summary: 'greet' } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PhasegateClientError);
  expect(refused).toMatchObject({
    status: 409,
    code: 'incomplete_checkpoint',
    blockers: [{ code: 'incomplete_checkpoint', message: expect.stringContaining('scope') }],
  });
  await expect(agent.requestTransition('REVIEW', PLAN)).rejects.toMatchObject({ code: 'not_the_next_phase' });
  expect(await agent.requestTransition('TDD', PLAN)).toMatchObject({ status: 'active', phase: 'TDD' });

  expect(await agent.writeFile('test/greet.txt', 'greets: no\n')).toMatchObject({ tool: 'write_files', run });
  await agent.editFile('test/greet.txt', { old: 'no', new: 'yes' });
  expect(readFileSync(join(project.root, 'test/greet.txt'), 'utf8')).toBe('greets: yes\n');
  await expect(agent.writeFile('src/greet.txt', 'hi')).rejects.toMatchObject({ code: 'outside_write_scope' });
  await expect(agent.requestTransition('IMPL', GREEN)).rejects.toMatchObject({
    code: 'check_failed',
    blockers: [{ message: expect.stringContaining('Tests must fail first') }],
  });
  await agent.requestTransition('IMPL', RED);

  await agent.writeFile('src/greet.txt', 'hello\n');
  expect(await agent.runCommand('cat src/greet.txt')).toMatchObject({
    ok: true,
    exit_code: 0,
    stdout: 'hello\n',
  });
  expect(await agent.runCommand('false')).toMatchObject({ ok: false, exit_code: 1 });
  await agent.requestTransition('REVIEW', GREEN);

  expect((await agent.grep('hello', { path: 'src' })).matches).toEqual([
    { path: 'src/greet.txt', line: 1, text: 'hello' },
  ]);
  const listed = await agent.listFiles({ glob: 'src/**' });
  expect(listed.entries).toContainEqual({ path: 'src/greet.txt', kind: 'file' });
  const waiting = await agent.requestTransition('COMPLETE', { review: { decision: 'approved' } });
  expect(waiting).toMatchObject({ status: 'waiting', phase: 'REVIEW', gate: { prompt: 'Is this right?' } });

  const card = await human.getGate(run);
  await expect(
    human.decide(run, { option: 'Approve', gate: card.gate, shown: 'something else' }),
  ).rejects.toMatchObject({
    code: 'shown_changed',
  });
  expect(await human.decide(run, { option: 'Approve' })).toMatchObject({
    run,
    status: 'active',
    phase: 'COMPLETE',
  });
  expect(await agent.waitForHuman()).toMatchObject({ phase: 'COMPLETE' });

  expect(await agent.requestTransition(null, { report: 'it greets' })).toMatchObject({
    status: 'completed',
    phase: null,
  });
  await expect(agent.getPhase()).rejects.toMatchObject({ code: 'usage' });
  expect(await agent.claimTask('walker')).toBeNull();
  expect(await human.getRun(run)).toMatchObject({ status: 'completed' });
  expect(await human.verifyAudit()).toMatchObject({ ok: true });
});

test('a token that died by a human is replaced by itself, and questions are asked and answered', async () => {
  const { run } = await human.startRun({ workflow: 'change', queue: true });
  const agent = await agentNamed('asker');
  await agent.claimTask('asker');

  expect(await agent.askHuman([{ text: 'Which greeting?', options: ['hello', 'hi'] }])).toMatchObject({
    status: 'waiting',
  });
  expect(await human.answer(run, { question: 1, option: 'hello' })).toMatchObject({ status: 'active' });
  await agent.waitForHuman();
  expect(await agent.reportBlocked('nobody told me the language')).toMatchObject({ status: 'escalated' });
  await human.resume(run, 'English');
  expect(await agent.waitForHuman()).toMatchObject({ status: 'active', phase: 'PLAN' });
  expect(await agent.getPhase()).toMatchObject({ phase_content: expect.stringContaining('English') });

  await agent.release();
  const other = await agentNamed('other');
  expect(await other.claimTask('other')).toMatchObject({ task: { id: run } });
  await human.stop(run, 'no longer needed');
  await expect(other.useTool('read_files', { path: 'brief.md' })).rejects.toBeInstanceOf(
    PhasegateClientError,
  );
});

test('everything that happens is an event, in order and once', async () => {
  const seen: EventRecord[] = [];
  const { run } = await human.startRun({ workflow: 'change', queue: true });
  const agent = await agentNamed('watched');
  await agent.claimTask('watched');
  await agent.useTools([
    { tool: 'read_files', input: { path: 'brief.md' } },
    { tool: 'bash', input: { command: 'ls' } },
  ]);

  for await (const record of human.events({ after: 0 })) {
    seen.push(record);
    if (record.run === run && record.event === 'tool_judged' && seen.some(refusedTool(run))) break;
  }

  const ids = seen.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(seen.filter((record) => record.run === run).map(({ event }) => event)).toEqual(
    expect.arrayContaining(['run_started', 'run_claimed', 'tool_judged', 'tool_executed']),
  );
  const { records } = await human.audit({ run });
  expect(records[0]).toMatchObject({ seq: 1, run });
  expect((await human.listRuns({ workflow: 'change' })).runs.map((line) => line.run)).toContain(run);
});

describe("the engine's own interface over HTTP", () => {
  test('gives a human the runs and their history, and takes decisions', async () => {
    const phasegate = human.asPhasegate();

    const { verdict, view } = await phasegate.start({
      workflow: 'change',
      params: {},
      queue: true,
      priority: 5,
    });
    const run = view?.run ?? '';
    const stopped = await phasegate.submit(run, { kind: 'stop', reason: 'not needed' });

    expect(verdict).toEqual({ allowed: true });
    expect(view).toMatchObject({
      status: 'queued',
      current: { id: 'PLAN' },
      nextAction: { act: 'claim' },
    });
    expect(stopped).toMatchObject({
      verdict: { allowed: true },
      view: { status: 'stopped', reason: 'not needed' },
    });
    expect(await phasegate.runs({ status: 'stopped' })).toContainEqual(
      expect.objectContaining({ run, priority: 5, startedAt: expect.any(String) }),
    );
    expect((await phasegate.history(run)).map(({ event }) => event)).toContain('run_stopped');
    expect(await phasegate.submit(run, { kind: 'stop', reason: 'again' })).toMatchObject({
      verdict: { allowed: false, blockers: [{ code: 'run_ended' }] },
    });
    await expect(phasegate.overview(run)).rejects.toMatchObject({
      name: 'PhasegateError',
      code: 'not_permitted',
    });
    await expect(phasegate.view('nowhere')).rejects.toMatchObject({
      name: 'PhasegateError',
      code: 'run_unknown',
    });
    await expect(phasegate.start({ workflow: 'nothing' })).rejects.toMatchObject({
      code: 'workflow_unknown',
    });
  });

  test('gives an agent the phase in hand and nothing else', async () => {
    const { run } = await human.startRun({ workflow: 'change', queue: true });
    const agent = await agentNamed('remote');
    await agent.claimTask('remote');
    const phasegate = agent.asPhasegate();

    expect(await phasegate.view(run)).toMatchObject({
      run,
      phase: 'PLAN',
      current: { name: 'PLAN' },
    });
    expect(await phasegate.phase(run)).toMatchObject({ ok: true, phase: { id: 'PLAN' } });
    expect(await phasegate.phase(run, 'IMPL')).toMatchObject({
      ok: false,
      skipped: { message: 'Cannot access Phase IMPL' },
    });
    expect(await phasegate.judgeTool(run, { tool: 'bash', input: { command: 'ls' } })).toMatchObject({
      allowed: false,
      blockers: [{ code: 'tool_forbidden' }],
    });
    const complete = { kind: 'complete', phase: 'PLAN', evidence: PLAN } as const;
    expect(await phasegate.submit(run, complete)).toMatchObject({
      verdict: { allowed: false, blockers: [{ code: 'tasks_not_fetched' }] },
    });
    expect(await phasegate.submit(run, { kind: 'fetch_task', phase: 'PLAN', task: 1 })).toMatchObject({
      outcome: { kind: 'task', content: expect.stringContaining('Look around') },
    });
    expect(await phasegate.submit(run, { ...complete, phase: 'TDD' })).toMatchObject({
      verdict: { allowed: false, blockers: [{ code: 'phase_sequence_violation' }] },
      view: { phase: 'PLAN' },
      outcome: { kind: 'phase_refused', skipped: { message: 'Cannot access Phase TDD' } },
    });
    expect(await phasegate.submit(run, complete)).toMatchObject({
      verdict: { allowed: true },
      view: { phase: 'TDD' },
    });
    await expect(phasegate.submit(run, { kind: 'stop', reason: 'x' })).rejects.toMatchObject({
      code: 'not_permitted',
    });
    await expect(phasegate.submit(run, { kind: 'expire' })).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(phasegate.runs()).rejects.toMatchObject({ code: 'not_permitted' });
  });
});

describe('who may do what', () => {
  test("an agent's key opens no human's route [C18 S2.24]", async () => {
    const agent = await agentNamed('curious');
    const acts = [
      () => agent.listRuns(),
      () => agent.startRun({ workflow: 'change' }),
      () => agent.getGate('x'),
      () => agent.decide('x', { option: 'Approve', gate: 'approved#1', shown: 'y' }),
      () => agent.answer('x', { question: 1, text: 'yes' }),
      () => agent.resume('x'),
      () => agent.stop('x', 'because'),
      () => agent.audit(),
      () => agent.verifyAudit(),
      () => agent.getStateSnapshot(),
      async () => {
        for await (const _record of agent.events()) break;
      },
    ];

    for (const act of acts) await expect(act()).rejects.toMatchObject({ code: 'not_permitted', status: 403 });
  });

  test('a wrong passphrase and a wrong key are 401 and say nothing of themselves', async () => {
    const stranger = connect({ url: server.url, key: 'pgk_nobody' });

    await expect(stranger.claimTask('nobody')).rejects.toMatchObject({
      code: 'credential_invalid',
      status: 401,
    });
    const refused = await stranger
      .signIn({ name: 'maria', passphrase: 'barley' })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'credential_invalid', status: 401 });
    expect(String(refused)).not.toContain('barley');
  });
});

const PLAN = { plan: { summary: 'greet' }, scope: ['src/**'] };

async function agentNamed(name: string): Promise<PhasegateClient> {
  const maria = await server.open.humans.unlock('maria', PASSPHRASE);
  const { key } = await server.open.agents.add(name, { by: maria });
  return connect({ url: server.url, key });
}

function refusedTool(run: string): (record: EventRecord) => boolean {
  return ({ event, data, ...record }) =>
    record.run === run &&
    event === 'tool_judged' &&
    (data as { readonly allowed?: boolean }).allowed === false;
}
