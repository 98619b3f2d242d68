import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Json, JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { FULL, someOf } from '../tier.ts';
import { makeProject, PROGRAM, phasegate, type TestProject, withShown } from './cli.ts';
import { callOnce, withServer } from './mcpClient.ts';

const IDS = ['1', '2', '3'];

/** Numbered phases; every text is marked with the phase it belongs to. */
const WORKFLOW = `workflow: steps
title: Three steps
phases:
${IDS.map(
  (id) => `  ${id}:
    name: Step ${id}
    instructions: Mark-${id}-instructions
    writes: []
    tasks: [{ name: Mark-${id}-task, instructions: Mark-${id}-text }]
    required_artifacts: [{ type: mark_${id}, schema: { type: string }, description: Mark-${id}-artifact }]
    next: ${id === '3' ? 'null' : Number(id) + 1}
`,
).join('')}`;

const GATED = `workflow: gated
title: Ship it
gates:
  ship: { human: { prompt: Ship it?, options: [{ label: Approve, next: SHIP }, { label: Reject, next: null }] } }
phases:
  BUILD: { instructions: Build it., writes: [], gate: ship, next: SHIP }
  SHIP: { instructions: Ship it now., writes: [], next: null }
`;

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'sh', version: '1' },
};

const SECRET = { passphrase: 'open sesame' };

