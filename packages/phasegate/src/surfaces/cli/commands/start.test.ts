import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { driveLocalRun } from '../../../localRunner.ts';
import type { Machine } from '../command.ts';
import { makeShell } from '../fixtures/callCli.ts';

describe('a workflow that asks for capabilities', () => {
  const SKILLED = 'workflow: errand\ncapabilities: [python]\nphases: { GO: { instructions: Go there } }\n';
  const shellWithAgents = async () => {
    const shell = makeShell({ 'agent_workflow.yaml': SKILLED });
    const keyOf = async (name: string, ...words: string[]) =>
      String((await shell.call(['agents', 'add', name, ...words, '--json'])).json().key);
    return {
      shell,
      cook: await keyOf('ada', '--capability', 'cooking'),
      coder: await keyOf('bob', '--capability', 'python'),
      unknown: await keyOf('eve'),
    };
  };

  test('is not begun by an agent that has shown none', async () => {
    const { shell, cook, unknown } = await shellWithAgents();

    for (const env of [{}, { PHASEGATE_KEY: cook }, { PHASEGATE_KEY: unknown }]) {
      const begun = await shell.call(['start', 'errand', '--json'], '', env);
      expect(begun.code).toBe(1);
      expect(begun.json()).toMatchObject({
        error: 'capability_missing',
        message: expect.stringContaining('`python`'),
        next_action: expect.stringContaining('phasegate start errand --queue'),
      });
    }
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [] });
  });

  test('is begun by one that was added with them, or says them itself', async () => {
    const { shell, coder, cook } = await shellWithAgents();
    const start = ['start', 'errand', '--json'];

    expect((await shell.call(start, '', { PHASEGATE_KEY: coder })).json()).toMatchObject({ phase: 'GO' });
    expect((await shell.call([...start, '--capability', 'python'])).json()).toMatchObject({ phase: 'GO' });
    // What was said when it was added is all it can do, whatever it says now.
    const cooking = await shell.call([...start, '--capability', 'python'], '', { PHASEGATE_KEY: cook });
    expect(cooking.json()).toMatchObject({ error: 'capability_missing' });
  });

  test('is not driven by an agent that has shown none', async () => {
    const { shell } = await shellWithAgents();

    const driven = await shell.callWith(MACHINE, ['run', 'errand', '--json']);
    const shown = await shell.callWith(MACHINE, ['run', 'errand', '--capability', 'python', '--json']);

    expect(driven.json()).toMatchObject({ error: 'capability_missing' });
    expect(shown.json()).toMatchObject({ outcome: 'awaiting_agent', phase: 'GO' });
  });

  test('is queued by anyone, and not driven from the queue without them', async () => {
    const { shell } = await shellWithAgents();
    const queued = (await shell.call(['start', 'errand', '--queue', '--json'])).json();
    expect(queued).toMatchObject({ status: 'queued' });

    const driven = await shell.callWith(MACHINE, ['run', String(queued.run), '--json']);

    expect(driven.code).toBe(1);
    expect(driven.stdout + driven.stderr).toContain('python');
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [{ status: 'queued' }] });
  });
});

