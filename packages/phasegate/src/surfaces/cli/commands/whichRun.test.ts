import type { JsonObject, RunQuery, RunSummary } from '@phasegate/core';
import { expect, test } from 'vitest';
import { candidatesFor, runByPrefix } from '../chooseRun.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';
import { machine } from '../fixtures/drivingMachine.ts';

const GATED = `
workflow: gated
phases:
  DO:
    gate: { human: { prompt: "Good?", options: [{ label: Yes }, { label: No, next: null }] } }
`;

test('the only run is meant where none is named, by its agent and by its human', async () => {
  const shell = await staffed();
  const run = await start(shell);

  expect((await shell.call(['status', '--json'])).json()).toMatchObject({ run, status: 'active' });
  expect((await shell.call(['next', '--json'])).json()).toMatchObject({ run });
  expect((await shell.call(['fence', '--json'])).json()).toMatchObject({ run, outside: [] });
  expect((await shell.call(['fence', '--diff', '--json'])).json()).toMatchObject({ run, diff: '' });
  // What changes something names the run.
  expect(await shell.call(['fence', 'restore', 'a.txt'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('RUN is missing before `restore`'),
  });
  expect((await shell.call(['done', '--json'])).json()).toMatchObject({ status: 'waiting' });
  const unseen = await shell.callAs('open sesame', ['decide', '--option', 'Yes']);
  expect(unseen).toMatchObject({ code: 2, stderr: expect.stringContaining('`--shown HASH` is missing') });
  const shown = await shell.shown(run);
  const decided = await shell.callAs('open sesame', [
    'decide',
    '--option',
    'Yes',
    '--shown',
    shown,
    '--json',
  ]);
  expect(decided.json()).toMatchObject({ run, status: 'completed' });
  expect(decided.stderr).toContain(`${run}  gated  waiting in DO`);
});

test('of several, none is chosen: they are listed, and the exit code is 2', async () => {
  const shell = await staffed();
  const runs = [await start(shell), await start(shell)];
  for (const run of runs) await shell.call(['done', run]);

  for (const words of [
    ['decide', '--option', 'Yes', '--shown', 'x'],
    ['stop', '--reason', 'x'],
    ['status'],
  ]) {
    const called = words[0] === 'status' ? await shell.call(words) : await shell.callAs('open sesame', words);
    expect(called).toMatchObject({ code: 2, stdout: '' });
    for (const run of runs) expect(called.stderr).toContain(run);
  }
});

test('the only active run counts before those that wait; to stop one it must be the only one', async () => {
  const shell = await staffed();
  await shell.call(['done', await start(shell)]);
  const active = await start(shell);

  expect((await shell.call(['status', '--json'])).json()).toMatchObject({ run: active });
  expect((await shell.callAs('open sesame', ['stop', '--reason', 'x'])).code).toBe(2);
  expect((await shell.callAs('open sesame', ['decide'])).stderr).toContain('`--option LABEL` is missing');
});

test('in a project without runs it is said how to start one, and only there', async () => {
  const shell = await staffed();
  const hint = 'hint: start one with `phasegate start WORKFLOW "GOAL"`';
  for (const word of ['status', 'next', 'decide'])
    expect(await shell.call([word])).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });

  await start(shell);
  expect((await shell.call(['decide'])).stderr).not.toContain(hint);
});

test('after a decision it is said how an agent goes on', async () => {
  const shell = makeShell({ 'gated.workflow.yaml': `${GATED}  SHIP: {}\n` });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  const run = await start(shell);
  await shell.call(['done', run]);

  const words = ['decide', run, '--option', 'Yes', '--shown', await shell.shown(run)];
  const { stdout } = await shell.callAs('open sesame', words);

  expect(stdout).toContain(`or let an agent do it: phasegate run ${run} --agent NAME`);
});

test('where nothing waits it is said without a passphrase', async () => {
  const shell = await staffed();
  await start(shell);

  for (const [words, reason] of [
    [['decide'], 'no run waits at a gate'],
    [['answer', '--question', '1', '--text', 'x'], 'no run waits for answers'],
    [['resume'], 'no run is escalated'],
  ] as const) {
    expect(await shell.call(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
  }
});

test('the beginning of an id is enough where one run begins so, with or without `run-`', async () => {
  const shell = await staffed();
  const run = await start(shell);
  const other = await start(shell);
  const unique = [...run].findIndex((character, at) => character !== other[at]) + 1;

  for (const word of [run.slice(0, unique), run.slice(4, unique)]) {
    expect((await shell.call(['status', word, '--json'])).json()).toMatchObject({ run });
    const records = (await shell.call(['audit', 'export', '--run', word, '--json'])).json().records;
    expect((records as JsonObject[]).map((record) => record.run)).toContain(run);
  }
  const unclear = await shell.call(['status', 'run-']);
  expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining(other) });
  expect(unclear.stderr).toContain('`run-` is the beginning of 2 runs');
  expect((await shell.call(['status', 'run-zz', '--json'])).json()).toMatchObject({ error: 'run_unknown' });
  expect(await shell.call(['stop', '', '--reason', 'x'])).toMatchObject({ code: 2 });
});

