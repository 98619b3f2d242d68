import type { AuditRecord } from '@phasegate/core';
import { expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { asProcess, begin, type Called, makeProject, phasegate, startRun, type TestProject } from './cli.ts';

const WORKFLOW = `workflow: relay
phases:
  A: { writes: [], required_artifacts: [{ type: work }] }
  B: { writes: [], required_artifacts: [{ type: work }] }
  C: { writes: [] }
`;

const MANY = cases({ quick: 8, full: 64 });
const SEVERAL = cases({ quick: 3, full: 16 });

test('of many processes that complete the same phase exactly one wins [adv.K2 fail.21]', {
  timeout: 240_000,
}, async () => {
  const project = makeProject({ 'relay.workflow.yaml': WORKFLOW });
  const run = await startRun(project, 'relay');

  const results = await together(
    project,
    Array.from({ length: MANY }, (_, index) => ({ run, phase: 'A', evidence: { work: index } })),
  );

  const winners = results.filter(({ code }) => code === 0);
  const losers = results.filter(({ code }) => code !== 0);
  expect(winners).toHaveLength(1);
  expect(losers).toHaveLength(MANY - 1);
  for (const { code, json, stderr } of losers) {
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(['run_changed', 'phase_sequence_violation']).toContain(json.error);
  }
  const completed = (await records(project, run)).filter(({ event }) => event === 'phase_completed');
  expect(completed).toMatchObject([{ data: { phase: 'A', next: 'B' } }]);
  // The evidence kept is the winner's own, and the winner was told so.
  const winner = results.findIndex(({ code }) => code === 0);
  expect(completed[0]?.data).toMatchObject({ evidence: { work: winner } });
  expect(winners[0]?.json).toMatchObject({ checkpoint_passed: true, next_phase: 'B' });
  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
    phase: 'B',
    completed_phases: ['A'],
  });
  expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
});

test('two runs, each completed by several processes at once, do not disturb each other', {
  timeout: 240_000,
}, async () => {
  const project = makeProject({ 'relay.workflow.yaml': WORKFLOW });
  const runs = [await startRun(project, 'relay'), await startRun(project, 'relay')] as const;

  const results = await together(
    project,
    Array.from({ length: 2 * SEVERAL }, (_, index) => {
      const run = runs[index % 2] as string;
      return { run, phase: 'A', evidence: { work: run } };
    }),
  );

  for (const [which, run] of runs.entries()) {
    const mine = results.filter((_, index) => index % 2 === which);
    expect(mine.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(mine.filter(({ code }) => code === 1)).toHaveLength(SEVERAL - 1);
    const chain = await records(project, run);
    expect(chain.every((record) => record.run === run)).toBe(true);
    expect(chain.map(({ seq }) => seq)).toEqual(chain.map((_, index) => index + 1));
    expect(chain.filter(({ event }) => event === 'phase_completed')).toMatchObject([
      { data: { phase: 'A', evidence: { work: run } } },
    ]);
  }
  expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
});

test('several processes that start a project together share one state [fail.21]', {
  timeout: 240_000,
}, async () => {
  const project = makeProject({ 'relay.workflow.yaml': WORKFLOW });

  const results = await Promise.all(
    Array.from({ length: SEVERAL }, () => asProcess(project, ['start', 'relay', '--json'])),
  );

  expect(results.filter(({ code }) => code !== 0).map(({ stdout, stderr }) => stdout + stderr)).toEqual([]);
  const started = results.map(({ json }) => json.run);
  expect(new Set(started).size).toBe(SEVERAL);
  const listed = (await phasegate(project, ['runs', '--json'])).json.runs as readonly { run: string }[];
  expect(new Set(listed.map(({ run }) => run))).toEqual(new Set(started));
  expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
});

interface Completing {
  readonly run: string;
  readonly phase: string;
  readonly evidence: object;
}

/** All processes are up and wait for their evidence before any of them gets it. */
async function together(project: TestProject, all: readonly Completing[]): Promise<readonly Called[]> {
  const calls = all.map(({ run, phase }) =>
    begin(project, ['done', run, '--phase', phase, '--evidence', '-', '--json']),
  );
  // Begun last and with more to do than wait: when it has ended the others stand at their stdin.
  await phasegate(project, ['runs']);
  calls.forEach((call, index) => {
    call.feed(JSON.stringify(all[index]?.evidence));
  });
  return Promise.all(calls.map(({ result }) => result));
}

async function records(project: TestProject, run: string): Promise<readonly AuditRecord[]> {
  const { json } = await phasegate(project, ['audit', 'export', '--run', run, '--json']);
  return json.records as unknown as readonly AuditRecord[];
}