describe('phasegate mcp', () => {
  test.runIf(FULL)(
    'leads an agent through a workflow with a new server for every call [S0.62 C2 C3]',
    async () => {
      const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
      const started = await callOnce(project, 'start_workflow', {
        workflow_type: 'steps',
        target_file: 'a.py',
      });
      const session_id = String(started.session_id);
      expect(started).toMatchObject({ phase: 1, phase_number: 1, status: 'active' });

      const early = { session_id, phase: 1, evidence: { mark_1: 'x' } };
      expect(await callOnce(project, 'complete_phase', early)).toMatchObject({ error: 'tasks_not_fetched' });
      for (const id of IDS) {
        const at = { session_id, phase: Number(id) };
        const task = await callOnce(project, 'get_task', { ...at, task_number: 1 }, 'modern');
        expect(task).toMatchObject({ task_content: expect.stringContaining(`Mark-${id}-text`) });
        const resumed = await withServer(project, async ({ call }) => {
          const again = await call('start_workflow', { workflow_type: 'steps', target_file: 'a.py' });
          const done = await call('complete_phase', { ...at, evidence: { [`mark_${id}`]: 'x' } });
          expect(done).toMatchObject({ checkpoint_passed: true, phase_completed: Number(id) });
          return again;
        });
        expect(resumed).toMatchObject({ session_id, resumed: true, phase: Number(id) });
      }
      expect(await callOnce(project, 'get_workflow_state', { session_id })).toMatchObject({
        status: 'completed',
        completed_phases: [1, 2, 3],
        progress: { completed: 3, current: null, total: 3 },
      });
      expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
    },
  );

  test('shows no word of a later phase, however it is asked for [C1 S0.63]', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
    const { session_id = '' } = await callOnce(project, 'start_workflow', { workflow_type: 'steps' });

    for (const [index, id] of IDS.entries()) {
      await withServer(project, async ({ call }) => {
        for (const phase of laterThan(index)) {
          const answer = await call('get_phase', { session_id, phase });
          expect(answer, JSON.stringify(phase)).toMatchObject(skipRefused(id));
          expectNothingLater(answer, index);
        }
        const [next = 99] = laterThan(index);
        for (const [tool, own] of [
          ['get_task', { task_number: 1 }],
          ['complete_phase', { evidence: {} }],
        ] as const) {
          const answer = await call(tool, { session_id, phase: next, ...own });
          expect(answer, tool).toMatchObject(skipRefused(id));
          expectNothingLater(answer, index);
        }
        const at = { session_id, phase: Number(id) };
        await call('get_task', { ...at, task_number: 1 });
        await call('complete_phase', { ...at, evidence: { [`mark_${id}`]: 'x' } });
      });
    }
    expect(await callOnce(project, 'get_workflow_state', { session_id })).toMatchObject({
      status: 'completed',
    });
  });

  test('waits at a gate until a human has decided on another channel [C18]', async () => {
    const project = makeProject({ 'gated.workflow.yaml': GATED });
    await setUpHuman(project, 'gated');
    const { session_id = '' } = await callOnce(project, 'start_workflow', { workflow_type: 'gated' });
    const run = String(session_id);

    const waiting = await callOnce(project, 'complete_phase', { session_id, phase: 'BUILD', evidence: {} });
    expect(waiting).toMatchObject({ status: 'waiting', gate: { prompt: 'Ship it?' } });
    expect(JSON.stringify(waiting)).not.toContain('Ship it now');
    expect(String(waiting.next_action)).toContain(`phasegate decide ${run}`);
    await phasegate(project, await withShown(project, ['decide', run, '--option', 'Approve']), SECRET);

    expect(await callOnce(project, 'get_current_phase', { session_id })).toMatchObject({
      phase: 'SHIP',
      phase_content: expect.stringContaining('Ship it now'),
    });
  });

  test.runIf(FULL)('takes a human’s answer from the command line', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
    await setUpHuman(project, 'steps');
    const { session_id = '' } = await callOnce(project, 'start_workflow', { workflow_type: 'steps' });
    const questions = [{ text: 'Which database?', options: ['SQLite', 'PostgreSQL'] }];

    const asked = await callOnce(project, 'ask_human', { session_id, questions }, 'modern');
    expect(asked).toMatchObject({ status: 'waiting', questions });
    await phasegate(project, ['answer', String(session_id), '--question', '1', '--option', 'SQLite'], SECRET);

    expect(await callOnce(project, 'get_workflow_state', { session_id })).toMatchObject({
      status: 'active',
      answers: [{ question: 1, text: 'SQLite', elicited: false }],
    });
  });

  test('starts nothing a human has not accepted, once there is one', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW, 'gated.workflow.yaml': GATED });
    await setUpHuman(project, 'gated');

    expect(await callOnce(project, 'start_workflow', { workflow_type: 'steps' })).toMatchObject({
      error: 'untrusted_workflow',
      hint: expect.stringContaining('phasegate trust steps'),
    });
  });

  test('refuses 11 MB of evidence and goes on', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });

    await withServer(project, async ({ call }) => {
      const { session_id = '' } = await call('start_workflow', { workflow_type: 'steps' });
      const evidence = { mark_1: 'x'.repeat(11 * 1024 * 1024) };
      await expect(call('complete_phase', { session_id, phase: 1, evidence })).rejects.toThrow(
        'evidence may have 1 MB; send less',
      );
      expect(await call('get_workflow_state', { session_id })).toMatchObject({
        status: 'active',
        attempts: 0,
      });
    });
  });

  test.each(someOf(['legacy', 'modern'] as const, { quick: 1, full: 2 }))(
    'work for an earlier visit does nothing as the first call of an agent a runner started, %s [adv.O7]',
    async (era) => {
      const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
      const run = String((await phasegate(project, ['start', 'steps', '--json'])).json.run);
      await phasegate(project, ['task', run, '1', '1']);
      const first = await phasegate(project, ['done', run, '--evidence', '-', '--json'], {
        stdin: '{"mark_1":"x"}',
      });
      expect(first.json).toMatchObject({ next_phase: 2 });
      await phasegate(project, ['task', run, '2', '1']);
      const env = { ...project.env, PHASEGATE_RUN: run, PHASEGATE_STEP: '2', PHASEGATE_EPOCH: '1' };
      const late: readonly (readonly [string, JsonObject])[] = [
        ['complete_phase', { phase: 2, evidence: { mark_2: 'x' } }],
        ['ask_human', { questions: [{ text: 'Which?', options: ['a', 'b'] }] }],
        ['report_blocked', { reason: 'late' }],
      ];

      for (const [tool, args] of late) {
        const answer = await withServer(
          { ...project, env },
          ({ call }) => call(tool, { session_id: run, ...args }),
          { era },
        );
        expect(answer, tool).toMatchObject({ error: 'run_changed' });
      }
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
        status: 'active',
        phase: 2,
      });
    },
  );

  test('answers what was piped into it, and nothing else stands on stdout', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
    const messages: readonly JsonObject[] = [
      { id: 1, method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'list_workflows', arguments: {} } },
    ];
    const stdin = messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })).join('\n');

    const called = await phasegate(project, ['mcp'], { stdin });

    const answers = called.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(called).toMatchObject({ code: 0, stderr: '' });
    expect(answers).toMatchObject([
      { id: 1, result: { serverInfo: { name: 'phasegate' } } },
      { id: 2, result: { structuredContent: { workflows: [{ id: 'steps' }] } } },
    ]);
  });

  test.each(someOf(['SIGTERM', 'SIGINT'] as const, { quick: 1, full: 2 }))(
    'ends on %s with its state intact',
    async (signal) => {
      const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
      const server = spawn(process.execPath, [PROGRAM, 'mcp'], { cwd: project.root, env: project.env });
      server.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE })}\n`,
      );
      await once(server.stdout, 'data');

      server.kill(signal);

      expect(await once(server, 'close')).toEqual([0, null]);
      expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
    },
  );

  test.runIf(FULL)('serves one run where one is named, and says at once when there is none', async () => {
    const project = makeProject({ 'steps.workflow.yaml': WORKFLOW });
    const { session_id = '' } = await callOnce(project, 'start_workflow', { workflow_type: 'steps' });
    const words = ['--run', String(session_id)];

    const current = await withServer(project, ({ call }) => call('get_current_phase'), { words });
    const none = await phasegate(project, ['mcp', '--run', 'run-none']);

    expect(current).toMatchObject({ session_id, phase: 1 });
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('there is no run `run-none`');
  });
});

/** Later phases and phases that are nowhere, in every form. */
function laterThan(index: number): readonly Json[] {
  const later = IDS.slice(index + 1).flatMap((id) => [
    Number(id),
    id,
    Number(id) + 0.0,
    `${id}.0`,
    `Step ${id}`,
  ]);
  return [...later, -1, '-1', 99, 1e21, '1A', 'nowhere', ''];
}

function skipRefused(id: string): object {
  return {
    error: 'phase_sequence_violation',
    violation_type: 'attempted_skip',
    reason: `Currently on Phase ${id}`,
    required_action: `Complete Phase ${id} checkpoint first`,
    current_phase_content: expect.stringContaining(`Mark-${id}-instructions`),
    artifacts_available: expect.any(Object),
    progress: { completed: Number(id) - 1, current: Number(id), total: 3 },
    next_action: expect.stringContaining(`session_id=`),
  };
}

function expectNothingLater(answer: JsonObject, index: number): void {
  for (const id of IDS.slice(index + 1))
    expect(JSON.stringify(answer)).not.toMatch(new RegExp(`mark[-_]${id}`, 'i'));
}

async function setUpHuman(project: TestProject, workflow: string): Promise<void> {
  const added = await phasegate(project, ['humans', 'add', 'maria'], SECRET);
  const trusted = await phasegate(project, ['trust', workflow, '--yes'], SECRET);
  expect([added.code, trusted.code], `${added.stderr}${trusted.stderr}`).toEqual([0, 0]);
}
