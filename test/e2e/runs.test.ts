import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { complete, makeProject, phasegate, startRun, type TestProject } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };

const WORKFLOW = `workflow: errand
title: Run an errand
params:
  mode: { type: string, choices: [quick, full], default: full }
phases:
  LOOK:
    name: Look around
    instructions: Look around first.
    writes: []
    tasks:
      - { name: North, instructions: "Look to the north." }
      - { name: South, instructions: "Look to the south." }
    required_artifacts: [{ type: notes, schema: { type: string, minLength: 3 } }]
  GO:
    instructions: Only then go. SECRET-OF-GO
    writes: []
    postconditions:
      - { check: expression, with: { condition: "arrived.there === true" }, message: You must be there }
    required_artifacts: [{ type: arrived, schema: { type: object, required: [there] } }]
    next: null
`;

describe('a run', () => {
  test('is walked through from the command line, each answer naming the next command [C25]', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    const started = await phasegate(project, ['start', 'errand', '--param', 'mode=quick', '--json']);
    const run = String(started.json.run);
    expect(started.json).toEqual({
      run,
      workflow: 'errand',
      status: 'active',
      phase: 'LOOK',
      ring: 'served',
      trusted: false,
      next_action: `phasegate task ${run} LOOK 1`,
    });

    const early = await complete(project, run, { phase: 'LOOK', evidence: { notes: 'a hill' } });
    expect(early).toMatchObject({ code: 1, json: { error: 'tasks_not_fetched' } });
    const skipped = await complete(project, run, { phase: 'GO' });
    expect(skipped).toMatchObject({
      code: 1,
      json: { error: 'phase_sequence_violation', violation_type: 'attempted_skip' },
    });
    const peeked = await phasegate(project, ['task', run, 'GO', '1', '--json']);
    expect(peeked).toMatchObject({ code: 1, json: { error: 'phase_sequence_violation' } });

    const next = await phasegate(project, ['next', run]);
    expect(next.stdout).toContain('Look around first.');
    expect(next.stdout).not.toContain('SECRET-OF-GO');
    expect((await phasegate(project, ['task', run, '1', '1'])).stdout).toContain('Look to the north.');
    const second = await phasegate(project, ['task', run, 'LOOK', '2', '--json']);
    expect(second.json).toMatchObject({
      task_number: 2,
      source: 'static',
      next_action: `phasegate done ${run} --phase LOOK --evidence -`,
    });

    const looked = await complete(project, run, { phase: 'LOOK', evidence: { notes: 'a hill' } });
    expect(looked).toMatchObject({ code: 0, json: { checkpoint_passed: true, next_phase: 'GO' } });
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
      run,
      workflow: 'errand',
      params: { mode: 'quick' },
      status: 'active',
      phase: 'GO',
      completed_phases: ['LOOK'],
      progress: { completed: 1, current: 2, total: 2 },
      attempts: 0,
      gate: null,
      ring: 'served',
      next_action: `phasegate done ${run} --phase GO --evidence -`,
    });
    // A completed phase stays readable.
    expect(await phasegate(project, ['task', run, 'LOOK', '1'])).toMatchObject({ code: 0 });

    const arrived = await complete(project, run, { phase: 'GO', evidence: { arrived: { there: true } } });
    expect(arrived.json).toMatchObject({
      workflow_complete: true,
      status: 'completed',
      message: 'All phases complete',
    });
    expect((await phasegate(project, ['runs', '--status', 'completed', '--json'])).json).toMatchObject({
      runs: [{ run, workflow: 'errand', status: 'completed', phase: null }],
    });
    expect((await phasegate(project, ['runs', '--status', 'active', '--json'])).json).toEqual({ runs: [] });
    expect((await phasegate(project, ['done', run, '--json'])).json).toMatchObject({ error: 'run_ended' });
  });

  test('takes evidence from a file or stdin, and says what is wrong with it', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    const run = await runInGo(project);
    const file = join(project.base, 'evidence.json');
    const done = (source: string, stdin = '') =>
      phasegate(project, ['done', run, '--evidence', source, '--json'], { stdin });

    writeFileSync(file, '{"arrived": tru}');
    expect(await done(file)).toMatchObject({ code: 2, json: { error: 'evidence_unreadable' } });
    expect(await done('-', '[1]')).toMatchObject({ code: 2, json: { error: 'evidence_unreadable' } });
    expect(await done('-', '')).toMatchObject({ code: 2, json: { error: 'evidence_unreadable' } });
    expect(await done(join(project.base, 'none.json'))).toMatchObject({
      code: 2,
      json: { message: expect.stringContaining('there is no such file') },
    });
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    expect(await done('-', deep)).toMatchObject({ code: 2, json: { error: 'evidence_unreadable' } });
    const large = JSON.stringify({ arrived: 'x'.repeat(11 * 1024 * 1024) });
    expect(await done('-', large)).toMatchObject({ code: 2, json: { error: 'evidence_unreadable' } });
    expect(await done('-', '{}')).toMatchObject({
      code: 1,
      json: { error: 'incomplete_checkpoint', checkpoint_passed: false },
    });
    // None of this was an attempt.
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ attempts: 0 });

    writeFileSync(file, '{"arrived": {"there": true}}');
    expect(await done(file)).toMatchObject({ code: 0, json: { status: 'completed' } });
  });

  test('that fails twice is handed to a human, who gives it back or ends it', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    const run = await runInGo(project);
    const lost = { phase: 'GO', evidence: { arrived: { there: false } } };

    expect((await complete(project, run, lost)).json).toMatchObject({ error: 'check_failed', attempt: 1 });
    expect((await phasegate(project, ['next', run])).stdout).toContain(
      'Previous attempt failed: You must be there',
    );
    expect((await complete(project, run, lost)).json).toMatchObject({ status: 'escalated' });
    expect((await complete(project, run, lost)).json).toMatchObject({ error: 'escalated' });

    expect(await phasegate(project, ['resume', run])).toMatchObject({ code: 2 });
    const resumed = await phasegate(project, ['resume', run, '--note', 'take the bus', '--json'], SECRET);
    expect(resumed).toMatchObject({ code: 0, json: { status: 'active' } });
    expect((await phasegate(project, ['next', run])).stdout).toContain('take the bus');

    expect(await phasegate(project, ['stop', run, '--reason', 'enough'])).toMatchObject({ code: 2 });
    const stopped = await phasegate(project, ['stop', run, '--reason', 'enough', '--json'], SECRET);
    expect(stopped).toMatchObject({ code: 0, json: { status: 'stopped' } });
    expect((await phasegate(project, ['status', run])).stdout).toContain('enough');
    expect((await complete(project, run, lost)).code).toBe(1);
  });

  test('waits for the answers to its questions, and for a human when it is blocked', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    const run = await runInGo(project);
    const questions = [
      { text: 'Which way?', options: ['left', 'right'] },
      { text: 'How fast?', options: ['slowly', 'quickly'] },
    ];

    const asked = await phasegate(project, ['ask', run, '-', '--json'], { stdin: JSON.stringify(questions) });
    expect(asked).toMatchObject({ code: 0, json: { status: 'waiting' } });
    const words = ['answer', run, '--question', '1', '--option', 'left', '--json'];
    expect(await phasegate(project, words)).toMatchObject({ code: 2 });
    const wrong = await phasegate(project, words.with(5, 'up'), SECRET);
    expect(wrong).toMatchObject({ code: 1, json: { error: 'option_unknown' } });
    expect(await phasegate(project, words, SECRET)).toMatchObject({ code: 0, json: { status: 'waiting' } });
    const rest = ['answer', run, '--question', '2', '--text', 'as you like', '--json'];
    expect(await phasegate(project, rest, SECRET)).toMatchObject({ code: 0, json: { status: 'active' } });
    expect((await phasegate(project, ['status', run, '--json'])).json.answers).toMatchObject([
      { question: 1, text: 'left', by: 'maria' },
      { question: 2, text: 'as you like', by: 'maria' },
    ]);

    const blocked = await phasegate(project, ['blocked', run, '--reason', 'the bridge is out', '--json']);
    expect(blocked).toMatchObject({ code: 0, json: { status: 'escalated' } });
    expect((await phasegate(project, ['status', run])).stdout).toContain('the bridge is out');
  });

  test('is refused with wrong parameters, and none is made', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });

    for (const words of [
      ['--param', 'mode=slow'],
      ['--param', 'speed=1'],
    ]) {
      const started = await phasegate(project, ['start', 'errand', ...words, '--json']);
      expect(started).toMatchObject({ code: 1, json: { error: 'param_invalid' } });
    }
    expect(await phasegate(project, ['start', 'errand', '--param', 'mode'])).toMatchObject({ code: 2 });
    expect((await phasegate(project, ['runs', '--json'])).json).toEqual({ runs: [] });
  });

  test('that does not exist is an error that says so [S0.49]', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });

    for (const words of [['status'], ['next'], ['done'], ['task', 'A', '1']]) {
      const [command, ...rest] = words as [string, ...string[]];
      const called = await phasegate(project, [command, 'run-of-nobody', ...rest, '--json']);
      expect(called).toMatchObject({ code: 1, json: { error: 'run_unknown' } });
      expect(called.json.message).toContain('run-of-nobody');
    }
  });

  test('keeps the workflow it was started with when the file is edited [C5 adv.K6]', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    const run = await runInGo(project);

    project.write('errand.workflow.yaml', WORKFLOW.replace('=== true', '=== false'));

    const arrived = await complete(project, run, { phase: 'GO', evidence: { arrived: { there: true } } });
    expect(arrived).toMatchObject({ code: 0, json: { status: 'completed' } });
  });
});

