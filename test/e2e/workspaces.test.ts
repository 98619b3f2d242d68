import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { asProcess, makeProject, phasegate, startRun, type TestProject } from './cli.ts';

const ALONE = 'workflow: alone\nphases: { A: { writes: ["src/**"] }, B: { writes: ["src/**"] } }\n';
const SHARED =
  'workflow: shared\nenforcement: { workspace: shared }\nphases: { A: { writes: ["docs/**"] } }\n';
const READING = 'workflow: reading\nphases: { A: {} }\n';
const GATED =
  'workflow: gated\ngates: { ok: { human: { prompt: "Go on?", options: [{ label: Yes }] } } }\nphases: { A: { writes: ["src/**"], gate: ok }, B: {} }\n';
const LOOSE = 'workflow: loose\nenforcement: { mode: permissive, workspace: shared }\nphases: { A: {} }\n';

function project(): TestProject {
  return makeProject({
    'alone.workflow.yaml': ALONE,
    'shared.workflow.yaml': SHARED,
    'reading.workflow.yaml': READING,
    'gated.workflow.yaml': GATED,
    'loose.workflow.yaml': LOOSE,
  });
}

async function start(of: TestProject, workflow: string) {
  return (await phasegate(of, ['start', workflow, '--json'])).json;
}

function done(of: TestProject, run: unknown) {
  return phasegate(of, ['done', String(run), '--evidence', '-', '--json'], { stdin: '{}' });
}

test('a second run that may write waits in the queue and is told for which, whatever its workflow says [adv.K2 adv.K8]', async () => {
  const here = project();
  const first = await start(here, 'alone');
  const [second, shared, loose, reading] = [
    await start(here, 'alone'),
    await start(here, 'shared'),
    await start(here, 'loose'),
    await start(here, 'reading'),
  ];
  const claimed = await phasegate(here, ['claim', String(shared.run)]);
  const { json } = await phasegate(here, ['status', String(shared.run), '--json']);
  const next = await phasegate(here, ['claim', '--json']);

  expect([first, second, shared, loose, reading].map(({ status }) => status)).toEqual([
    'active',
    'queued',
    'queued',
    'queued',
    'active',
  ]);
  for (const waiting of [second, shared, loose])
    expect(JSON.stringify(waiting.warnings)).toContain(
      `run \`${first.run}\` of \`alone\` is active and has this workspace`,
    );
  expect(second.next_action).toContain(`finish run \`${first.run}\``);
  expect([claimed.code, claimed.stderr]).toEqual([1, expect.stringContaining('waits in the queue')]);
  expect(json.waits_for).toEqual({ run: first.run, workflow: 'alone', status: 'active' });
  expect(next.json).toMatchObject({ run: null });

  await done(here, first.run);
  expect((await done(here, first.run)).json.status).toBe('completed');
  // In the order of the queue, and one that shares the workspace keeps out the one that does not.
  const later = await phasegate(here, ['claim', '--json']);
  expect(later.json).toMatchObject({ run: second.run, status: 'active' });
});

test('a run that shares the workspace keeps out one that does not, and no other that shares it', async () => {
  const here = project();
  const one = await start(here, 'shared');
  const two = await start(here, 'shared');
  const alone = await start(here, 'alone');
  await done(here, one.run);
  const early = await phasegate(here, ['claim', String(alone.run), '--json']);
  await done(here, two.run);
  const late = await phasegate(here, ['claim', String(alone.run), '--json']);

  expect([one.status, two.status, alone.status]).toEqual(['active', 'active', 'queued']);
  expect(early.json.message).toContain(`run \`${two.run}\` of \`shared\``);
  expect(late.json.status).toBe('active');
});

test('a run that waits for a human still has the workspace, and status says what lets the next begin', async () => {
  const here = project();
  const first = await startRun(here, 'gated');
  const second = await startRun(here, 'alone');
  const gate = await done(here, first);
  const { json } = await phasegate(here, ['status', second, '--json']);
  const text = (await phasegate(here, ['status', second])).stdout;

  expect(gate.json.status).toBe('waiting');
  expect(json).toMatchObject({ status: 'queued', waits_for: { run: first, status: 'waiting' } });
  expect(json.next_action).toContain(`have a human act on run \`${first}\`, which waits for one`);
  expect(text).toMatch(new RegExp(`waits for +${first} of gated, which is waiting and has this workspace`));
  const doctor = (await phasegate(here, ['doctor', '--json'])).json.checks as readonly JsonObject[];
  expect(doctor.find(({ name }) => name === 'workspace')).toMatchObject({
    message: expect.stringMatching(
      new RegExp(
        `run \`${first}\` of \`gated\` is waiting, unchanged since [0-9T:.-]+Z, .*another run waits`,
      ),
    ),
    next_step: expect.stringMatching(new RegExp(`^phasegate decide ${first}; or .*phasegate stop ${first}`)),
  });
  await phasegate(here, ['stop', second, '--reason', 'enough']);
});

test('of two runs started at the same moment by two processes exactly one begins, and the other waits for it [adv.K2]', async () => {
  const here = project();
  await phasegate(here, ['list']);

  const both = await Promise.all([0, 1].map(() => asProcess(here, ['start', 'alone', '--json'])));

  const [began, waits] = ['active', 'queued'].map((status) =>
    both.find(({ json }) => json.status === status),
  );
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(JSON.stringify(waits?.json.warnings)).toContain(`run \`${began?.json.run}\``);
});
