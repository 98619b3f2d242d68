import { describe, expect, test } from 'vitest';
import type { Machine } from '../command.ts';
import { makeShell } from '../fixtures/callCli.ts';

test('a run that has ended is answered in the shape of every refusal, with or without a phase', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': 'workflow: w\nphases: { A: {} }\n' });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);

  for (const named of [[], ['--phase', 'A']]) {
    const { code, json } = await shell.call(['done', run, ...named, '--json']);
    expect(code).toBe(1);
    expect(json()).toMatchObject({
      checkpoint_passed: false,
      error: 'run_ended',
      blockers: [{ code: 'run_ended' }],
      current_phase: null,
      current_phase_content: '',
      status: 'completed',
      next_action: 'nothing: the run is completed',
    });
  }
});

test('every reason of a refusal is told, also beside evidence that is missing', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': `workflow: w
phases:
  PLAN:
    tasks:
      - { name: Look, instructions: read the code }
    required_evidence: { plan: { type: string, description: what you will do } }
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  const { code, stdout } = await shell.call(['done', run]);

  expect(code).toBe(1);
  expect(stdout).toContain('refused: for 2 reasons [incomplete_checkpoint]\n  - ');
  expect(stdout).toMatch(/^ {2}- .*plan.*what you will do/m);
  expect(stdout).toContain('\n  - tasks of phase `PLAN` were never fetched: 1\n');
  expect(stdout).toContain(`next: phasegate task ${run} PLAN 1`);

  await shell.call(['task', run, 'PLAN', '1']);
  const again = await shell.call(['done', run]);

  expect(again.stdout).toContain('refused: Provide all required evidence to complete checkpoint');
  expect(again.stdout).not.toContain('never fetched');
});

test('the next phase comes with the text its function made', async () => {
  const steps = "[{ name: 'a' }, { name: 'b', body: () => ['Second', 'made just now'] }]";
  const shell = makeShell({
    'w.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({ type: 'w', name: 'W', initialStep: 'a', steps: ${steps} });
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  const answer = (await shell.call(['done', run, '--json'])).json();

  expect(answer.next_phase_content).toContain('made just now');
  expect(answer.next_phase_content).toBe((await shell.call(['next', run, '--json'])).json().phase_content);
});

test('an agent that was started for an earlier visit of a phase does not complete a later one [adv.O7]', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': `workflow: w
phases:
  A: { next: { condition: result.ok.yes === true, on_true: B, on_false: A, max_iterations: 3 } }
  B: {}
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  const env = { PHASEGATE_RUN: run, PHASEGATE_STEP: 'A', PHASEGATE_EPOCH: '1' };
  expect(
    (await shell.call(['done', run, '--evidence', '-', '--json'], '{"ok":{"yes":false}}', env)).json(),
  ).toMatchObject({ checkpoint_passed: true, next_phase: 'A' });

  const { code, json } = await shell.call(
    ['done', run, '--evidence', '-', '--json'],
    '{"ok":{"yes":true}}',
    env,
  );

  expect(code).toBe(1);
  expect(json()).toMatchObject({ error: 'run_changed' });
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ phase: 'A' });
});

describe('an agent that was started for an earlier visit [adv.O7]', () => {
  const LOOP = `workflow: w
phases:
  A: { next: { condition: result.ok.yes === true, on_true: B, on_false: A, max_iterations: 3 } }
  B: {}
`;

  /** A run in its second visit of `A`, and the variables of an agent that was started for the first. */
  async function inSecondVisit() {
    const shell = makeShell({ 'agent_workflow.yaml': LOOP });
    const run = String((await shell.call(['start', 'w', '--json'])).json().run);
    const env = { PHASEGATE_RUN: run, PHASEGATE_STEP: 'A', PHASEGATE_EPOCH: '1' };
    await shell.call(['done', run, '--evidence', '-'], '{"ok":{"yes":false}}', env);
    return { shell, run, env };
  }

  test.each([
    ['done', ['--phase', 'A', '--evidence', '-'], '{"ok":{"yes":true}}'],
    ['done', ['--phase', '1', '--evidence', '-'], '{"ok":{"yes":true}}'],
    ['done', ['--phase', 'a', '--evidence', '-'], '{"ok":{"yes":true}}'],
    ['done', ['--outcome', 'fail', '--reason', 'late'], ''],
    ['ask', ['-'], '[{"text":"Which?","options":["a","b"]}]'],
    ['blocked', ['--reason', 'late'], ''],
  ] as const)('does nothing to a later one by `%s` with %j', async (command, words, stdin) => {
    const { shell, run, env } = await inSecondVisit();

    const { code, json } = await shell.call([command, run, ...words, '--json'], stdin, env);

    expect(code).toBe(1);
    expect(json()).toMatchObject({ error: 'run_changed' });
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({
      phase: 'A',
      status: 'active',
      epoch: 2,
    });
  });

  test.each(['done', 'ask', 'blocked'])(
    'is told by `%s` that its variable must be a number',
    async (command) => {
      const { shell, run, env } = await inSecondVisit();
      const words = command === 'blocked' ? ['--reason', 'late'] : [];
      const stdin = command === 'ask' ? '[{"text":"Which?","options":["a","b"]}]' : '';

      const { code, json } = await shell.call([command, run, ...words, '--json'], stdin, {
        ...env,
        PHASEGATE_EPOCH: '2x',
      });

      expect(code).toBe(2);
      expect(json()).toMatchObject({ error: 'usage', message: expect.stringContaining('PHASEGATE_EPOCH') });
    },
  );

  test('acts with what it was told of this one, and on another run without it', async () => {
    const { shell, run, env } = await inSecondVisit();
    const now = { ...env, PHASEGATE_EPOCH: '2' };

    expect((await shell.call(['blocked', run, '--reason', 'so', '--json'], '', now)).json()).toMatchObject({
      status: 'escalated',
    });
    const other = String((await shell.call(['start', 'w', '--json'])).json().run);
    expect((await shell.call(['blocked', other, '--reason', 'so', '--json'], '', env)).code).toBe(0);
  });
});

