import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';
import { callTest, testedProject, testingMachine, WORKFLOW } from '../fixtures/testCommand.ts';

describe('what is tested', () => {
  test('every case of every step, the four kinds, and the contract tests beside the workflow [S4.83]', async () => {
    const called = await callTest(testedProject(), ['small', '--json']);

    expect(called).toMatchObject({ code: 0 });
    const { tests } = called.json() as { tests: { name: string; category: string; status: string }[] };
    const steps = tests.filter(({ category }) => category === 'steps').map(({ name }) => name);
    expect(steps).toEqual(['small-1.PLAN-mode=full', 'small-1.PLAN-mode=quick', 'small-2.DEEP-mode=full']);
    expect(new Set(tests.map(({ category }) => category))).toEqual(
      new Set(['import', 'structure', 'domains', 'steps', 'contract']),
    );
    expect(tests.every(({ status }) => status === 'passed')).toBe(true);
  });

  test('only what is asked for, by name and by kind [S4.83]', async () => {
    const names = async (...words: string[]) =>
      (
        (await callTest(testedProject(), ['small', '--json', ...words])).json().tests as { name: string }[]
      ).map(({ name }) => name);

    expect(await names('-k', 'quick')).toEqual(['small-1.PLAN-mode=quick']);
    expect(await names('--category', 'domains')).toEqual(['small: param mode']);
    expect(await names('--category', 'steps', '-k', 'DEEP')).toEqual(['small-2.DEEP-mode=full']);
  });

  test('a workflow without params and contract tests is tested all the same, and what is missing is said', async () => {
    const shell = makeShell({
      'o.workflow.yaml': `
workflow: o
phases:
  A: { instructions: A, required_artifacts: [{ type: n, schema: { type: integer, minimum: 2, maximum: 1 } }] }
  B: { instructions: B }
`,
    });

    const called = await callTest(shell, ['o']);

    expect([called.code, called.stdout]).toEqual([
      0,
      `skipped  o-1.A
  no evidence could be made up (\`n\`): give it under \`evidence: { A: … }\` of the contract tests
import 1, structure 6, steps 2
8 passed, 0 failed, 1 skipped
there are no contract tests: \`o.contract.yaml\` beside the workflow says what agents and humans may do
`,
    ]);
    expect((await callTest(shell, ['o', '-k', 'B'])).stdout).toBe(
      'structure 2, steps 1\n3 passed, 0 failed\n',
    );
  });

  test('a test that fails is told with its line, in words and as JUnit, and the exit code is 1', async () => {
    const shell = testedProject({
      'small.contract.yaml': 'tests:\n  - name: a <b>\n    steps:\n      - { agent: { complete: PLAN } }\n',
    });
    const report = join(shell.root, 'report.xml');

    const called = await callTest(shell, ['small', '--category', 'contract', '--junit', report]);

    expect(called.code).toBe(1);
    expect(called.stdout).toContain(
      'small.contract.yaml:4: expected it to be allowed, refused with incomplete_checkpoint',
    );
    const xml = readFileSync(report, 'utf8');
    expect(xml).toContain('<testsuite name="small.contract" tests="1" failures="1" skipped="0"');
    expect(xml).toContain('name="small: a &lt;b&gt;"');
    expect(xml).toMatch(/<failure message="small\.contract\.yaml:4: /);
  });

  test.each([
    ['a folder that is not there', 'nope/x.xml', 'cannot be written: there is no such file or folder'],
    ['a folder in its place', '.', 'cannot be written: it is a folder'],
    ['no name', '', '`--junit` is an empty word'],
    ['standard output', '-', '`--junit` takes a file, and `-` is not one'],
  ])('a report that cannot be written is said before any test runs: %s', async (_, word, message) => {
    const shell = testedProject({});
    const file = word.includes('x') || word === '.' ? join(shell.root, word) : word;
    const machine = testingMachine(new AbortController().signal, {
      testWorkflow: () => expect.fail('a test was run'),
    });

    const called = await shell.callWith(machine, ['test', 'small', '--junit', file]);

    expect(called.code).toBe(2);
    expect(called.stderr).toContain(message);
  });

  test('a quick run is not let into a step that is only for full ones [S4.70 S4.75]', async () => {
    const contract = `
tests:
  - name: quick
    params: { mode: quick }
    steps:
      - { agent: { complete: PLAN, evidence: { plan: { summary: x } } }, expect: { status: waiting } }
      - { human: { choose: "Yes" }, expect: { code: precondition_failed, status: waiting, phase: PLAN } }
`;

    const shell = testedProject({
      'small.workflow.yaml': WORKFLOW.replace(/next: \{ condition.*/, 'next: DEEP'),
      'small.contract.yaml': contract,
    });

    expect(await callTest(shell, ['small', '--category', 'contract'])).toMatchObject({ code: 0 });
    const steps = await callTest(shell, ['small', '--category', 'steps']);
    expect([steps.code, steps.stdout]).toEqual([
      1,
      expect.stringMatching(/small-1\.PLAN-mode=quick\n {2}precondition_failed: phase `DEEP` is only for/),
    ]);
  });

  test('a check that looks at the world is answered by the test, or really looks, and never just passes', async () => {
    const workflow =
      'workflow: small\nphases: { A: { postconditions: [{ name: there, check: files, with: { exist: [x] } }] } }\n';
    const outcome = async (more: string, files: Record<string, string> = {}) => {
      const contract = `${more}\ntests: [{ name: honest, agent: honest }]\n`;
      const shell = testedProject({
        'small.workflow.yaml': workflow,
        'small.contract.yaml': contract,
        ...files,
      });
      return callTest(shell, ['small', '--category', 'contract']);
    };

    expect(await outcome('checks: { there: pass }')).toMatchObject({ code: 0 });
    expect(await outcome('checks: { there: fail }')).toMatchObject({ code: 1 });
    expect(await outcome('real: true', { x: '1' })).toMatchObject({ code: 0 });
    expect(await outcome('real: true')).toMatchObject({ code: 1 });
    const silent = await outcome('');
    expect([silent.code, silent.stdout]).toEqual([1, expect.stringContaining('nobody answered `there`')]);
  });
});

describe('steps with work of their own', () => {
  test('a command that fails is run once, and told with why, what it printed and where the files are', async () => {
    const shell = makeShell({
      'step.cjs':
        'require("node:fs").appendFileSync(process.env.HOME + "/times", "x");\nrequire("node:fs").readFileSync(__dirname + "/input.json");\n',
      'o.workflow.yaml': `workflow: o\nphases: { A: { command: "${process.execPath} step.cjs" } }\n`,
    });

    const { code, stdout } = await callTest(shell, ['o', '--category', 'steps']);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed {2}o-1\.A\n {2}`.*` ended with exit code 1/);
    expect(stdout).toContain(`ENOENT: no such file or directory, open '${shell.root}/input.json'`);
    expect(stdout).toContain(`(${shell.root}/step.cjs:2:`);
    expect(stdout).toContain('name it under `skip: { A: … }` of the contract tests');
    expect(stdout).not.toContain('node:internal');
    expect(
      stdout
        .split('\n')
        .slice(1, -3)
        .filter((line) => !line.startsWith('  ')),
    ).toEqual([]);
    expect(readFileSync(join(String(shell.env.HOME), 'times'), 'utf8')).toBe('x');
  });

  test('a handler is called in every case, and one that throws in one of them is found there [S4.67 S4.69 S4.74]', async () => {
    const workflow = `
import { BoundedInt, defineWorkflow, Outcome } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'think',
  steps: [
    {
      id: 'refine',
      args: { confidence: new BoundedInt(1, 3) },
      handler: (ctx) => {
        if (ctx.iteration === 2 && ctx.confidence === 3) throw new Error('not sure');
        return [ctx.confidence === 1 ? Outcome.ITERATE : Outcome.OK, {}];
      },
      next: { [Outcome.OK]: 'end', [Outcome.ITERATE]: 'refine', maxIterations: 2 },
    },
    { id: 'end', handler: () => [Outcome.FAIL, {}], next: { [Outcome.OK]: null } },
  ],
});
`;
    const shell = makeShell({ 'think.workflow.ts': workflow });

    const { tests, failed } = (await callTest(shell, ['think', '--category', 'steps', '--json'])).json() as {
      tests: { name: string; status: string; message: string }[];
      failed: number;
    };

    expect(tests).toHaveLength(7);
    expect(failed).toBe(2);
    expect(tests.filter(({ status }) => status === 'failed')).toMatchObject([
      { name: 'think-1.refine-confidence=3,iteration=2', message: expect.stringContaining('not sure') },
      { name: 'think-2.end', message: expect.stringContaining('outcome_not_allowed') },
    ]);
  });

  test('a command runs in a process of its own, in a copy of the project, and its failure is the case’s [S4.68]', async () => {
    const step = `
const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
require('node:fs').writeFileSync('written', 'x');
console.log('mode ' + input.checkpoint.mode);
if (input.checkpoint.mode === 'b') process.exit(3);
console.log(JSON.stringify({ success: true, result: {} }));
`;
    const workflow = `
workflow: commands
params: { mode: { choices: [a, b] } }
phases: { RUN: { command: "${process.execPath} step.cjs" } }
`;
    const shell = makeShell({ 'step.cjs': step, 'commands.workflow.yaml': workflow });

    const called = await callTest(shell, ['commands', '--category', 'steps', '--json']);

    expect(called.json().tests).toMatchObject([
      { name: 'commands-1.RUN-mode=a', status: 'passed' },
      { name: 'commands-1.RUN-mode=b', status: 'failed', message: expect.stringContaining('mode b') },
    ]);
    expect(existsSync(join(shell.root, 'written'))).toBe(false);
  });
});

describe('bad input ends with exit code 2', () => {
  test.each([
    ['', /small\.contract\.yaml:1:1: the file is empty/],
    ['tests: []\n', /small\.contract\.yaml:1:8: `tests` must be at least 1/],
    ['test:\n', /small\.contract\.yaml:1:1: unknown key `test` \(did you mean `tests`\?\)/],
    ['tests: [{ name: a, agent: clever }]\n', /:1:27: `agent` must be one of/],
    ['tests: [{ name: a }]\n', /:1:9: one of `agent` and `steps` is needed/],
    [
      'tests:\n  - name: a\n    steps: [{ agent: { complete: PLANN } }]\n',
      /:3:34: there is no phase `PLANN` \(did you mean `PLAN`\?\)/,
    ],
    ['evidence: { NO: {} }\ntests: [{ name: a, agent: honest }]\n', /:1:13: there is no phase `NO`/],
    ['params: { mood: x }\ntests: [{ name: a, agent: honest }]\n', /:1:11: there is no param `mood`/],
    ['checks: { x: pass }\ntests: [{ name: a, agent: honest }]\n', /:1:11: there is no check `x`/],
    [
      'tests:\n  - { name: a, agent: honest }\n  - { name: a, agent: honest }\n',
      /:3:13: there are two tests `a`/,
    ],
    ['tests: [\n', /small\.contract\.yaml:\d+:\d+: /],
    ['# nothing yet\n\n', /small\.contract\.yaml:1:1: the file is empty/],
    ['just some words\n', /small\.contract\.yaml:1:1: .*must be/],
    ['- a\n- b\n', /small\.contract\.yaml:1:1: .*must be/],
    ['tests: {a: b: c}\n', /small\.contract\.yaml:1:\d+: /],
    ['a: 1\na: 2\n', /small\.contract\.yaml:2:1: /],
    ['\0\u0001', /small\.contract\.yaml:1:1: /],
    [
      'tests:\n  - name: a\n    agent: honest\n    choose: { PLAN: "Yess" }\n',
      /:4:21: there is no option `Yess` \(did you mean `Yes`\?\)/,
    ],
    [
      'tests:\n  - { name: a, agent: honest, choose: { DEEP: "Yes" } }\n',
      /:2:41: phase `DEEP` has no human gate to choose at/,
    ],
    [
      'tests:\n  - name: a\n    steps:\n      - { human: { choose: Maybe } }\n',
      /:4:28: there is no option `Maybe`/,
    ],
    ['domains: { mode: { min: 1 } }\n', /:1:12: the values of `mode` have no end: give `choices`/],
    ['domains: { mode: { min: 2, max: 1 } }\n', /:1:12: `mode` has no value from 2 to 1/],
    ['demands: { gates: [PLANS] }\n', /:1:20: there is no phase `PLANS`/],
    [
      'demands: { forbidden: { PLAN: [bashh] } }\n',
      /:1:32: there is no tool `bashh` \(did you mean `bash`\?\)/,
    ],
    [
      'evidence: { PLAN: { plan: {} } }\ndemands: { evidence: { PLAN: [plans] } }\n',
      /:2:31: `evidence` of `PLAN` has no `plans` to be left out \(did you mean `plan`\?\)/,
    ],
    ['demands: {}\n', /:1:1: one of `gates`/],
  ])('the file %j', async (contract, message) => {
    const called = await callTest(testedProject({ 'small.contract.yaml': contract }), ['small']);

    expect([called.code, called.stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test('a product that is too large, with its size, where it comes from, and before anything is run', async () => {
    const params = '{ a: { type: integer, min: 1, max: 9 }, b: { type: integer, min: 1, max: 50000 } }';
    const files = { 'big.workflow.yaml': `workflow: big\nparams: ${params}\nphases: { A: {} }\n` };
    const module = `
import { BoundedInt, defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'typed',
  params: { few: { choices: [1, 2] }, many: new BoundedInt(1, 1_000_000_000_000) },
  steps: [{ id: 'many' }],
});
`;
    const shell = makeShell({ ...files, 'typed.workflow.ts': module });
    const said = (message: string | RegExp) => [2, '', expect.stringMatching(message)];

    const written = await callTest(shell, ['big']);
    const typed = await callTest(shell, ['typed']);
    shell.write(
      'big.contract.yaml',
      'domains:\n  a: { min: 1, max: 20000 }\ntests: [{ name: a, agent: honest }]\n',
    );
    shell.write(
      'big.workflow.yaml',
      'workflow: big\nparams: { a: {}, b: { type: boolean } }\nphases: { A: {} }\n',
    );
    const tried = await callTest(shell, ['big', '-k', 'a']);

    expect([written.code, written.stdout, written.stderr]).toEqual(
      said(
        /big\.workflow\.yaml:2:49: there are 450000 cases, and the limit is 10000;.*`a` 9 x `b` 50000\n.*narrow/,
      ),
    );
    expect([typed.code, typed.stdout, typed.stderr]).toEqual(
      said(/typed\.workflow\.ts:5:39: there are 2000000000000 cases/),
    );
    expect([tried.code, tried.stdout, tried.stderr]).toEqual(
      said(/big\.contract\.yaml:2:3: there are 40000 cases/),
    );
    // What has nothing to do with the cases can be tested all the same.
    expect((await callTest(shell, ['big', '--category', 'structure'])).code).toBe(0);
  });

  test.each([
    [['small', '--category', 'speed'], 'there is no category `speed`'],
    [['small', '-k', 'nothing like it'], 'no test was run'],
    [[], 'WORKFLOW'],
  ])('the words %j', async (words, message) => {
    const called = await callTest(testedProject(), words);

    expect([called.code, called.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('a workflow with problems is told as `validate` tells it [S3.78]', async () => {
    const shell = makeShell({
      'bad.workflow.yaml': 'workflow: bad\nphases:\n  A: { next: B }\n',
      'odd.workflow.ts':
        "import { defineWorkflow } from '@phasegate/sdk';\nexport default defineWorkflow({ type: 'odd', steps: [{ name: 'a', parallel: 'yes', command: 7 }] });\n",
    });

    const bad = await callTest(shell, ['bad']);
    const odd = await callTest(shell, ['odd']);

    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('bad.workflow.yaml:3:14')]);
    expect([odd.code, odd.stderr]).toEqual([
      2,
      expect.stringContaining('`parallel` must be `true` or `false`'),
    ]);
  });
});

test('a param that can be anything is tried with samples, and it says where to name others', async () => {
  const params = '{ topic: {}, depth: { type: integer, min: 3 }, tags: { type: list, default: [x] } }';
  const shell = makeShell({ 'o.workflow.yaml': `workflow: o\nparams: ${params}\nphases: { A: {} }\n` });

  const open = await callTest(shell, ['o', '--json']);
  shell.write(
    'o.contract.yaml',
    'domains: { topic: { choices: [x, y] }, depth: { constant: 4 }, tags: { constant: [] } }\ntests: [{ name: a, agent: honest }]\n',
  );
  const closed = await callTest(shell, ['o', '--category', 'steps', '--json']);

  expect(open.code).toBe(0);
  const names = (open.json() as { tests: { name: string }[] }).tests.map(({ name }) => name);
  expect(names).toContain(
    'o: param topic (samples of ours; name your own under `domains` in `o.contract.yaml`)',
  );
  expect(names.filter((name) => name.startsWith('o-1.A'))).toHaveLength(2 * 2 * 3);
  expect(names.some((name) => name.includes('depth=3'))).toBe(true);
  expect(closed.json()).toMatchObject({ passed: 2, failed: 0 });
});
