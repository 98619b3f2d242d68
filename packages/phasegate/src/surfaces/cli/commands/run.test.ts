import { describe, expect, test } from 'vitest';
import { driveLocalRun } from '../../../localRunner.ts';
import type { Driven, DriveRequest } from '../../../runtime/ports.ts';
import type { Machine } from '../command.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';
import { machine } from '../fixtures/drivingMachine.ts';

const NODE = process.execPath;
const [ENTER, DOWN] = ['\r', '\u001b[B'];

/** Prints the StepOutput that its arguments ask for. */
const STEP = `
  const [said = '{}'] = process.argv.slice(2);
  console.log('at work');
  console.log(JSON.stringify({ success: true, result: JSON.parse(said) }));
`;

const BUILD = `
workflow: build
params: { size: { type: integer, default: 1 } }
phases:
  MAKE:
    command: ${NODE} step.cjs '{"built":true}'
    postconditions:
      - { check: expression, with: { condition: result.built === true }, message: nothing was built }
  SEND:
    command: ${NODE} step.cjs '{"sent":true}'
`;

const GATED = `
workflow: gated
phases:
  ASK:
    command: ${NODE} step.cjs '{"price":12}'
    gate:
      human: { prompt: "Buy it?", context: [price], options: [{ label: "Buy it" }, { label: No, next: null }] }
  BUY: { command: "${NODE} step.cjs" }
`;

const AREAS = `
workflow: areas
phases:
  PLAN: { required_evidence: { areas: { type: list } } }
  WRITE:
    parallel: true
    parallel_key: areas
    command: ${NODE} step.cjs '{"written":true}'
    postconditions:
      - { check: expression, with: { condition: result.written === true }, message: nothing was written }
`;

function makeProject(): Shell {
  return makeShell({
    'step.cjs': STEP,
    'build.workflow.yaml': BUILD,
    'gated.workflow.yaml': GATED,
    'areas.workflow.yaml': AREAS,
    'talk.workflow.yaml': 'workflow: talk\nphases: { TALK: { instructions: Say something }, REST: {} }\n',
    'broken.workflow.yaml': `workflow: broken\nphases: { FAIL: { command: "${NODE} missing.cjs" } }\n`,
  });
}

/** A run of which the first try has failed, as a driver that was killed leaves it. */
async function failedOnce(shell: Shell): Promise<string> {
  const run = String((await shell.call(['start', 'build', '--json'])).json().run);
  await shell.call(['done', run, '--evidence', '-'], '{"built":false}');
  return run;
}

describe('what is driven', () => {
  test('a workflow by its name: a run is started, and driven to its end [S3.29 S3.32]', async () => {
    const shell = makeProject();

    const called = await shell.callWith(machine(), ['run', 'build', '--param', 'size=2', '--json']);

    expect(called).toMatchObject({ code: 0 });
    expect(called.json()).toMatchObject({ outcome: 'completed', status: 'completed', phase: null });
    const run = String(called.json().run);
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({
      workflow: 'build',
      params: { size: 2 },
      completed_phases: ['MAKE', 'SEND'],
    });
  });

  test('a run by its id: it goes on where it is [S3.44 S3.47]', async () => {
    const shell = makeProject();
    const run = String((await shell.call(['start', 'build', '--json'])).json().run);
    await shell.call(['done', run, '--evidence', '-'], '{"built":true}');

    const called = await shell.callWith(machine(), ['run', run]);

    expect(called).toMatchObject({ code: 0, stdout: `run ${run}: the run is completed\n` });
    expect(called.stderr).not.toContain('MAKE');
    expect(called.stderr).toContain('SEND: command started\n  at work\nSEND: done after');
  });

  test('a run that is over is only told about', async () => {
    const shell = makeProject();
    const run = String((await shell.callWith(machine(), ['run', 'build', '--json'])).json().run);

    expect(await shell.callWith(machine(), ['run', run])).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    ['a run that is not there', ['run-00112233445566778899'], 1, 'there is no run'],
    ['the beginning of no run', ['run-001122'], 1, 'there is no run'],
    ['a workflow that is not there', ['bild'], 1, '`bild`'],
    ['nothing', [], 2, 'this agent holds no run'],
    ['a param that is not declared', ['build', '--param', 'colour=red'], 1, 'colour'],
  ])('%s is refused', async (_name, words, code, message) => {
    const called = await makeProject().callWith(unused(), ['run', ...words]);

    expect(called.code).toBe(code);
    expect(called.stdout + called.stderr).toContain(message);
  });

  test('params are for starting: with a run under way they are refused, not passed over', async () => {
    const shell = makeProject();
    const run = String((await shell.call(['start', 'build', '--json'])).json().run);

    for (const words of [
      ['--param', 'size=2'],
      ['--option', 'size=2'],
      ['--target', 'step.cjs'],
    ]) {
      expect(await shell.callWith(unused(), ['run', run, ...words])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('are for starting one'),
      });
    }
  });
});

