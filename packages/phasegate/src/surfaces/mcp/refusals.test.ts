import type { Json, JsonObject } from '@phasegate/core';
import { PhasegateError } from '@phasegate/core';
import { EVIDENCE_LIMIT } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { answerToFailure } from './failure.ts';
import { type Connected, connect, makeTestBed } from './fixtures/connect.ts';
import { ERRAND, GATED } from './fixtures/workflows.ts';

/** Later phases, and phases that are not there, in every form a caller may write them. */
const SKIPS: readonly Json[] = [
  2,
  3,
  '2',
  ' 2 ',
  2.0,
  '2.0',
  2.5,
  'GO',
  'REST',
  'go',
  -1,
  '-1',
  0,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '1A',
  '',
  'none',
  '__proto__',
  'x'.repeat(10_000),
  null,
  true,
  ['GO'],
  { phase: 'GO' },
];

test('a number no JSON has (1e999) is refused, and what the others write is kept [adv.O1]', async () => {
  const { call, session_id } = await started();
  const evidence = { notes: 'all seen', deep: [{ n: Number.POSITIVE_INFINITY }] };

  expect(await call('complete_phase', { session_id, phase: 'LOOK', evidence })).toMatchObject({
    error: 'evidence_unreadable',
    message: 'evidence has at `deep[0].n` a number that JSON cannot hold',
  });
  const keys = { notes: { '\ud800': 1, '\ud801': 2 } };
  expect(await call('complete_phase', { session_id, phase: 'LOOK', evidence: keys })).toMatchObject({
    message: 'evidence has at `notes` a key with half of a surrogate pair',
  });
  expect(await call('start_workflow', { workflow_type: 'errand', options: '{"mode": 1e999}' })).toMatchObject(
    { error: 'usage', message: '`options` has at `mode` a number that JSON cannot hold' },
  );
  const both = await Promise.all([
    call('complete_phase', { session_id, phase: 'LOOK', evidence }),
    call('report_blocked', { session_id, reason: 'it is dark' }),
  ]);
  expect(both[1]).toMatchObject({ status: 'escalated' });
});

test.each(SKIPS.map((phase) => [shown(phase), phase] as const))(
  'asking for phase %s too early gets the current phase again [C1 C3 S0.14 S0.15 S0.55 S0.63]',
  async (_name, phase) => {
    const { call, session_id } = await started();

    const read = await call('get_phase', { session_id, phase });
    const fetched = await call('get_task', { session_id, phase, task_number: 1 });
    const completed = await call('complete_phase', {
      session_id,
      phase,
      evidence: { arrived: { there: true } },
    });
    const nonsense = await call('complete_phase', { session_id, phase, evidence: 'done' });

    for (const answer of [read, fetched, completed, nonsense]) {
      expect(answer).toMatchObject({
        error: 'phase_sequence_violation',
        message: expect.stringMatching(/^Cannot access Phase /),
        reason: 'Currently on Phase LOOK',
        required_action: 'Complete Phase LOOK checkpoint first',
        violation_type: 'attempted_skip',
        current_phase_content: expect.stringContaining('Look around first'),
        artifacts_available: {},
        progress: { completed: 0, current: 1, total: 3 },
        next_action: `get_task(session_id="${session_id}", phase="LOOK", task_number=1)`,
      });
      expect(answer.is_error).toBeUndefined();
      expect(JSON.stringify(answer)).not.toMatch(/then go|Now rest|arrived|be there/);
      expect(JSON.stringify(answer).length).toBeLessThan(3000);
    }
  },
);

test('a phase that is nowhere in the workflow is said to be out of range, beside the refusal [S1.76]', async () => {
  const { call, session_id } = await started();

  const nowhere = await call('get_phase', { session_id, phase: 99 });
  const later = await call('get_phase', { session_id, phase: 3 });

  expect(nowhere).toMatchObject({
    error: 'phase_sequence_violation',
    detail: { error: 'phase_out_of_range', message: 'Phase 99 not found (spec has 3 phases)' },
  });
  expect(later.detail).toBeUndefined();
});

