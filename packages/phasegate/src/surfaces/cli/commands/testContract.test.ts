import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testLocalWorkflow } from '../../../localTests.ts';
import { makeShell } from '../fixtures/callCli.ts';
import { callTest, testedProject, testingMachine } from '../fixtures/testCommand.ts';

describe('a contract test', () => {
  const contract = (tests: string) =>
    testedProject({
      'small.contract.yaml': `evidence: { PLAN: { plan: { summary: x } } }\ntests:\n${tests}`,
    });
  const only = ['small', '--category', 'contract'];

  test('with `at` begins where an honest agent and the humans have got to', async () => {
    const shell = contract(`
  - name: in depth
    at: DEEP
    steps:
      - { tool: { tool: read_files, input: { path: a } } }
      - { agent: { complete: DEEP }, expect: { status: completed } }
`);

    expect(await callTest(shell, only)).toMatchObject({ code: 0 });
  });

  test.each([
    ['choose: { PLAN: { choose: "No", input: x } }', 'the run did not end within 500 steps'],
    ['params: { mode: quick }', 'an honest agent does not get to phase `DEEP`: the run is `completed`'],
  ])('with `at` and %s says that nobody gets there', async (more, message) => {
    const shell = contract(`  - { name: a, at: DEEP, ${more}, steps: [{ agent: { complete: DEEP } }] }\n`);

    const { code, stdout } = await callTest(shell, only);

    expect([code, stdout]).toEqual([1, expect.stringContaining(`small.contract.yaml: ${message}`)]);
  });

  test.each([
    ['agent: honest', 'code: precondition_failed'],
    ['agent: honest', 'allowed: false'],
    ['steps: [{ agent: { complete: PLAN, evidence: { plan: { summary: x } } } }]', 'allowed: false'],
    ['steps: [{ agent: { complete: PLAN }, expect: { allowed: false } }]', 'code: precondition_failed'],
  ])('with %s that expects %s at its end is not passed by another end', async (how, expected) => {
    const { code } = await callTest(contract(`  - { name: a, ${how}, expect: { ${expected} } }\n`), only);

    expect(code).toBe(1);
  });

  test('that expects a place at its end says nothing of how its last step was judged', async () => {
    const shell = contract(
      '  - { name: a, steps: [{ agent: { complete: PLAN }, expect: { allowed: false } }], expect: { phase: PLAN } }\n',
    );

    expect(await callTest(shell, only)).toMatchObject({ code: 0 });
  });
});

describe('with `--coverage`', () => {
  interface Shown {
    readonly coverage: {
      readonly total: { readonly seen: number; readonly total: number };
      readonly counted: { readonly tests: number };
      readonly otherVersions: { readonly tests: number };
    };
  }

  test('what the contract tests have shown is told after them, as `phasegate coverage --tests` tells it', async () => {
    const shell = testedProject();

    const alone = await callTest(shell, ['small']);
    const both = await callTest(shell, ['small', '--coverage']);
    const counted = await callTest(shell, ['small', '--tests'], 'coverage');

    const report = counted.stdout.replace(/\n\n\d+ contract tests played.*\n/, '\n');
    expect(both.stdout).toBe(`${alone.stdout}\n${report}`);
    expect(both.stdout).toMatch(/\n\nsmall: \d+% seen/);
    expect(both.code).toBe(0);
  });

  test('cases of single steps are not counted, nor what `-k` leaves out', async () => {
    const shell = testedProject();
    const shown = async (...words: string[]) =>
      ((await callTest(shell, ['small', '--coverage', '--json', ...words])).json() as unknown as Shown)
        .coverage;

    const all = await shown();
    const some = await shown('-k', 'by hand');

    expect(all).toMatchObject({ counted: { tests: 4 }, otherVersions: { tests: 0 } });
    expect(some).toMatchObject({ counted: { tests: 1 }, otherVersions: { tests: 0 } });
    expect(some.total.seen).toBeLessThan(all.total.seen);
  });

  test.each([
    ['50', 0],
    ['100', 1],
  ])('and `--min %s` the exit code is %i', async (min, code) => {
    const called = await callTest(testedProject(), ['small', '--coverage', '--min', min]);

    expect(called.code).toBe(code);
    expect(called.stdout.includes(`less than the ${min}% of \`--min\` was seen`)).toBe(code === 1);
  });

  test.each([
    [['--min', '80'], '`--min` needs `--coverage`'],
    [['--coverage', '--min', 'most'], 'not `most`'],
    [['--coverage', '--category', 'steps'], '`--category steps` leaves them out'],
  ])('the words %j are a slip', async (words, message) => {
    const called = await callTest(testedProject(), ['small', ...words]);

    expect([called.code, called.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a test run that is interrupted', () => {
  test('says so, is not taken for one that passed, and writes no report', async () => {
    const shell = testedProject();
    const report = join(shell.root, 'report.xml');
    const stopped = new AbortController();
    const machine = testingMachine(stopped.signal, {
      testWorkflow: (request) =>
        testLocalWorkflow({
          ...request,
          report: ({ category }) => void (category === 'steps' ? stopped.abort() : undefined),
        }),
    });

    const called = await shell.callWith(machine, ['test', 'small', '--junit', report]);

    expect(called.code).toBe(1);
    expect(called.stdout).toMatch(/steps 1\n\d+ passed, 0 failed\ninterrupted: the other tests were not run/);
    expect(existsSync(report)).toBe(false);
  });

  test('before its first test says so too', async () => {
    const called = await testedProject().callWith(testingMachine(AbortSignal.abort()), [
      'test',
      'small',
      '--json',
    ]);

    expect([called.code, called.json()]).toMatchObject([1, { interrupted: true, passed: 0, tests: [] }]);
  });

  test('has no coverage either', async () => {
    const machine = testingMachine(AbortSignal.abort());

    const called = await testedProject().callWith(machine, ['coverage', 'small', '--tests', '--min', '0']);

    expect([called.code, called.stdout]).toEqual([1, expect.stringContaining('interrupted: ')]);
  });

  test('does not wait for a command that never ends, and does not hold it against the workflow', async () => {
    const shell = makeShell({
      'step.cjs':
        'setInterval(() => {}, 1000); require("node:fs").writeFileSync(process.env.HOME + "/up", "");',
      'o.workflow.yaml': `workflow: o\nphases: { A: { command: "${process.execPath} step.cjs" } }\n`,
    });
    const stopped = new AbortController();
    const up = join(String(shell.env.HOME), 'up');
    const watching = watch(String(shell.env.HOME), () => void (existsSync(up) ? stopped.abort() : undefined));

    const called = await shell.callWith(testingMachine(stopped.signal), [
      'test',
      'o',
      '--category',
      'steps',
      '--json',
    ]);

    watching.close();
    expect([called.code, called.json()]).toMatchObject([1, { interrupted: true, failed: 0, tests: [] }]);
  });
});