describe('how it is driven', () => {
  test('what was asked for reaches the one who drives', async () => {
    const shell = makeProject();
    const words = ['--agent', `"/bin/sh" -p --file={prompt} 'do {prompt_file}'`, '--adapter', 'tmux'];
    const more = ['--workers', '64', '--step-timeout', '86400', '--wait-for-human'];
    let asked: DriveRequest | undefined;

    await shell.callWith(
      machine((request) => {
        asked = request;
        return { ...ENDED, run: request.run };
      }),
      ['run', 'build', ...words, ...more],
    );

    expect(asked).toMatchObject({
      agent: 'local',
      agentCommand: ['/bin/sh', '-p', '--file={prompt}', 'do {prompt_file}'],
      adapter: 'tmux',
      workers: 64,
      stepTimeout: 86_400,
      waitForHuman: true,
    });
  });

  test('and otherwise there is no agent, and moderate limits', async () => {
    let asked: DriveRequest | undefined;

    await makeProject().callWith(
      machine((request) => {
        asked = request;
        return ENDED;
      }),
      ['run', 'build'],
    );

    expect(asked).toMatchObject({
      agentCommand: null,
      adapter: 'subprocess',
      workers: 4,
      stepTimeout: 1800,
      waitForHuman: false,
    });
  });

  test.each([
    [['--agent', 'a | b'], 'it must be one command'],
    [['--agent', 'a && b'], 'it must be one command'],
    [['--agent', 'agent $HOME'], 'is replaced by the value of a variable'],
    [['--agent', 'agent "open'], 'cannot be used'],
    [['--agent', 'agent > file'], 'writes a file'],
    [['--agent', ' '], 'there is no command'],
    [['--adapter', 'screen'], 'adapters: subprocess, tmux'],
    [['--workers', '0'], 'from 1 to 64'],
    [['--workers', '65'], 'from 1 to 64'],
    [['--workers', '2.5'], 'from 1 to 64'],
    [['--workers', 'all'], 'from 1 to 64'],
    [['--step-timeout', '0'], 'from 1 to 86400'],
    [['--step-timeout', '86401'], 'from 1 to 86400'],
    [['--step-timeout', '1e3'], 'from 1 to 86400'],
  ])('%j is wrong usage, before any run is made', async (words, message) => {
    const shell = makeProject();

    expect(await shell.callWith(unused(), ['run', 'build', ...words])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
    expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [] });
  });
});

describe('how it ends', () => {
  test.each([
    ['completed', 0],
    ['waiting', 0],
    ['awaiting_agent', 0],
    ['escalated', 1],
    ['stopped', 1],
    ['interrupted', 1],
  ] as const)('%s ends with %i', async (outcome, code) => {
    const shell = makeProject();

    const called = await shell.callWith(
      machine(() => ({ ...ENDED, outcome })),
      ['run', 'build', '--json'],
    );

    expect(called).toMatchObject({ code });
    expect(called.json()).toEqual({ ...ENDED, outcome });
  });

  test('at a gate it pauses, and says what is asked and how to answer [S3.37 S3.62]', async () => {
    const shell = makeProject();

    const called = await shell.callWith(machine(), ['run', 'gated']);

    expect(called.code).toBe(0);
    expect(called.stdout).toContain('the run waits until a human decides');
    expect(called.stderr).toContain('Buy it?\n| price: 12\n');
    expect(called.stderr).toMatch(/- Buy it\n- No\nsee all of it and decide: phasegate decide run-\w+\n/);
    expect(called.stderr).toMatch(/afterwards: phasegate run run-\w+\n/);
    expect(called.stderr).toContain('no human is set up');
  });

  test('without a program for an agent’s step its prompt is printed, and the run pauses [S3.8]', async () => {
    const called = await makeProject().callWith(machine(), ['run', 'talk']);

    expect(called).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('complete it, then go on with'),
    });
    expect(called.stderr).toContain('Say something');
    expect(called.stderr).toMatch(/`phasegate done run-\w+ --phase TALK --evidence -`/);
  });

  test('what fails twice is handed to a human with all that is known of it [S3.41]', async () => {
    const called = await makeProject().callWith(machine(), ['run', 'broken']);

    expect(called.code).toBe(1);
    expect(called.stderr).toContain('FAIL, attempt 2: command started');
    expect(called.stderr).toContain('a human must act: phase `FAIL` failed twice');
    expect(called.stderr).toContain('what it printed last:');
    expect(called.stderr).toContain('missing.cjs');
    expect(called.stderr).toMatch(/- phasegate resume run-\w+ --note TEXT/);
  });

  test('interrupted, it says how to go on', async () => {
    const stop = new AbortController();
    stop.abort();
    const shell = makeProject();

    const called = await shell.callWith(machine(driveLocalRun, stop.signal), ['run', 'build']);

    expect(called).toMatchObject({ code: 1 });
    expect(called.stdout).toMatch(/^run (run-\w+): .*; go on with `phasegate run \1`\n$/);
  });
});

