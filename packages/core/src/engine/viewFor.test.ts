import { encodeSkipped } from '@phasegate/wire';
import { describe, expect, test } from 'vitest';
import { ADA, AGENT, complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { decideStart } from './start.ts';
import { canAccessPhase, findPhase, phaseAnswer, viewFor } from './viewFor.ts';

const onSecond = () => {
  const run = started(workflowOf(phases(4)));
  return submit(run, complete(run, { function_count: 21, ast_command: 'python -m ast' })).run;
};

describe('what an agent may see', () => {
  test('the current phase and completed ones, and no other [S0.8 S0.9 S0.10]', () => {
    expect([1, 2, 3, 4].map((phase) => canAccessPhase(onSecond(), phase))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('a phase comes with the fields of the contract [S0.12 S0.13]', () => {
    const current = phaseAnswer(onSecond(), 2);
    const completed = phaseAnswer(onSecond(), 1);

    expect(current).toMatchObject({
      ok: true,
      phase: {
        id: 2,
        number: 2,
        name: 'Name2',
        artifacts: { 1: { function_count: 21 } },
        tasks: [],
      },
    });
    expect(completed).toMatchObject({ ok: true, phase: { id: 1, artifacts: {} } });
  });

  test('a view looks at each phase a few times, however many were completed', () => {
    const count = 300;
    const last = Array.from({ length: count - 1 }).reduce<ReturnType<typeof started>>(
      (run) => submit(run, complete(run)).run,
      started(workflowOf(phases(count))),
    );
    let looks = 0;
    const watched = new Proxy(last.workflow.phases, {
      get: (target, key, receiver) => {
        looks += 1;
        return Reflect.get(target, key, receiver);
      },
    });

    const view = viewFor({ ...last, workflow: { ...last.workflow, phases: watched } }, AGENT);

    expect(view.completedPhases).toHaveLength(count - 1);
    expect(looks).toBeLessThan(5 * count);
  });

  test.each([3, '3', 3.0, '3.0', 'Name3', 4, -1, 99, '1A', 1e21, null])(
    'asking for %j is refused in one shape, with what to do instead [C1 S0.14 S0.15 S0.55 S0.71]',
    (requested) => {
      const answer = phaseAnswer(onSecond(), requested);
      const refusal = answer.ok ? null : encodeSkipped(answer.skipped, viewFor(onSecond(), AGENT));

      expect(refusal).toMatchObject({
        error: 'phase_sequence_violation',
        message: `Cannot access Phase ${requested}`,
        reason: 'Currently on Phase 2',
        required_action: 'Complete Phase 2 checkpoint first',
        violation_type: 'attempted_skip',
        artifacts_available: { 1: { function_count: 21 } },
        progress: { completed: 1, current: 2, total: 4 },
      });
      const text = JSON.stringify(refusal);
      expect(text).toContain('SECRET-OF-2');
      expect(text).not.toMatch(/SECRET-OF-[34]/);
    },
  );

  test('numbers that arrive as text or floats are understood; an id wins over a number, a number over a name [C2]', () => {
    const mixed = workflowOf([{ id: 'PLAN', name: 'Two' }, { id: 'TDD' }, { id: 'END', name: 'PLAN' }]);
    const zero = workflowOf([{ id: 0 }, { id: 1 }]);

    expect([2, '2', 2.0, ' 2 '].map((asked) => findPhase(mixed, asked)?.id)).toEqual([
      'TDD',
      'TDD',
      'TDD',
      'TDD',
    ]);
    expect(findPhase(mixed, 'PLAN')?.id).toBe('PLAN');
    expect(findPhase(mixed, 'Two')?.id).toBe('PLAN');
    expect(findPhase(zero, 0)?.id).toBe(0);
    expect(findPhase(zero, '')).toBeNull();
    expect(findPhase(mixed, 2.5)).toBeNull();
  });

  test('a run that starts at phase 0 is on phase 0 [C2 fail.16]', () => {
    const run = started(workflowOf([{ id: 0 }, { id: 1 }]));

    expect(viewFor(run, AGENT)).toMatchObject({ phase: 0, progress: { completed: 0, current: 0, total: 2 } });
    expect(submit(run, complete(run)).run.phase).toBe(1);
  });

  test('the view holds status, progress and the one next action, and no word of later phases [S0.1 S0.67]', () => {
    const view = viewFor(onSecond(), AGENT);

    expect(view).toMatchObject({
      status: 'active',
      phase: 2,
      completedPhases: [1],
      progress: { completed: 1, current: 2, total: 4 },
      attempts: 0,
      gate: null,
      ring: 'served',
      nextAction: { act: 'complete_phase', phase: 2 },
    });
    expect(JSON.stringify(view)).not.toMatch(/SECRET-OF-[34]/);
  });

  test("what a phase left behind keeps structured values, and the agent's own words beside them [S0.39 S0.54 fail.18]", () => {
    const run = started(workflowOf(phases(2)));
    const evidence = { function_count: 21, names: ['a', 'b'], commands_executed: ['python -m ast'] };
    const left = submit(run, complete(run, evidence)).run;

    expect(left.completions).toMatchObject([{ phase: 1, visit: 1, at: expect.any(String), by: AGENT.name }]);
    expect(viewFor(left, AGENT).current?.artifacts).toEqual({ 1: evidence });
  });

  test('the context of a gate is for humans', () => {
    const human = { prompt: 'Ship?', context: ['report'], options: [{ label: 'Yes' }] };
    const run = started(workflowOf(phases(1, () => ({ gates: [{ human }] }))));
    const waiting = submit(run, complete(run, { report: 'CONTEXT' })).run;

    expect(viewFor(waiting, ADA).gate?.context).toEqual({ report: 'CONTEXT' });
    expect(viewFor(waiting, AGENT).gate?.context).toEqual({});
  });
});

describe('starting', () => {
  const params = {
    mode: { type: 'string', choices: ['quick', 'full'], default: 'full' },
    depth: { type: 'integer', min: 1, max: 3 },
  } as const;
  const workflow = workflowOf(phases(1), { params });
  const start = (given: Record<string, never> | Record<string, string | number>, queued = false) =>
    decideStart(
      {
        id: 'r',
        workflow,
        workflowHash: 'h',
        target: null,
        params: given,
        ring: 'served',
        trusted: false,
        queued,
      },
      { principal: AGENT, now: '2026-11-15T12:00:00.000Z', facts: {} },
    );

  test('fills in defaults and refuses unknown and unfitting params, all at once [S4.8 S4.9]', () => {
    expect(start({}).run?.params).toEqual({ mode: 'full' });
    expect(start({ mode: 'fast', dept: 2, depth: 9 }).verdict).toMatchObject({
      allowed: false,
      blockers: [
        { code: 'param_invalid', message: 'there is no param `dept` (did you mean `depth`?)' },
        { code: 'param_invalid', message: 'param `mode` must be one of `quick`, `full`' },
        { code: 'param_invalid', message: 'param `depth` must be from 1 to 3' },
      ],
    });
  });

  test('a queued run is held by nobody and lets nobody work', () => {
    const run = start({}, true).run;

    expect(run).toMatchObject({ status: 'queued', holder: null });
    expect(run && submit(run, complete(run)).verdict).toMatchObject({
      blockers: [{ code: 'run_not_active' }],
    });
  });

  test('makes no run when a precondition of the first phase fails', () => {
    const guarded = workflowOf(
      phases(1, () => ({ preconditions: [{ check: 'asked', message: 'Book not found' }] })),
    );
    const decision = decideStart(
      {
        id: 'r',
        workflow: guarded,
        workflowHash: 'h',
        target: null,
        params: {},
        ring: 'served',
        trusted: false,
        queued: false,
      },
      { principal: AGENT, now: '2026-11-15T12:00:00.000Z', facts: {} },
    );

    expect(decision.run).toBeNull();
    expect(decision.verdict).toMatchObject({ blockers: [{ code: 'precondition_failed' }] });
  });
});