describe('what a phase asks for', () => {
  const ASKING = `workflow: w
phases:
  A:
    required_evidence:
      built: { type: bool, description: it builds }
      notes: { type: str, rule: optional }
    required_artifacts:
      - { type: plan, description: what to do, schema: { type: object, required: [summary, count], properties: { summary: { type: string, minLength: 3 }, count: { type: integer, minimum: 5 } } } }
      - { type: odd, schema: { not: {} } }
`;

  test('--example prints a skeleton that the schemas allow, marks what it could not make, and submits nothing', async () => {
    const { shell, run } = await asked();

    const { code, stdout, stderr } = await shell.call(['done', run, '--example']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      built: true,
      plan: { summary: 'REPLACE ME', count: 5 },
      odd: 'REPLACE ME',
    });
    expect(stderr).toContain('put what is true in place of every value');
    expect(stderr).toContain('`odd` is REPLACE ME: nothing was found that its schema allows');
    expect((await shell.call(['done', run, '--example', '--json'])).json()).toEqual(JSON.parse(stdout));
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ attempts: 0, phase: 'A' });
    expect((await shell.call(['done', run, '--example', '--evidence', '-'])).code).toBe(2);
  });

  test('the skeleton as it was printed is not evidence: the places are named, and nothing is submitted', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': `${ASKING.split('      - { type: odd')[0]}` });
    const run = String((await shell.call(['start', 'w', '--json'])).json().run);
    const { stdout } = await shell.call(['done', run, '--example']);

    const called = await shell.call(['done', run, '--evidence', '-'], stdout);

    expect(called).toMatchObject({ code: 2, stdout: '' });
    expect(called.stderr).toContain('`plan.summary` still holds `REPLACE ME` of the skeleton');
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ attempts: 0, phase: 'A' });
    const nested = '{"a":["x",{"b":"REPLACE ME..."}],"REPLACE ME":1}';
    expect((await shell.call(['done', run, '--evidence', '-'], nested)).stderr).toContain(
      '`a[1].b`, `REPLACE ME` still hold',
    );
    const filled = await shell.call(['done', run, '--evidence', '-'], stdout.replace('REPLACE ME', 'a plan'));
    expect(filled.code).toBe(0);
  });

  test('on a terminal it says so before it reads, and submits nothing where nothing is given', async () => {
    const { shell, run } = await asked();
    const list = [
      'phase A waits for one JSON object with:',
      '- built (required, bool): it builds',
      '- notes (optional, str)',
      '- plan (required, object with summary, count): what to do',
    ].join('\n');

    const none = await shell.callAt({} as Machine, ['done', run], []);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain(`nothing was submitted: ${list.replaceAll('\n', '\n| ')}`);
    expect(none.stderr).toContain(`phasegate done ${run} --example`);
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ attempts: 0 });

    const typed = await shell.callAt({} as Machine, ['done', run, '--evidence', '-'], ['{"built":', 'true}']);
    expect(typed.stderr).toContain(list);
    expect(typed.stderr).toContain('end with Ctrl-D');
    expect(typed.stdout).toContain('Missing plan');

    const piped = await shell.call(['done', run, '--evidence', '-'], '{}');
    expect(piped.stderr).not.toContain('waits for');
  });

  async function asked() {
    const shell = makeShell({ 'agent_workflow.yaml': ASKING });
    const run = String((await shell.call(['start', 'w', '--json'])).json().run);
    return { shell, run };
  }
});

test('an outcome that is none is refused with those that `--help` names, and the engine refuses what is for handlers', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': 'workflow: w\nphases: { A: {} }\n' });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  const done = (outcome: string) => shell.call(['done', run, '--outcome', outcome]);

  const bogus = await done('bogus');

  expect(bogus).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no outcome `bogus`') });
  expect(bogus.stderr).toContain('hint: outcomes: ok, fail, iterate, where the workflow asks for one');
  expect((await shell.call(['done', '--help'])).stdout).toContain('ok, fail or iterate, where the workflow');
  expect(await done('skip')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('outcome_not_allowed'),
  });
  expect((await done('ok')).code).toBe(0);
});