test.each([0, 3, -1, 1.5, 1e9, '7'])('task %s that is not there is refused [S1.77]', async (task_number) => {
  const { call, session_id } = await started();

  expect(await call('get_task', { session_id, phase: 1, task_number })).toMatchObject({
    error: 'task_unknown',
    message: `Task ${task_number} not found (phase \`LOOK\` has 2 tasks)`,
    next_action: expect.stringContaining('task_number=1'),
  });
});

test.each<readonly [string, Json]>([
  ['text', 'done'],
  ['JSON text', '{"notes":"a hill"}'],
  ['a list', ['a hill']],
  ['a number', 7],
  ['null', null],
])('evidence that is %s is refused, and counts as no attempt', async (_name, evidence) => {
  const { call, session_id } = await started();

  const answer = await call('complete_phase', { session_id, phase: 'LOOK', evidence });

  expect(answer).toMatchObject({
    checkpoint_passed: false,
    error: 'evidence_unreadable',
    message: expect.stringContaining('must be a JSON object'),
    blockers: [{ code: 'evidence_unreadable', next_action: answer.next_action }],
    current_phase: 'LOOK',
    current_phase_content: expect.stringContaining('Look around first.'),
    status: 'active',
    attempt: 0,
  });
  expect(answer.is_error).toBeUndefined();
});

test('evidence over 1 MB and evidence without a floor are refused [adv.O4]', async () => {
  const { call, session_id } = await started();
  const large = { notes: 'x'.repeat(EVIDENCE_LIMIT) };
  let deep: JsonObject = {};
  for (let level = 0; level < 300; level++) deep = { deep };

  expect(await call('complete_phase', { session_id, phase: 'LOOK', evidence: large })).toMatchObject({
    error: 'evidence_unreadable',
    message: 'evidence is over the limit of 1 MB',
  });
  expect(await call('complete_phase', { session_id, phase: 'LOOK', evidence: deep })).toMatchObject({
    error: 'evidence_unreadable',
    message: 'evidence is nested deeper than 200 levels',
  });
});

test('evidence that is left out is as good as empty: all that is missing is listed', async () => {
  const { call, session_id } = await started();
  for (const task_number of [1, 2]) await call('get_task', { session_id, phase: 1, task_number });

  expect(await call('complete_phase', { session_id, phase: 'LOOK' })).toMatchObject({
    error: 'incomplete_checkpoint',
    missing_evidence: [expect.stringContaining('notes')],
  });
});

test('an unknown session, workflow, param or outcome is an answer, not a fault [S0.49]', async () => {
  const { call, session_id } = await started();
  const start = (args: JsonObject) => call('start_workflow', { workflow_type: 'errand', ...args });

  const answers = [
    await call('get_workflow_state', { session_id: 'run-none' }),
    await call('complete_phase', { session_id: '../../etc/passwd', phase: 1, evidence: {} }),
    await start({ workflow_type: 'errant' }),
    await start({ options: { mode: 'slow' } }),
    await start({ options: { speed: 'fast' } }),
    await call('complete_phase', { session_id, phase: 1, evidence: {}, outcome: 'perfect' }),
    await call('complete_phase', { session_id, phase: 1, evidence: {}, outcome: 'skip' }),
  ];

  expect(answers).toMatchObject([
    { error: 'session_unknown', message: 'Session run-none not found', next_action: 'list_workflows()' },
    { error: 'session_unknown' },
    {
      error: 'workflow_unknown',
      message: expect.stringContaining('errand'),
      next_action: 'list_workflows()',
    },
    {
      error: 'param_invalid',
      message: expect.stringContaining('`quick`'),
      blockers: [{ code: 'param_invalid' }],
    },
    { error: 'param_invalid', message: expect.stringContaining('no param `speed`') },
    {
      error: 'outcome_not_allowed',
      message: expect.stringContaining('one of `ok`, `fail`, `iterate`'),
      checkpoint_passed: false,
      blockers: [{ code: 'outcome_not_allowed' }],
      current_phase_content: expect.stringContaining('Look around first.'),
    },
    { checkpoint_passed: false },
  ]);
  expect(answers.filter((answer) => answer.is_error)).toEqual([]);
});