describe('state', () => {
  test('is backed up while in use and brought back by a human', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    const run = await runInGo(project);
    const before = (await phasegate(project, ['status', run, '--json'])).json;
    const file = join(project.base, 'copy.db');

    const made = await phasegate(project, ['backup', file, '--json']);
    expect(made).toMatchObject({ code: 0, json: { path: file } });
    expect(existsSync(file)).toBe(true);
    // A backup never overwrites.
    expect(await phasegate(project, ['backup', file])).toMatchObject({ code: 1 });
    await complete(project, run, { phase: 'GO', evidence: { arrived: { there: true } } });
    await startRun(project, 'errand');

    expect(await phasegate(project, ['restore', file])).toMatchObject({ code: 2 });
    expect(await phasegate(project, ['restore', file, '--json'], SECRET)).toMatchObject({ code: 0 });

    expect((await phasegate(project, ['status', run, '--json'])).json).toEqual(before);
    expect((await phasegate(project, ['runs', '--json'])).json.runs).toHaveLength(1);
    expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
    expect((await projectRecords(project)).at(-1)).toMatchObject({
      event: 'database_restored',
      principal: 'human:maria',
    });
    // Measures of the workspace are not in a backup, but kept by what they hold: this one is still there.
    const evidence = { arrived: { there: true } };
    expect((await complete(project, run, { phase: 'GO', evidence })).code).toBe(0);
  });

  test('is not brought back from a file that is not a backup of this project', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    const other = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    const run = await startRun(project, 'errand');
    await startRun(other, 'errand');
    const strange = join(project.base, 'strange.db');
    await phasegate(other, ['backup', strange]);
    const garbage = join(project.base, 'garbage.db');
    writeFileSync(garbage, 'no database at all, '.repeat(500));

    for (const [file, code] of [
      [strange, 'store_corrupt'],
      [garbage, 'store_corrupt'],
      [join(project.base, 'none.db'), 'file_unreadable'],
    ] as const) {
      const restored = await phasegate(project, ['restore', file, '--json'], SECRET);
      expect(restored.json).toMatchObject({ error: code });
      expect(restored.code).toBeGreaterThan(0);
    }
    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'active' });
  });

  test('of every run is found by its id, in one place outside the project [S0.46]', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    const [one, two] = [await startRun(project, 'errand'), await runInGo(project)];

    for (const [run, phase] of [
      [one, 'LOOK'],
      [two, 'GO'],
    ] as const) {
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ run, phase });
    }
    expect(readdirSync(project.stateDir)).toContain('state.db');
    expect(readdirSync(project.root)).toEqual(['errand.workflow.yaml']);
  });

  test('is told apart by where the project lies', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await startRun(project, 'errand');
    const moved = join(project.base, 'moved');

    renameSync(project.root, moved);

    const runs = await phasegate(project, ['runs', '--json'], { cwd: moved });
    expect(runs.json).toEqual({ runs: [] });
  });
});

