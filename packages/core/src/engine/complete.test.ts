import { describe, expect, test } from 'vitest';
import { answerFor } from './fixtures/answerFor.ts';
import { ADA, complete, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';

const check = (message: string) => ({ check: 'asked', message });

describe('completing a phase', () => {
  test('moves to the next phase, keeps the evidence and raises the epoch [S0.37 S0.40 C8]', () => {
    const run = started(workflowOf(phases(2)));

    const { run: after, events, verdict } = submit(run, complete(run, { note: 'done' }));

    expect(verdict).toEqual({ allowed: true });
    expect(events).toHaveLength(1);
    expect(after).toMatchObject({ status: 'active', phase: 2, epoch: 2 });
    expect(after.completions).toMatchObject([
      { phase: 1, evidence: { note: 'done' }, outcome: 'ok', by: 'local' },
    ]);
  });

  test('of the last phase completes the run [S0.42 S0.43]', () => {
    const run = started(workflowOf(phases(1)));

    const decision = submit(run, complete(run));

    expect(decision.run).toMatchObject({ status: 'completed', phase: null });
    expect(answerFor(run, complete(run), decision)).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 1,
      workflow_complete: true,
      message: 'All phases complete',
      status: 'completed',
    });
  });

  test('answers with the next phase and what is available, and nothing of the one after it [S0.41 S0.53 S0.70]', () => {
    const run = started(workflowOf(phases(3)));
    const command = complete(run, { function_count: 21, functions: ['a', 'b'] });

    const answer = answerFor(run, command, submit(run, command));

    expect(answer).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 1,
      next_phase: 2,
      artifacts_available: { 1: { function_count: 21, functions: ['a', 'b'] } },
    });
    expect(answer.next_phase_content).toContain('SECRET-OF-2');
    expect(JSON.stringify(answer)).not.toContain('SECRET-OF-3');
  });

  test.each([2, 3])('phase %i while on phase 1 is refused as a sequence violation [S0.44 C3]', (phase) => {
    const run = started(workflowOf(phases(3)));
    const command = { kind: 'complete', phase, evidence: {} } as const;

    const decision = submit(run, command);

    expect(decision.verdict).toMatchObject({
      allowed: false,
      blockers: [{ code: 'phase_sequence_violation' }],
    });
    expect(decision.run.phase).toBe(1);
    expect(answerFor(run, command, decision)).toMatchObject({
      checkpoint_passed: false,
      error: 'phase_sequence_violation',
    });
  });

  test('a phase submitted twice is refused without counting towards an escalation [adv.K5]', () => {
    const run = submit(started(workflowOf(phases(2))), { kind: 'complete', phase: 1, evidence: {} }).run;

    const again = submit(run, { kind: 'complete', phase: 1, evidence: {} });

    expect(again.verdict).toMatchObject({ allowed: false, blockers: [{ code: 'phase_sequence_violation' }] });
    expect(again.events).toEqual([]);
  });

  test('by another agent, a human, or in a run that ended is turned away and changes nothing', () => {
    const run = started(workflowOf(phases(1)));
    const done = submit(run, complete(run)).run;

    expect(code(submit(run, complete(run), { principal: { kind: 'agent', name: 'other' } }))).toBe(
      'not_your_run',
    );
    expect(code(submit(run, complete(run), { principal: ADA }))).toBe('not_an_agent');
    expect(code(submit(done, { kind: 'complete', phase: 1, evidence: {} }))).toBe('run_ended');
    expect(submit(run, complete(run), { principal: ADA }).events).toEqual([]);
  });
});

