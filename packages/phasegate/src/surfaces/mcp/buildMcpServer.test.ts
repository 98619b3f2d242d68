import { describe, expect, test } from 'vitest';
import { type Connected, connect, ERAS, makeTestBed } from './fixtures/connect.ts';
import { ERRAND } from './fixtures/workflows.ts';

describe.each(ERAS)('in the %s era', (era) => {
  test('a run is walked through, each answer naming the next call [S0.12 S0.37 S0.38 S0.41 S0.42 C20]', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });

    const started = await call('start_workflow', { workflow_type: 'errand', target_file: 'town.md' });
    const session_id = String(started.session_id);
    expect(started).toMatchObject({
      resumed: false,
      trusted: false,
      status: 'active',
      workflow_overview: { total_phases: 3, phases: [{ phase: 'LOOK' }, { phase: 'GO' }, { phase: 'REST' }] },
      phase: 'LOOK',
      phase_number: 1,
      phase_name: 'Look around',
      artifacts_from_previous: {},
      checkpoint_criteria: { required_evidence: { notes: { type: 'artifact' } } },
      tasks: [
        { number: 1, name: 'North' },
        { number: 2, name: 'South' },
      ],
      task_count: 2,
      next_action: `get_task(session_id="${session_id}", phase="LOOK", task_number=1)`,
    });
    expect(started.phase_content).toContain('Look around first');

    const early = await call('complete_phase', { session_id, phase: 'LOOK', evidence: { notes: 'a hill' } });
    expect(early).toMatchObject({ checkpoint_passed: false, error: 'tasks_not_fetched' });
    expect(await call('get_task', { session_id, phase: 'LOOK', task_number: '1' })).toEqual({
      session_id,
      phase: 'LOOK',
      task_number: 1,
      task_content: expect.stringContaining('to the north'),
      source: 'static',
      next_action: `get_task(session_id="${session_id}", phase="LOOK", task_number=2)`,
    });
    expect(await call('get_task', { session_id, phase: 1.0, task_number: 2 })).toMatchObject({
      next_action: `complete_phase(session_id="${session_id}", phase="LOOK", evidence={notes})`,
    });

    const wrong = await call('complete_phase', { session_id, phase: 'LOOK', evidence: { notes: '' } });
    expect(wrong).toMatchObject({
      checkpoint_passed: false,
      error: 'incomplete_checkpoint',
      phase: 'LOOK',
      current_phase: 'LOOK',
      missing_evidence: [expect.stringContaining('notes')],
      required_format: { notes: { type: 'artifact' } },
      examples: {},
      message: 'Provide all required evidence to complete checkpoint',
      status: 'active',
    });
    expect(wrong.current_phase_content).toContain('Look around first');

    const looked = await call('complete_phase', { session_id, phase: '1', evidence: { notes: 'a hill' } });
    expect(looked).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 'LOOK',
      current_phase: 'GO',
      next_phase: 'GO',
      artifacts_available: { LOOK: { notes: 'a hill' } },
      status: 'active',
      next_action: `complete_phase(session_id="${session_id}", phase="GO", evidence={arrived})`,
    });
    expect(looked.next_phase_content).toContain('Only then go');

    const failed = await call('complete_phase', {
      session_id,
      phase: 'GO',
      evidence: { arrived: { there: false } },
    });
    expect(failed).toMatchObject({
      checkpoint_passed: false,
      error: 'check_failed',
      attempt: 1,
      blockers: [{ code: 'check_failed', next_action: expect.stringContaining('complete_phase(') }],
    });
    expect((await call('get_current_phase', { session_id })).phase_content).toContain(
      'Previous attempt failed',
    );
    const went = await call('complete_phase', {
      session_id,
      phase: 'GO',
      evidence: { arrived: { there: true } },
    });
    expect(went).toMatchObject({ checkpoint_passed: true, next_phase: 'REST' });
    expect(await call('complete_phase', { session_id, phase: 'REST', evidence: {} })).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 'REST',
      workflow_complete: true,
      message: 'All phases complete',
      status: 'completed',
      current_phase: null,
    });
    expect(await call('get_current_phase', { session_id })).toMatchObject({
      phase: null,
      status: 'completed',
      message: 'All phases complete',
    });
  });

  test('completed phases can be read again, without what came before them [S0.13 fail.22]', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });
    const session_id = await atGo(call);

    expect(await call('get_phase', { session_id, phase: 'LOOK' })).toMatchObject({
      phase: 'LOOK',
      artifacts_from_previous: {},
      next_action: expect.stringContaining('phase="GO"'),
    });
    expect(await call('get_phase', { session_id, phase: 2 })).toMatchObject({
      phase: 'GO',
      artifacts_from_previous: { LOOK: { notes: 'a hill' } },
    });
    expect(await call('get_workflow_state', { session_id })).toMatchObject({
      workflow: 'errand',
      target: 'town.md',
      status: 'active',
      current_phase: 'GO',
      completed_phases: ['LOOK'],
      progress: { completed: 1, current: 2, total: 3 },
      attempts: 0,
      gate: null,
      ring: 'served',
    });
  });

  test('an unfinished run is taken up, not doubled', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });
    const other = await connect(bed.parts({ kind: 'agent', name: 'other' }), { era });
    const start = { workflow_type: 'errand', target_file: 'town.md' };

    const [first, twin] = await Promise.all([call('start_workflow', start), call('start_workflow', start)]);
    const again = await call('start_workflow', { ...start, options: '{"mode":"full"}' });

    expect(twin).toMatchObject({ session_id: first.session_id, resumed: true });
    expect(again).toMatchObject({ session_id: first.session_id, resumed: true, phase: 'LOOK' });
    for (const different of [
      { workflow_type: 'errand' },
      { ...start, target_file: 'village.md' },
      { ...start, options: { mode: 'quick' } },
    ]) {
      expect(await call('start_workflow', different)).toMatchObject({ resumed: false });
    }
    expect(await other.call('start_workflow', start)).toMatchObject({ resumed: false });
    expect(await bed.open.as({ kind: 'agent', name: 'local' }).runs()).toHaveLength(4);
  });

  test('the phases a run was started with are the ones its overview names', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });
    await call('start_workflow', { workflow_type: 'errand' });

    bed.write('errand.workflow.yaml', ERRAND.replace('name: Look around', 'name: Something else'));
    const again = await call('start_workflow', { workflow_type: 'errand' });

    expect(again).toMatchObject({ resumed: true, phase_name: 'Look around' });
    expect(JSON.stringify(again)).not.toContain('Something else');
  });

  test('an unfinished run is taken up even when its files are broken; without one the fault is told [C5]', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const { call } = await connect(bed.parts(), { era });
    const first = await call('start_workflow', { workflow_type: 'errand' });

    bed.write('errand.workflow.yaml', 'workflow: errand\nphases: {}\n');

    expect(await call('start_workflow', { workflow_type: 'errand' })).toMatchObject({
      session_id: first.session_id,
      resumed: true,
    });
    expect(
      await call('start_workflow', { workflow_type: 'errand', target_file: 'village.md' }),
    ).toMatchObject({
      error: 'workflow_invalid',
    });
  });

  test('a run of another agent is refused, with nothing of it', async () => {
    const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
    const mine = await connect(bed.parts(), { era });
    const theirs = await connect(bed.parts({ kind: 'agent', name: 'other' }), { era });
    const { session_id = '' } = await mine.call('start_workflow', { workflow_type: 'errand' });

    for (const [tool, args] of Object.entries({
      get_workflow_state: {},
      get_current_phase: {},
      get_phase: { phase: 1 },
      get_task: { phase: 1, task_number: 1 },
      complete_phase: { phase: 1, evidence: {} },
      report_blocked: { reason: 'mine now' },
      ask_human: { questions: [{ text: 'May I?', options: ['yes', 'no'] }] },
    })) {
      const answer = await theirs.call(tool, { session_id, ...args });
      expect(answer, tool).toMatchObject({ error: 'not_your_run', next_action: expect.any(String) });
      expect(answer.is_error, tool).toBeUndefined();
      expect(JSON.stringify(answer), tool).not.toContain('Look around');
    }
  });
});

async function atGo(call: Connected['call']): Promise<string> {
  const started = await call('start_workflow', { workflow_type: 'errand', target_file: 'town.md' });
  const session_id = String(started.session_id);
  for (const task_number of [1, 2]) await call('get_task', { session_id, phase: 'LOOK', task_number });
  await call('complete_phase', { session_id, phase: 'LOOK', evidence: { notes: 'a hill' } });
  return session_id;
}
