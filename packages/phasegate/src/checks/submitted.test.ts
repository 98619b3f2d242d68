import type { Json, JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { checkInput } from './fixtures/checkInput.ts';
import { CHECKS } from './index.ts';

describe('tests_are_failing', () => {
  test('passes with a failed test and refuses 0, absence and what is not a number [S2.49]', async () => {
    expect(await ask('tests_are_failing', { test_run_result: { failed: 3 } })).toMatchObject({
      passed: true,
    });
    await refuses('tests_are_failing', 'test_run_result', { failed: 0 }, '`test_run_result.failed` is 0');
    await refuses(
      'tests_are_failing',
      'test_run_result',
      {},
      'failed` is missing, expected a number above 0',
    );
  });

  test('never takes a boolean, a text or a broken number for a count [fail.8]', async () => {
    for (const failed of [true, '3', -1, 1.5, null, [], {}]) {
      await refuses('tests_are_failing', 'test_run_result', { failed }, '`test_run_result.failed` is');
    }
  });
});

describe('tests_are_passing', () => {
  test('passes with passed tests and no failed one', async () => {
    expect(await ask('tests_are_passing', { test_run_result: { failed: 0, passed: 4 } })).toMatchObject({
      passed: true,
    });
  });

  test('is never satisfied by a run of no tests [adv.I8]', async () => {
    await refuses(
      'tests_are_passing',
      'test_run_result',
      { failed: 0, passed: 0 },
      'expected a number above 0',
    );
    await refuses(
      'tests_are_passing',
      'test_run_result',
      { failed: 0 },
      '`test_run_result.passed` is missing',
    );
    await refuses(
      'tests_are_passing',
      'test_run_result',
      { exit_code: 0 },
      '`test_run_result.failed` is missing',
    );
  });

  test('refuses failed and errored tests', async () => {
    await refuses(
      'tests_are_passing',
      'test_run_result',
      { failed: 1, passed: 4 },
      '`test_run_result.failed` is 1',
    );
    await refuses('tests_are_passing', 'test_run_result', { failed: false, passed: 4 }, 'is false');
    await refuses(
      'tests_are_passing',
      'test_run_result',
      { failed: 0, passed: 4, errors: 2 },
      'errors` is 2',
    );
  });
});

describe('tests_exist and no_skipped_tests', () => {
  test('take a total or a count above 0', async () => {
    expect(await ask('tests_exist', { test_run_result: { total: 1 } })).toMatchObject({ passed: true });
    expect(await ask('tests_exist', { test_run_result: { count: 1 } })).toMatchObject({ passed: true });
    await refuses('tests_exist', 'test_run_result', { total: 0, count: 5 }, '`test_run_result.total` is 0');
    await refuses('tests_exist', 'test_run_result', { total: true }, 'is true');
  });

  test('want to be told that nothing was skipped [fail.5]', async () => {
    expect(await ask('no_skipped_tests', { test_run_result: { skipped: 0 } })).toMatchObject({
      passed: true,
    });
    await refuses('no_skipped_tests', 'test_run_result', { skipped: 2 }, '`test_run_result.skipped` is 2');
    await refuses('no_skipped_tests', 'test_run_result', {}, '`test_run_result.skipped` is missing');
    await refuses('no_skipped_tests', 'test_run_result', { skipped: false }, 'is false');
  });
});

describe('coverage_at_least', () => {
  test('compares a percentage, given alone or in an object', async () => {
    expect(await ask('coverage_at_least', { coverage: 80 }, { minimum: 80 })).toMatchObject({ passed: true });
    expect(await ask('coverage_at_least', { coverage: { lines: 91.5 } }, { minimum: 90 })).toMatchObject({
      passed: true,
    });
    expect(await ask('coverage_at_least', { coverage: { percent: 79.9 } }, { minimum: 80 })).toEqual({
      passed: false,
      reason: '`coverage.percent` is 79.9, expected at least 80',
    });
  });

  test('refuses what is not a percentage, also when nothing is demanded', async () => {
    for (const coverage of [true, '99', { percent: true }, {}, 101, -1, { lines: null }]) {
      expect(await ask('coverage_at_least', { coverage }, { minimum: 0 })).toMatchObject({ passed: false });
    }
    await expect(ask('coverage_at_least', { coverage: 100 })).rejects.toThrow('`minimum` must be a number');
  });
});

describe('scope', () => {
  test('a plan must list its paths [fail.5]', async () => {
    for (const name of ['plan_has_scope', 'scope_is_bounded']) {
      expect(await ask(name, { plan: { scope: ['src/a/**', 'test/a.ts'] } })).toMatchObject({ passed: true });
      expect(await ask(name, { plan: { scope: { paths: ['src/a.ts'] } } })).toMatchObject({ passed: true });
      for (const plan of [
        {},
        { scope: [] },
        { scope: 'src' },
        { scope: [true] },
        { scope: [' '] },
        [],
        'src/**',
      ]) {
        expect(await ask(name, { plan }), JSON.stringify(plan)).toMatchObject({ passed: false });
      }
    }
  });

  test('no path may be everything or leave the workspace', async () => {
    for (const path of ['**', '*', '**/*', './**', '*/**', '../other/**', '/etc', 'src/../..']) {
      expect(await ask('scope_is_bounded', { plan: { scope: ['src/a.ts', path] } }), path).toMatchObject({
        passed: false,
      });
    }
  });

  test('another artifact can hold it', async () => {
    expect(await ask('scope_is_bounded', { scope: ['src/**'] }, { artifact: 'scope' })).toMatchObject({
      passed: true,
    });
  });
});

describe('changes_within_scope', () => {
  const plan = { scope: ['src/auth/**', 'test/*.test.ts'] };

  test('passes when every change is within the plan', async () => {
    const changes = ['src/auth/login.ts', { path: 'test/login.test.ts' }];

    expect(await ask('changes_within_scope', { plan, changes })).toMatchObject({ passed: true });
    expect(await ask('changes_within_scope', { plan, changes: { files: ['src/auth/x'] } })).toMatchObject({
      passed: true,
    });
  });

  test('names every change outside it, also one that climbs out', async () => {
    const answer = await ask('changes_within_scope', {
      plan,
      changes: ['src/auth/../pay.ts', 'README.md', 'src/auth/a'],
    });

    expect(answer.passed).toBe(false);
    expect(answer.reason).toBe('`src/auth/../pay.ts`, `README.md` lies outside the scope of `plan`');
  });

  test('refuses an empty or malformed list, and a missing or unbounded plan', async () => {
    for (const changes of [[], [1], 'src/auth/a', { files: [] }, [{}], {}]) {
      expect(await ask('changes_within_scope', { plan, changes })).toMatchObject({ passed: false });
    }
    expect(await ask('changes_within_scope', { changes: ['a'] })).toMatchObject({ passed: false });
    expect(await ask('changes_within_scope', { changes: ['a'], plan: { scope: ['**'] } })).toMatchObject({
      passed: false,
    });
  });
});

describe('tests_exist_for_acceptance_criteria', () => {
  const plan = { acceptance_criteria: [{ id: 'AC1' }, 'AC2', { id: 3 }] };

  test('passes when every criterion is named by a test [fail.5]', async () => {
    const tests = [
      { name: 'a', criterion: 'AC1' },
      { name: 'b', criteria: ['AC2', 3] },
    ];

    expect(await ask('tests_exist_for_acceptance_criteria', { plan, tests })).toMatchObject({ passed: true });
  });

  test('names the criteria without a test', async () => {
    const answer = await ask('tests_exist_for_acceptance_criteria', { plan, tests: [{ criterion: 'AC1' }] });

    expect(answer).toEqual({ passed: false, reason: 'no test names `AC2`, `3`' });
  });

  test('a plan without criteria covers nothing, and so fails [adv.I8]', async () => {
    const empty = { acceptance_criteria: [] };
    const nameless = { acceptance_criteria: [{ text: 'no id' }] };
    for (const bad of [empty, nameless, {}, { acceptance_criteria: 'AC1' }]) {
      const answer = await ask('tests_exist_for_acceptance_criteria', {
        plan: bad,
        tests: [{ criterion: 'AC1' }],
      });
      expect(answer.passed).toBe(false);
    }
    expect(await ask('tests_exist_for_acceptance_criteria', { plan })).toMatchObject({ passed: false });
  });

  test('takes other places', async () => {
    const submitted = { spec: { must: ['A'] }, suite: { list: { tests: [{ criterion: 'A' }] } } };
    const places = { criteria: 'artifacts.spec.must', tests: 'suite.list' };

    expect(await ask('tests_exist_for_acceptance_criteria', submitted, places)).toMatchObject({
      passed: true,
    });
  });
});

describe('what something is measured against', () => {
  const changes = ['src/evil.js'];
  const judged = (
    scope: JsonObject,
    more: { readonly declares?: readonly string[]; readonly covered?: readonly string[] },
  ) => find('changes_within_scope').run(checkInput({}, { scope, ...more }));

  test('is what a human approved where a gate covers it, and nothing else [C28 adv.N1]', async () => {
    const good = { scope: ['src/good.js'] };
    const evil = { scope: ['src/evil.js'] };
    const covered = ['plan'];

    const swapped = { result: { changes }, artifacts: { plan: evil }, approved: { plan: good } };
    expect(await judged(swapped, { covered })).toMatchObject({ passed: false });
    const unapproved = { result: { changes }, artifacts: { plan: evil }, approved: {} };
    expect(await judged(unapproved, { covered })).toMatchObject({
      passed: false,
      reason: expect.stringContaining('`plan` is missing'),
    });
    const approved = { result: { changes }, artifacts: { plan: good }, approved: { plan: evil } };
    expect(await judged(approved, { covered })).toMatchObject({ passed: true });
  });

  test('is never handed in beside what is judged, unless the phase declares it [C27]', async () => {
    const beside = { result: { changes, plan: { scope: changes } }, artifacts: { plan: { scope: ['a'] } } };

    expect(await judged(beside, {})).toMatchObject({ passed: false });
    expect(await judged(beside, { declares: ['changes', 'plan'] })).toMatchObject({ passed: true });
  });
});

describe('reviews', () => {
  test('are complete when each has a decision [fail.5]', async () => {
    for (const name of ['review_is_complete', 'all_review_models_completed']) {
      expect(await ask(name, { review: { decision: 'approved' } })).toMatchObject({ passed: true });
      expect(await ask(name, { review: [{ decision: 'approved' }, { decision: 'rejected' }] })).toMatchObject(
        { passed: true },
      );
      for (const review of [
        {},
        [],
        { reviews: [] },
        { decision: true },
        { decision: 'pending' },
        { decision: '' },
        'ok',
      ]) {
        expect(await ask(name, { review }), JSON.stringify(review)).toMatchObject({ passed: false });
      }
      const half = { reviews: [{ model: 'a', decision: 'approved' }, { model: 'b' }] };
      expect(await ask(name, { review: half })).toMatchObject({ passed: false });
    }
  });

  test('every named model must have reviewed', async () => {
    const review = { reviews: [{ model: 'a', decision: 'approved' }] };

    expect(await ask('all_review_models_completed', { review }, { models: ['a'] })).toMatchObject({
      passed: true,
    });
    expect(await ask('all_review_models_completed', { review }, { models: ['a', 'b'] })).toEqual({
      passed: false,
      reason: 'no review by `b`',
    });
  });

  test('may have no blocking finding, in any spelling', async () => {
    const name = 'no_blocking_findings';
    expect(await ask(name, { review: { findings: [] } })).toMatchObject({ passed: true });
    expect(
      await ask(name, { review: { findings: [{ severity: 'SHOULD' }] } }, { severities: ['MUST'] }),
    ).toMatchObject({ passed: true });
    expect(await ask(name, { review: { findings: [{ severity: ' must ' }] } })).toMatchObject({
      passed: false,
    });
    const reviews = [{ findings: [] }, { findings: [{ severity: 'MUST', text: 'leak' }] }];
    expect(await ask(name, { review: { reviews } })).toMatchObject({ passed: false });
    expect(
      await ask(name, { review: { findings: [{ severity: 'SHOULD' }] } }, { severities: ['must', 'should'] }),
    ).toMatchObject({
      passed: false,
    });
  });

  test('must list their findings, each with a severity', async () => {
    for (const review of [
      {},
      { findings: 0 },
      { findings: [{}] },
      { findings: [{ severity: 1 }] },
      'none',
      [],
    ]) {
      expect(await ask('no_blocking_findings', { review }), JSON.stringify(review)).toMatchObject({
        passed: false,
      });
    }
  });
});

describe('artifacts_present', () => {
  test('wants every type and names what is missing', async () => {
    expect(
      await ask('artifacts_present', { plan: {}, notes: 'x' }, { types: ['plan', 'notes'] }),
    ).toMatchObject({ passed: true });
    expect(await ask('artifacts_present', { plan: null }, { types: ['plan', 'notes', 'toString'] })).toEqual({
      passed: false,
      reason: 'no `plan` was submitted; no `notes` was submitted; no `toString` was submitted',
    });
    await expect(ask('artifacts_present', {}, {})).rejects.toThrow('`types`');
  });
});

describe('every check on submitted artifacts', () => {
  const names = CHECKS.filter(
    ({ name, class: evidence }) => evidence === 'claimed' && !['expression', 'json_schema'].includes(name),
  ).map((check) => check.name);
  const parameters: JsonObject = { minimum: 1, types: ['plan'] };

  test.each(names)(
    '%s refuses when nothing was submitted, and says what was expected [C19]',
    async (name) => {
      const check = find(name);
      for (const scope of [
        {},
        { artifacts: {} },
        { result: {}, artifacts: {} },
        { result: { constructor: 1 } },
      ]) {
        const answer = await check.run(checkInput(parameters, { scope }));
        expect(answer.passed).toBe(false);
        expect(answer.reason.length).toBeGreaterThan(10);
      }
    },
  );

  test.each(names.filter((name) => name !== 'artifacts_present'))(
    '%s refuses artifacts of every wrong shape [C19 fail.4]',
    async (name) => {
      for (const value of [true, false, 0, 1, '', 'text', [], {}, [[]], [null]] as Json[]) {
        if (name === 'coverage_at_least' && value === 1) continue;
        const everything = Object.fromEntries(
          ['test_run_result', 'coverage', 'plan', 'changes', 'tests', 'review'].map((type) => [type, value]),
        );
        const answer = await find(name).run(checkInput(parameters, { scope: { artifacts: everything } }));
        expect(answer.passed, JSON.stringify(value)).toBe(false);
      }
    },
  );

  test('takes what is being submitted before what was submitted earlier', async () => {
    const scope = {
      result: { test_run_result: { failed: 0, passed: 1 } },
      artifacts: { test_run_result: { failed: 2, passed: 0 } },
    };

    expect(await find('tests_are_passing').run(checkInput({}, { scope }))).toMatchObject({ passed: true });
    expect(await find('tests_are_failing').run(checkInput({}, { scope }))).toMatchObject({ passed: false });
  });

  test('gives no more than the agent said: the class is claimed', () => {
    expect(names.map((name) => find(name).class)).toEqual(names.map(() => 'claimed'));
  });
});

function find(name: string) {
  const check = CHECKS.find((candidate) => candidate.name === name);
  if (check === undefined) throw new Error(`no check ${name}`);
  return check;
}

function ask(name: string, artifacts: JsonObject, parameters: JsonObject = {}) {
  return find(name).run(checkInput(parameters, { scope: { artifacts } }));
}

async function refuses(name: string, artifact: string, value: Json, reason: string): Promise<void> {
  const answer = await ask(name, { [artifact]: value });
  expect(answer.passed).toBe(false);
  expect(answer.reason).toContain(reason);
}