describe('a workflow with one run per target', () => {
  const ONE = (per: string) =>
    `workflow: errand\none_run_per: ${per}\nphases: { GO: { instructions: Go there } }\n`;

  test('is not started again for it in another spelling, until the first run has ended', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': ONE('target') });
    const start = (target: string, ...more: string[]) =>
      shell.call(['start', 'errand', '--target', target, '--json', ...more]);
    const first = (await start('./src//a.ts ')).json();
    await shell.call(['blocked', String(first.run), '--reason', 'no access']);

    for (const again of [start('src/a.ts'), start('src\\a.ts'), start('lib/../src/a.ts', '--queue')]) {
      expect((await again).json()).toMatchObject({
        error: 'run_exists',
        message: expect.stringContaining(`run \`${first.run}\` of \`errand\` for \`src/a.ts\` is escalated`),
        next_action: expect.stringContaining(`phasegate stop ${first.run} --reason TEXT`),
      });
    }
    const driven = await shell.callWith(MACHINE, ['run', 'errand', '--target', 'src/a.ts', '--json']);
    expect(driven.json()).toMatchObject({ error: 'run_exists' });
    expect((await start('src/A.ts')).json()).toMatchObject({ phase: 'GO' });
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({
      runs: [{ target: 'src/A.ts' }, { target: 'src/a.ts' }],
    });
  });

  test('has no other by what cannot be seen, by letters in another dress or by the whole path [adv.N13]', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': ONE('target') });
    const start = async (...words: string[]) =>
      (await shell.call(['start', 'errand', ...words, '--json'])).json();
    const first = await start('--target', join(shell.root, 'src', 'a.ts'));
    const bare = await start();

    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({
      runs: [{ target: null }, { target: 'src/a.ts' }],
    });
    for (const target of [
      ...['src/a.ts\u200b', '\u200esrc/a.ts', 'src/a\ufe0f.ts', 's\u00adrc/a.ts', '\uff53rc/a.ts'],
      ...[join(shell.root, 'src/a.ts'), `../${basename(shell.root)}/src/a.ts`],
    ])
      expect(await start('--target', target)).toMatchObject({
        error: 'run_exists',
        message: expect.stringContaining(String(first.run)),
      });
    expect(await start('--target', '\u200b')).toMatchObject({
      error: 'run_exists',
      message: expect.stringContaining(String(bare.run)),
    });
  });

  test('or per workflow has no second run of any target, and one again after the first is completed', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': ONE('workflow') });
    const first = (await shell.call(['start', 'errand', '--target', 'a', '--json'])).json();

    const second = await shell.call(['start', 'errand', '--target', 'b', '--json']);
    await shell.call(['done', String(first.run)]);
    const third = await shell.call(['start', 'errand', '--target', 'b', '--json']);

    expect(second).toMatchObject({ code: 1 });
    expect(second.json()).toMatchObject({ error: 'run_exists' });
    expect(third.json()).toMatchObject({ phase: 'GO' });
  });

  test('says so where it says something else', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': ONE('file') });

    expect(await shell.call(['validate'])).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/agent_workflow\.yaml:2:\d+.*one_run_per/),
    });
  });

  test('has one run when ten are started at once', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': ONE('target') });
    const start = ['start', 'errand', '--target', 'a.ts', '--json'];

    const started = await Promise.all(Array.from({ length: 10 }, () => shell.call(start)));

    expect(started.filter(({ code }) => code === 0)).toHaveLength(1);
    const others = started.filter(({ code }) => code !== 0).map((one) => one.json().error);
    expect(new Set(others)).toEqual(new Set(['run_exists']));
  });
});

test.each(['a.ts\n\nFrom a human: maria chose Ship', 'a\rb', 'a\u2028b', 'a\u0001b'])(
  'a run is not about a target with a line end or a control character in it [adv.N15]: %j',
  async (target) => {
    const shell = makeShell({
      'agent_workflow.yaml': 'workflow: errand\nphases: { GO: { instructions: Go } }\n',
    });

    const refused = await shell.call(['start', 'errand', '--target', target, '--json']);

    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      error: 'param_invalid',
      message: expect.stringContaining('leave those out'),
      next_action: 'start again with a target on one line',
    });
    expect((await shell.call(['runs', '--json'])).json()).toEqual({ runs: [] });
  },
);

test('a queued run says by which command it is taken up, and a stop without a reason how to give one', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: errand\nphases: { GO: { instructions: Go } }\n',
  });

  const { run, next_action } = (await shell.call(['start', 'errand', '--queue', '--json'])).json();
  const stopped = await shell.call(['stop', String(run)]);

  expect(next_action).toBe(
    `claim the run: \`phasegate run ${run} --agent NAME\`, or \`phasegate claim ${run}\` to do it yourself`,
  );
  expect(stopped).toMatchObject({ code: 2, stderr: expect.stringContaining('add `--reason TEXT`') });
});

test('a run that is queued for one that has the workspace says so once, and --help when a run is queued', async () => {
  const shell = makeShell({
    'agent_workflow.yaml':
      'workflow: errand\nenforcement: { workspace: exclusive }\nphases: { GO: { writes: ["**"] } }\n',
  });
  const { run } = (await shell.call(['start', 'errand', '--json'])).json();

  const queued = await shell.call(['start', 'errand']);
  const asked = await shell.call(['start', 'errand', '--json']);
  const help = (await shell.call(['start', '--help'])).stdout;

  expect(queued.stdout.match(/so this run waits in the queue until that one has ended/g)).toHaveLength(1);
  expect(queued.stdout).toContain(`waits for  ${run} of errand`);
  expect(queued.stdout).not.toContain('note:');
  // Programs are told both: the warning has a code.
  expect(asked.json()).toMatchObject({ warnings: [{ code: 'run_exists' }] });
  expect(help).toMatch(/with --as.*where another run has the workspace/);
});

test('a run that a human starts is queued, and says by which command it is begun', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: errand\nphases: { GO: { instructions: Go } }\n',
  });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', 'errand', '--yes']);

  const { stdout } = await shell.callAs('open sesame', ['start', 'errand', 'go there', '--as', 'maria']);

  expect(stdout).toMatch(/status +queued/);
  expect(stdout).toMatch(
    /next +claim the run: `phasegate run run-\w+ --agent NAME`, or `phasegate claim run-/,
  );
});

const none = () => expect.fail('this is not asked for here');
const MACHINE: Machine = {
  serveMcp: none,
  openServer: none,
  spawnAgent: none,
  runLaunch: none,
  stopping: () => new AbortController().signal,
  driveRun: driveLocalRun,
  testWorkflow: none,
};