test('neither the beginning of an id nor the only unfinished run is lost behind ten thousand newer ones', async () => {
  const lines = Array.from({ length: 10_050 }, (_, at) =>
    lineOf(`run-b${String(at).padStart(19, '0')}`, 'stopped'),
  );
  const old = lineOf(`run-a${'0'.repeat(19)}`, 'waiting');
  const gate = {
    runs: async ({ status, limit = 100, offset = 0 }: RunQuery = {}) =>
      [...lines, old]
        .filter((line) => status === undefined || line.status === status)
        .slice(offset, offset + limit),
    view: () => Promise.reject(new Error('no run has to be looked at')),
  };

  expect((await runByPrefix(gate, 'run-a'))?.run).toBe(old.run);
  expect((await runByPrefix(gate, 'a0'))?.run).toBe(old.run);
  expect((await candidatesFor(gate, 'unfinished')).map(({ run }) => run)).toEqual([old.run]);
  await expect(runByPrefix(gate, 'run-')).rejects.toThrow('the beginning of 10051 runs');
});

test("another agent's runs are neither found nor listed for an agent, and a human sees them", async () => {
  const shell = await staffed();
  const key = String((await shell.callAs('open sesame', ['agents', 'add', 'ada', '--json'])).json().key);
  const started = await shell.call(['start', 'gated', '--json'], '', { PHASEGATE_KEY: key });
  const hers = String(started.json().run);

  expect((await shell.call(['status', hers.slice(0, 12), '--json'])).json()).toMatchObject({
    error: 'run_unknown',
  });
  const missing = await shell.call(['status']);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('no run is under way') });
  for (const words of [
    ['stop', '--reason', 'x'],
    ['stop', hers.slice(0, 12), '--reason', 'x'],
  ]) {
    const unproven = await shell.call(words);
    expect(unproven.code).toBe(2);
    expect(unproven.stderr + unproven.stdout).not.toContain(hers);
  }
  const stopped = await shell.callAs('open sesame', ['stop', '--reason', 'not needed', '--json']);
  expect(stopped.json()).toMatchObject({ run: hers, status: 'stopped' });
});

async function staffed(): Promise<Shell> {
  const shell = makeShell({ 'gated.workflow.yaml': GATED });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  return shell;
}

async function start(shell: Shell): Promise<string> {
  return String((await shell.call(['start', 'gated', '--json'])).json().run);
}

function lineOf(run: string, status: RunSummary['status']): RunSummary {
  const at = '2026-01-01T00:00:00.000Z';
  const common = { workflow: 'gated', target: null, phase: null, holder: null, epoch: 1, priority: 0 };
  return { run, status, ...common, capabilities: [], startedAt: at, updatedAt: at };
}

const DRIVEN = 'workflow: build\nphases: { GO: { instructions: Say something } }\n';

test('`run` goes on with the run whose id begins so, where no workflow has that name', async () => {
  const shell = makeShell({ 'build.workflow.yaml': DRIVEN });
  const run = String((await shell.call(['start', 'build', '--json'])).json().run);
  const digits = run.slice('run-'.length);

  for (const word of [digits.slice(0, 6), digits, run.slice(0, 10), run]) {
    const called = await shell.callWith(machine(), ['run', word]);

    expect({ word, code: called.code }).toEqual({ word, code: 0 });
    expect(called.stdout).toContain(run);
  }
  expect((await shell.call(['runs', '--json'])).json().runs).toHaveLength(1);

  const named = digits.slice(0, 6);
  shell.write('b.workflow.yaml', DRIVEN.replace('build', `"${named}"`));
  const started = await shell.callWith(machine(), ['run', named, '--json']);

  expect(started.json()).toMatchObject({ outcome: 'awaiting_agent' });
  expect(started.json().run).not.toBe(run);
});

test('what is neither a workflow nor a run is told with where both are listed', async () => {
  const shell = makeShell({ 'gated.workflow.yaml': GATED });

  const { code, stderr } = await shell.callWith(machine(), ['run', 'run-zz']);

  expect(code).toBe(1);
  expect(stderr).toContain('there is no workflow `run-zz`');
  expect(stderr).toMatch(/\nhint: .*shows gated; `phasegate runs` shows the runs\n/);
});