test('a workflow with problems is refused with every place', async () => {
  const bed = await makeTestBed({ 'bad.workflow.yaml': 'workflow: bad\nphases: { A: { next: B } }\n' });
  const { call } = await connect(bed.parts(), { era: 'legacy' });

  const answer = await call('start_workflow', { workflow_type: 'bad' });

  expect(answer).toMatchObject({
    error: 'workflow_invalid',
    problems: expect.arrayContaining([
      { file: 'bad.workflow.yaml', line: 2, column: 22, message: expect.stringContaining('`B`') },
    ]),
  });
});

test.each<readonly [string, JsonObject, string]>([
  ['get_phase', {}, '`phase` is missing'],
  ['get_workflow_state', { session_id: ['a'] }, '`session_id` must be text, got a list'],
  ['start_workflow', {}, '`workflow_type` is missing'],
  ['start_workflow', { workflow_type: 'errand', options: 'mode=quick' }, '`options` must be a JSON object'],
  ['start_workflow', { workflow_type: 'errand', options: [1] }, '`options` must be a JSON object'],
  ['get_task', { phase: 1, task_number: 'two' }, '`task_number` must be a number'],
  ['ask_human', { questions: ['Which?'] }, 'question 1 is not of the form'],
  ['search_standards', {}, '`query` is missing'],
])('%s called with %o is a fault that says what is wrong', async (tool, args, message) => {
  const { call, session_id } = await started();

  const alone = tool === 'start_workflow' || tool === 'search_standards';
  const answer = await call(tool, alone ? args : { session_id, ...args });

  expect(answer).toMatchObject({ is_error: true, error: 'usage', message: expect.stringContaining(message) });
});

test.each([
  new Error("ENOENT: no such file or directory, open '/home/maria/.local/state/phasegate/p/keys.json'"),
  new PhasegateError(
    'store_corrupt',
    '`/home/maria/.local/state/phasegate/p/state.db` was there and is gone',
  ),
  new PhasegateError('store_unavailable', '`/home/maria/.local/state/phasegate/p` cannot be written: EACCES'),
])('what breaks inside names no path of ours (%s)', (error) => {
  const { answer, fault } = answerToFailure(error);

  expect(fault).toBe(true);
  expect(JSON.stringify(answer)).not.toMatch(/maria|state\/phasegate|keys\.json|state\.db/);
});

test('what breaks inside is a fault with a code and without a stack', async () => {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const parts = bed.parts();
  const broken = { ...parts.phasegate, view: () => Promise.reject(new Error('the disk is gone')) };
  const { call } = await connect({ ...parts, phasegate: broken }, { era: 'legacy' });

  const answer = await call('get_workflow_state', { session_id: 'run-1' });

  expect(answer).toEqual({
    error: 'internal',
    message: 'a fault of Phasegate itself',
    hint: expect.any(String),
    next_action: expect.any(String),
    is_error: true,
  });
});

test('a source or template that cannot be read is answered in its own shape', () => {
  const hint = 'Verify tasks.md follows spec format';
  const error = new PhasegateError('source_parse_failed', 'Could not parse tasks.md: it is a directory', {
    hint,
  });

  expect(answerToFailure(error)).toMatchObject({
    fault: false,
    answer: { error: 'source_parse_failed', message: 'Could not parse tasks.md: it is a directory', hint },
  });
});

test('at a gate the agent is told who decides, and nothing of what comes next [C18]', async () => {
  const bed = await makeTestBed({ 'gated.workflow.yaml': GATED });
  const { call } = await connect(bed.parts(), { era: 'legacy' });
  const { session_id = '' } = await call('start_workflow', { workflow_type: 'gated' });

  const waiting = await call('complete_phase', { session_id, phase: 'BUILD', evidence: {} });
  const later = [
    await call('get_current_phase', { session_id }),
    await call('get_workflow_state', { session_id }),
    await call('start_workflow', { workflow_type: 'gated' }),
  ];
  const again = await call('complete_phase', { session_id, phase: 'BUILD', evidence: {} });

  const next_action = expect.stringContaining(
    `get_workflow_state(session_id="${session_id}") once a human has decided at gate`,
  );
  const gate = {
    id: expect.stringContaining('ship'),
    prompt: 'Ship it?',
    options: [{ label: 'Approve' }, { label: 'Reject' }],
  };
  expect(waiting).toMatchObject({ checkpoint_passed: true, status: 'waiting', gate, next_action });
  for (const answer of later) expect(answer).toMatchObject({ status: 'waiting', gate, next_action });
  expect(later[2]).toMatchObject({ session_id, resumed: true });
  expect(again).toMatchObject({ checkpoint_passed: false, error: 'run_waiting', next_action });
  expect(JSON.stringify([waiting, later, again])).not.toContain('Ship it now');
  expect(String(waiting.next_action)).toContain(`phasegate decide ${session_id}`);
});