describe('evidence', () => {
  const fields = [
    { name: 'function_count', type: 'int', rule: 'positive', description: 'functions found' },
    { name: 'method_count', type: 'int', description: 'methods found' },
    { name: 'branch_count', type: 'int' },
    { name: 'ast_command_output', type: 'str', rule: 'non_empty', description: 'what was printed' },
    { name: 'functions_list', type: 'list', rule: 'non_empty', description: 'names' },
  ] as const;
  const asking = () => started(workflowOf(phases(2, (index) => (index === 0 ? { fields } : {}))));
  const full = {
    function_count: 21,
    method_count: 15,
    branch_count: 36,
    ast_command_output: 'def …',
    functions_list: ['a'],
  };

  test('that is complete passes [S0.36 S0.64 S0.68]', () => {
    expect(submit(asking(), complete(asking(), full)).verdict.allowed).toBe(true);
  });

  test('that lacks four fields names all four at once [S0.31 S0.35 S0.38 S0.56 S0.65 C20]', () => {
    const run = asking();
    const command = complete(run, { function_count: 21 });

    const answer = answerFor(run, command, submit(run, command));

    expect(answer).toMatchObject({
      checkpoint_passed: false,
      error: 'incomplete_checkpoint',
      current_phase: 1,
      phase: 1,
      message: 'Provide all required evidence to complete checkpoint',
      missing_evidence: [
        'method_count (required: methods found)',
        'branch_count (required: no description)',
        'ast_command_output (required: what was printed)',
        'functions_list (required: names)',
      ],
    });
    expect(answer.current_phase_content).toContain('SECRET-OF-1');
    expect(answer.required_format).toMatchObject({ function_count: { type: 'int' } });
  });

  test.each([
    [{ function_count: true }, 'function_count (wrong type: expected int, got bool)'],
    [{ functions_list: 'a' }, 'functions_list (wrong type: expected list, got str)'],
    [{ function_count: 0 }, 'function_count (validation failed: functions found)'],
    [{ functions_list: [] }, 'functions_list (validation failed: names)'],
    [{ method_count: null }, 'method_count (required: methods found)'],
  ])('%j is refused in the words of the contract [S0.32 S0.33 fail.8]', (wrong, message) => {
    const { verdict } = submit(asking(), complete(asking(), { ...full, ...wrong }));

    expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'incomplete_checkpoint', message }] });
  });

  test('of the wrong shape does not count as an attempt; the fifth time running it is escalated', () => {
    let run = asking();
    for (let time = 1; time <= 4; time++) run = submit(run, complete(run, {})).run;
    expect(run).toMatchObject({ status: 'active', work: { attempts: 0, refusal: { count: 4 } } });

    const fifth = submit(run, complete(run, {})).run;

    expect(fifth).toMatchObject({ status: 'escalated', escalation: { reason: 'refusals' } });
  });

  test('an artifact is held against its schema, all problems at once [S2.45 S2.46 S2.47 S2.96]', () => {
    const artifacts = [
      {
        type: 'plan',
        schema: {
          type: 'object',
          required: ['steps'],
          properties: { steps: { type: 'array' }, title: { type: 'string' } },
        },
      },
      { type: 'scope' },
    ] as const;
    const run = started(workflowOf(phases(2, (index) => (index === 0 ? { artifacts } : {}))));

    const { verdict } = submit(run, complete(run, { plan: { title: 3 } }));

    const messages = verdict.allowed ? [] : verdict.blockers.map((blocker) => blocker.message);
    expect(messages).toHaveLength(3);
    expect(messages.join('\n')).toMatch(/plan.*steps[\s\S]*plan\/title[\s\S]*Missing scope/);
  });
});

describe('checks', () => {
  const guarded = () =>
    started(
      workflowOf(
        phases(2, (index) =>
          index === 0
            ? {
                postconditions: [check('plan not saved')],
                gates: [{ blockers: [check('tests must fail first')] }],
              }
            : {},
        ),
      ),
    );

  test('a failed check is refused with feedback, and the second time escalated [S3.5 S3.35 S3.40 S3.41 S3.42 S3.43]', () => {
    const run = guarded();

    const first = submit(run, complete(run), { answer: () => result('failed') });
    const second = submit(first.run, complete(first.run), { answer: () => result('failed') });

    expect(first.run).toMatchObject({ status: 'active', phase: 1, work: { attempts: 1 } });
    expect(answerFor(run, complete(run), first).current_phase_content).toContain(
      'Previous attempt failed: plan not saved; tests must fail first',
    );
    expect(second.run).toMatchObject({ status: 'escalated', phase: 1, escalation: { reason: 'attempts' } });
    expect(answerFor(first.run, complete(run), second)).toMatchObject({
      error: 'escalated',
      status: 'escalated',
      attempt: 2,
    });
  });

  test('all blockers are reported together, each with its message [S2.29 S2.31 S2.48 S2.50]', () => {
    const { verdict } = submit(guarded(), complete(guarded()), { answer: () => result('failed') });

    expect(verdict).toMatchObject({
      allowed: false,
      blockers: [
        { code: 'check_failed', message: 'plan not saved' },
        { code: 'check_failed', message: 'tests must fail first' },
      ],
    });
  });

  test.each([
    ['errored', 'check_errored'],
    ['timed_out', 'check_timed_out'],
  ] as const)(
    'a check that %s refuses the phase with a code of its own [C19 S0.34 fail.4 adv.H5]',
    (status, expected) => {
      const { verdict, run } = submit(guarded(), complete(guarded()), {
        answer: () => result(status, 'boom'),
      });

      expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: expected }, { code: expected }] });
      expect(run.work.attempts).toBe(1);
    },
  );

  test('a claimed answer does not serve where verified evidence is needed', () => {
    const run = started(
      workflowOf(phases(1, () => ({ postconditions: [{ check: 'asked', needs: 'verified' }] }))),
    );

    const { verdict } = submit(run, complete(run), {
      answer: () => ({ status: 'passed', reason: '', class: 'claimed' }),
    });

    expect(verdict).toMatchObject({ blockers: [{ code: 'evidence_class_too_low' }] });
  });

  test('the target is entered only if its preconditions hold; a failure is not an attempt [S3.33 C12]', () => {
    const run = started(
      workflowOf(phases(2, (index) => (index === 1 ? { preconditions: [check('book not found')] } : {}))),
    );

    const decision = submit(run, complete(run), { answer: () => result('failed') });

    expect(decision.verdict).toMatchObject({
      blockers: [{ code: 'precondition_failed', message: 'book not found' }],
    });
    expect(decision.run).toMatchObject({ phase: 1, work: { attempts: 0 } });
  });

  test('nothing is looked at for a submission that is refused anyway', () => {
    const run = guarded();
    let looked = 0;

    submit(
      run,
      { kind: 'complete', phase: 2, evidence: {} },
      { answer: () => result(looked++ ? 'passed' : 'passed') },
    );

    expect(looked).toBe(0);
  });
});