describe('the audit', () => {
  test('is exported and followed as one record per line, and verifies', async () => {
    const project = makeProject({ 'errand.workflow.yaml': WORKFLOW });
    await phasegate(project, ['humans', 'add', 'maria'], SECRET);
    await phasegate(project, ['trust', '--yes'], SECRET);
    const run = await runInGo(project);

    const lines = (await phasegate(project, ['audit', 'export', '--run', run])).stdout.trimEnd().split('\n');
    const file = join(project.base, 'audit.ndjson');
    const written = await phasegate(project, ['audit', 'export', '--output', file, '--json'], SECRET);
    const tail = await phasegate(project, ['audit', 'tail', '-n', '2', '--run', run, '--json']);

    const records = lines.map((line) => JSON.parse(line) as AuditRecord);
    expect(records.map(({ event }) => event)).toEqual([
      'run_started',
      'task_fetched',
      'task_fetched',
      'phase_completed',
    ]);
    expect(records.every((record) => Object.keys(record).length === 8)).toBe(true);
    expect(tail.json.records).toEqual(records.slice(-2));
    const all = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(written.json).toEqual({ file, records: all.length });
    expect(all.map((line) => (JSON.parse(line) as AuditRecord).event)).toEqual(
      expect.arrayContaining(['human_added', 'workflow_trusted', 'run_started', 'phase_completed']),
    );
    const verified = await phasegate(project, ['audit', 'verify', '--json']);
    expect(verified).toMatchObject({ code: 0, json: { ok: true, runs: 1, records: all.length } });
  });
});

async function runInGo(project: TestProject): Promise<string> {
  const run = await startRun(project, 'errand');
  for (const task of ['1', '2']) await phasegate(project, ['task', run, 'LOOK', task]);
  const looked = await complete(project, run, { phase: 'LOOK', evidence: { notes: 'a hill' } });
  expect(looked).toMatchObject({ code: 0 });
  return run;
}

async function projectRecords(project: TestProject): Promise<readonly AuditRecord[]> {
  const { json } = await phasegate(project, ['audit', 'export', '--json'], SECRET);
  return (json.records as unknown as readonly AuditRecord[]).filter(({ run }) => run === null);
}