describe('with --json', () => {
  test('stdout has the one result, and every line of stderr is an event', async () => {
    const called = await makeProject().callWith(machine(), ['run', 'gated', '--json']);

    const events = called.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual([
      'run_started',
      'step_started',
      'output',
      'step_ended',
      'waiting',
    ]);
    const { run } = called.json();
    expect(events[0]).toEqual({ event: 'run_started', run });
    expect(events.at(-1)).toMatchObject({ run, what: { for: 'gate', context: { price: 12 } } });
  });

  test('what goes on afterwards names the agent again', async () => {
    const shell = makeProject();
    const agent = `${NODE} step.cjs`;
    const called = await shell.callWith(machine(), ['run', 'gated', '--agent', agent]);

    expect(called.stderr).toMatch(/afterwards: phasegate run run-\w+ --agent '[^']+ step\.cjs'\n/);
  });
});

describe('a step that failed before', () => {
  test('is not tried again unasked: without a terminal it says why, and how [S3.45]', async () => {
    const shell = makeProject();
    const run = await failedOnce(shell);

    const called = await shell.callWith(unused(), ['run', run]);

    expect(called.code).toBe(2);
    expect(called.stderr).toContain('nothing was built');
    expect(called.stderr).toContain(`phasegate run ${run} --retry`);
    expect(called.stderr).toContain(`phasegate stop ${run} --reason TEXT`);
    expect(await shell.callWith(unused(), ['run', run, '--json'])).toMatchObject({
      code: 2,
      stderr: '',
      stdout: expect.stringContaining('nothing was built'),
    });
  });

  test('is tried again with --retry [S3.45]', async () => {
    const shell = makeProject();

    const called = await shell.callWith(machine(), ['run', await failedOnce(shell), '--retry']);

    expect(called).toMatchObject({ code: 0, stderr: expect.stringContaining('MAKE, attempt 2: command') });
  });

  test('is tried again, or left, as the human at the terminal chooses [S3.45]', async () => {
    const shell = makeProject();
    const run = await failedOnce(shell);

    const left = await shell.callAt(unused(), ['run', run], [DOWN, ENTER]);
    const tried = await shell.callAt(machine(), ['run', run], [ENTER]);

    expect(left).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('- nothing was built'),
    });
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining('the run is completed') });
  });

  test('after a human gave the run back nobody is asked once more', async () => {
    const shell = makeProject();
    const run = await failedOnce(shell);
    await shell.call(['done', run, '--evidence', '-'], '{"built":false}');
    await shell.callAs('open sesame', ['humans', 'add', 'maria']);
    await shell.callAs('open sesame', ['resume', run, '--note', 'the disk is free again']);

    expect(await shell.callWith(machine(), ['run', run])).toMatchObject({ code: 0 });
  });

  test('an item that failed is asked about by its name, and is the only one done again [S3.46 S3.53]', async () => {
    const shell = makeProject();
    const run = String((await shell.call(['start', 'areas', '--json'])).json().run);
    await shell.call(['done', run, '--evidence', '-'], '{"areas":["opening","ending"]}');
    await shell.call(['done', run, '--item', 'ending', '--evidence', '-'], '{"written":true}');
    await shell.call(['done', run, '--item', 'opening', '--evidence', '-'], '{"written":false}');

    expect(await shell.callWith(unused(), ['run', run])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('item `opening`: nothing was written'),
    });
    const again = await shell.callWith(machine(), ['run', run, '--retry']);
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('WRITE [opening], attempt 2: command started');
    expect(again.stderr).not.toContain('[ending]');
  });
});

const ENDED: Driven = {
  run: 'run-1',
  status: 'completed',
  phase: null,
  outcome: 'completed',
  message: 'what came of it',
};

/** Where it must not come to driving anything. */
function unused(): Machine {
  return machine(() => expect.fail('nothing may be driven'));
}