describe('tasks', () => {
  const tasks = [
    { name: 'Look', instructions: 'TASK-ONE' },
    { name: 'Think', instructions: 'TASK-TWO' },
  ];
  const withTasks = () => started(workflowOf(phases(2, (index) => (index === 0 ? { tasks } : {}))));

  test('a phase whose tasks were never fetched is not complete [fail.13]', () => {
    const run = withTasks();
    const read = submit(run, { kind: 'fetch_task', phase: 1, task: 1 });

    expect(code(submit(run, complete(run)))).toBe('tasks_not_fetched');
    expect(code(submit(read.run, complete(run)))).toBe('tasks_not_fetched');
    expect(
      submit(submit(read.run, { kind: 'fetch_task', phase: 1, task: 2 }).run, complete(run)).verdict.allowed,
    ).toBe(true);
  });

  test('a task of a later phase is refused without a word of it', () => {
    const run = started(workflowOf(phases(2, (index) => (index === 1 ? { tasks } : {}))));
    const command = { kind: 'fetch_task', phase: 2, task: 1 } as const;

    const answer = answerFor(run, command, submit(run, command));

    expect(answer).toMatchObject({ error: 'phase_sequence_violation' });
    expect(JSON.stringify(answer)).not.toContain('TASK-ONE');
  });

  test('a task that does not exist is an error that says how many there are [S1.77]', () => {
    const run = withTasks();
    const command = { kind: 'fetch_task', phase: 1, task: 3 } as const;

    expect(answerFor(run, command, submit(run, command))).toMatchObject({
      error: 'task_unknown',
      message: expect.stringContaining('2 tasks'),
    });
  });
});

describe('permissive mode', () => {
  test('judges and reports everything and blocks nothing [C9 S2.91]', () => {
    const run = started(
      workflowOf(
        phases(2, () => ({
          fields: [{ name: 'plan', type: 'str' }],
          postconditions: [check('tests must fail first')],
        })),
        {
          enforcement: { mode: 'permissive' },
        },
      ),
    );
    const command = complete(run);

    const decision = submit(run, command, { answer: () => result('failed') });

    expect(decision.run.phase).toBe(2);
    expect(answerFor(run, command, decision)).toMatchObject({
      checkpoint_passed: true,
      would_refuse: [{ code: 'incomplete_checkpoint' }, { code: 'check_failed' }],
    });
  });

  test('does not open a human gate', () => {
    const human = { prompt: 'ok?', options: [{ label: 'Yes' }] };
    const run = started(
      workflowOf(
        phases(2, (index) => (index === 0 ? { gates: [{ human }] } : {})),
        { enforcement: { mode: 'permissive' } },
      ),
    );

    expect(submit(run, complete(run)).run.status).toBe('waiting');
  });

  test('tells the human at a gate, and the audit, what would have been refused', () => {
    const human = { prompt: 'ok?', options: [{ label: 'Yes' }] };
    const run = started(
      workflowOf(
        phases(2, (index) =>
          index === 0 ? { gates: [{ human, blockers: [check('tests must fail first')] }] } : {},
        ),
        { enforcement: { mode: 'permissive' } },
      ),
    );

    const waiting = submit(run, complete(run), { answer: () => result('failed') }).run;

    expect(gateCard(waiting)).toMatchObject({
      would_refuse: [{ code: 'check_failed', message: 'tests must fail first' }],
    });
  });
});

function code(decision: ReturnType<typeof submit>): string {
  return decision.verdict.allowed ? 'allowed' : decision.verdict.blockers[0].code;
}
