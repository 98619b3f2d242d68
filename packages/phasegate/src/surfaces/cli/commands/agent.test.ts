import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Spawned, SpawnRequest } from '../../../runtime/ports.ts';
import { spawnLocalAgent } from '../../../spawnLocalAgent.ts';
import type { Machine } from '../command.ts';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

const ENDED: Spawned = {
  agent: 'node-1',
  run: 'run-1',
  outcome: 'completed',
  status: 'completed',
  phase: null,
  starts: 1,
  message: 'the run is completed',
};

test('the words after `--` are the command, dashes and all', async () => {
  const asked: SpawnRequest[] = [];
  const words = ['agent', 'start', 'run-1', '--capability', 'python', '--adapter', 'tmux', '--json'];

  const shell = makeShell(EMPTY_PROJECT);
  const program = join(shell.root, 'my agent');
  writeFileSync(program, '', { mode: 0o755 });

  const { code, json } = await shell.callWith(
    machine((request) => {
      asked.push(request);
      return ENDED;
    }),
    [...words, '--', program, '--json', '{prompt}', '--', '-x'],
  );

  expect(code).toBe(0);
  expect(json()).toEqual(ENDED);
  expect(asked[0]).toMatchObject({
    run: 'run-1',
    adapter: 'tmux',
    name: 'my-agent',
    capabilities: ['python'],
    argv: [program, '--json', '{prompt}', '--', '-x'],
    wait: false,
    waitForHuman: false,
    once: false,
    logFile: null,
  });
});

test.each([
  ['completed', 0],
  ['waiting', 0],
  ['escalated', 1],
  ['stopped', 1],
  ['crashed', 1],
  ['taken', 1],
  ['interrupted', 1],
  ['nothing_queued', 1],
] as const)('a run that is %s ends with exit code %i', async (outcome, code) => {
  const called = await makeShell(EMPTY_PROJECT).callWith(
    machine(() => ({ ...ENDED, outcome, message: 'what came of it' })),
    ['agent', 'start', '--', '/bin/sh'],
  );

  expect(called.code).toBe(code);
  expect(called.stdout).toContain('run run-1: what came of it');
});

test('what happens meanwhile is told on stderr, as JSON where that is asked for', async () => {
  const spawner = machine((request) => {
    request.report({ event: 'started', agent: 'a-1', run: 'run-1', start: 2, where: 'process 7' });
    return ENDED;
  });

  const plain = await makeShell(EMPTY_PROJECT).callWith(spawner, ['agent', 'start', '--', '/bin/sh']);
  const json = await makeShell(EMPTY_PROJECT).callWith(spawner, [
    'agent',
    'start',
    '--json',
    '--',
    '/bin/sh',
  ]);

  expect(plain.stderr).toBe('a-1: started again (2) as process 7\n');
  expect(JSON.parse(json.stderr)).toMatchObject({ event: 'started', start: 2 });
});

test.each([
  [['agent', 'start'], 'write it after `--`'],
  [['agent', 'stop'], 'has no `stop`'],
  [['agent', 'start', '--adapter', 'docker', '--', 'x'], 'adapters: subprocess, tmux'],
  [['agent', 'start', '--name', 'a b', '--', 'x'], 'is not a name'],
])('%j is wrong usage', async (words, message) => {
  expect(
    await makeShell(EMPTY_PROJECT).callWith(
      machine(() => ENDED),
      words,
    ),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  });
});

test('without a server nothing is started, and how to start one is said', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  const spawner = spawnLocalAgent({ env: {}, launcher: ['phasegate'], terminal: false });

  expect(await shell.callWith(machine(spawner), ['agent', 'start', '--', '/bin/sh'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('start one with `phasegate serve`'),
  });
});

function machine(spawn: (request: SpawnRequest) => Spawned | Promise<Spawned>): Machine {
  const unused = () => expect.fail('this is not asked for here');
  return {
    serveMcp: unused,
    openServer: unused,
    runLaunch: unused,
    driveRun: unused,
    testWorkflow: unused,
    stopping: () => new AbortController().signal,
    spawnAgent: async (request) => spawn(request),
  };
}