test('reading ahead is on record', async () => {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const { call } = await connect(bed.parts(), { era: 'legacy' });
  const { session_id = '' } = await call('start_workflow', { workflow_type: 'errand' });

  await call('get_phase', { session_id, phase: 'LOOK' });
  await call('get_phase', { session_id, phase: 'REST' });

  const history = await bed.parts().phasegate.history(String(session_id));
  expect(history.map(({ principal, event, data }) => ({ principal, event, data })).slice(1)).toEqual([
    {
      principal: 'agent:local',
      event: 'command_refused',
      data: {
        command: 'get_phase',
        blockers: [{ code: 'phase_sequence_violation', message: 'Cannot access Phase REST' }],
      },
    },
  ]);
});

test('an agent whose open items others hold is told the item it may complete, and then to do other work', async () => {
  const bed = await makeTestBed({ 'each.workflow.yaml': EACH });
  const { call } = await connect(bed.parts(), { era: 'modern' });
  const { session_id } = await call('start_workflow', { workflow_type: 'each' });
  const complete = (evidence: JsonObject, phase = 'EACH') =>
    call('complete_phase', { session_id: session_id as Json, phase, evidence });
  await complete({ files: ['x', 'y'] }, 'LIST');
  const claim = () => bed.open.claims.claim({ kind: 'agent', name: 'bob' }, []);

  expect(await claim()).toMatchObject({ item: { key: 'x' } });
  expect(await complete({})).toMatchObject({
    error: 'item_required',
    next_action: `complete_phase(session_id="${session_id}", phase="EACH", item="y", evidence={})`,
  });

  expect(await claim()).toMatchObject({ item: { key: 'y' } });
  for (let round = 0; round < 6; round += 1) {
    expect(await complete({})).toMatchObject({
      error: 'item_held',
      status: 'active',
      next_action: 'claim other work, or look again later: other agents hold the open items',
    });
  }
});

const EACH = `workflow: each
enforcement: { workspace: shared }
phases:
  LIST: { required_artifacts: [files] }
  EACH: { parallel: true, parallel_key: files }
  END: {}
`;

async function started(): Promise<Connected & { readonly session_id: string }> {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const connected = await connect(bed.parts(), { era: 'legacy' });
  const { session_id = '' } = await connected.call('start_workflow', { workflow_type: 'errand' });
  return { ...connected, session_id: String(session_id) };
}

function shown(phase: Json): string {
  return JSON.stringify(phase).slice(0, 30);
}

test('a result for an earlier visit of a phase does not complete a later one; read again, it does [adv.O7]', async () => {
  const bed = await makeTestBed({
    'loop.workflow.yaml': `workflow: loop
phases:
  A: { next: { condition: result.good === true, on_true: B, on_false: A, max_iterations: 3 } }
  B: {}
`,
  });
  const one = await connect(bed.parts(), { era: 'legacy' });
  const other = await connect(bed.parts(), { era: 'legacy' });
  const session_id = String((await one.call('start_workflow', { workflow_type: 'loop' })).session_id);
  await other.call('get_current_phase', { session_id });
  const sendBack = { session_id, phase: 'A', evidence: { good: false } };
  expect(await other.call('complete_phase', sendBack)).toMatchObject({ next_phase: 'A' });

  const late = await one.call('complete_phase', { session_id, phase: 'A', evidence: { good: true } });
  const again = await one.call('complete_phase', { session_id, phase: 'A', evidence: { good: true } });

  for (const answer of [late, again]) {
    expect(answer).toMatchObject({ error: 'run_changed', next_action: 'get_workflow_state(session_id)' });
  }
  await one.call('get_workflow_state', { session_id });
  expect(
    await one.call('complete_phase', { session_id, phase: 'A', evidence: { good: true } }),
  ).toMatchObject({ checkpoint_passed: true, next_phase: 'B' });
});
