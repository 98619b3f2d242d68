import { describe, expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const FILE = 'agent_workflow.yaml';
const BEFORE = `
workflow: release
phases:
  PLAN: { instructions: plan it }
  BUILD: { instructions: build it }
  SHIP: { instructions: ship it }
`;
const LATER_GATE = `
workflow: release
phases:
  PLAN: { instructions: plan it }
  BUILD:
    instructions: build it well
    tasks: [{ name: Look, instructions: look }]
  CHECK:
    instructions: check it
    gate: { id: good, human: { prompt: Good?, options: [{ label: Yes }] } }
  PUBLISH: { instructions: publish it }
`;
const EARLIER_GATE = `
workflow: release
phases:
  PLAN:
    instructions: plan it
    gate: { id: plan_ok, human: { prompt: Go?, options: [{ label: Yes }], required: true } }
  BUILD: { instructions: build it }
  SHIP: { instructions: ship it }
`;
const WORD = 'open sesame';

describe('a run in flight whose workflow was edited', () => {
  test('is migrated by a human where later phases changed, and goes on to the new end [adv.K6]', async () => {
    const { shell, run } = await inBuild();
    shell.write(FILE, LATER_GATE);
    const { to } = (await shell.call(['migrate', run, '--json'])).json();
    await shell.callAs(WORD, ['trust', '--yes']);

    const migrated = await shell.callAs(WORD, ['migrate', run, '--to', String(to).slice(0, 8), '--json']);

    expect(migrated).toMatchObject({ code: 0 });
    expect(migrated.json()).toMatchObject({ ok: true, run, status: 'active', current_phase: 'BUILD' });
    const next = (await shell.call(['next', run])).stdout;
    expect(next).toContain('build it well');
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ error: 'tasks_not_fetched' });
    expect((await shell.call(['task', run, 'BUILD', '1'])).code).toBe(0);
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ next_phase: 'CHECK' });
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ status: 'waiting' });
    const decided = await shell.callAs(WORD, [
      ...['decide', run, '--option', 'Yes', '--shown', await shell.shown(run)],
      '--json',
    ]);
    expect(decided.json()).toMatchObject({ ok: true, current_phase: 'PUBLISH' });
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ status: 'completed' });
    expect(await shell.call(['audit', 'verify'])).toMatchObject({ code: 0 });
    const graph = (await shell.call(['graph', 'release', '--run', run, '--format', 'json'])).stdout;
    expect(graph).toContain('PUBLISH');
  });

  test('is not, where a required gate now stands before it, and stays pinned to what it has [adv.K6 adv.H4]', async () => {
    const { shell, run } = await inBuild();
    shell.write(FILE, EARLIER_GATE);
    await shell.callAs(WORD, ['trust', '--yes']);
    const shown = await shell.call(['migrate', run, '--json']);
    const { to } = shown.json();

    const refused = await shell.callAs(WORD, ['migrate', run, '--to', String(to), '--json']);

    expect(shown.code).toBe(1);
    expect(shown.json()).toMatchObject({
      possible: false,
      trusted: true,
      blockers: [{ code: 'migration_unproven' }],
    });
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      error: 'migration_unproven',
      message:
        'the new workflow does not lead to phase `BUILD` without gate `plan_ok` of phase `PLAN`, which this run has not passed',
    });
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ next_phase: 'SHIP' });
    expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ status: 'completed' });
    expect((await shell.call(['audit', 'verify'])).code).toBe(0);
  });

  test('is not migrated by an agent, with a wrong passphrase, or to what nobody accepted [C18]', async () => {
    const { shell, run } = await inBuild();
    shell.write(FILE, LATER_GATE);
    const shown = await shell.call(['migrate', run, '--json']);
    const words = ['migrate', run, '--to', String(shown.json().to), '--json'];

    expect(await shell.call(words)).toMatchObject({ code: 2 });
    const key = (await shell.callAs(WORD, ['agents', 'add', 'ada', '--json'])).json().key;
    expect(await shell.call(words, '', { PHASEGATE_KEY: String(key) })).toMatchObject({ code: 2 });
    const wrong = await shell.callAs('open, please', words);
    expect(wrong.code).toBe(1);
    expect(wrong.json()).toMatchObject({ error: 'credential_invalid' });
    const unread = await shell.callAs(WORD, words);
    expect(unread.code).toBe(1);
    expect(unread.json()).toMatchObject({ error: 'untrusted_workflow', hint: 'phasegate trust release' });

    expect(shown.json()).toMatchObject({ possible: false, trusted: false, blockers: [] });
    expect((await shell.call(['next', run])).stdout).not.toContain('build it well');
  });
});

test('without a hash it says what changed and what to call, and changes nothing', async () => {
  const { shell, run } = await inBuild();
  const same = await shell.call(['migrate', run]);
  shell.write(FILE, LATER_GATE);
  const open = await shell.call(['migrate', run]);
  await shell.callAs(WORD, ['trust', '--yes']);
  const ready = await shell.call(['migrate', run]);

  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('has the workflow of') });
  expect(open).toMatchObject({ code: 1, stdout: expect.stringContaining('phasegate trust release') });
  expect(ready.code).toBe(0);
  expect(ready.stdout).toMatch(/BUILD changed\n +CHECK added\n +PUBLISH added\n +SHIP removed/);
  expect(ready.stdout).toContain('start\n            complete `PLAN` → `BUILD`');
  expect(ready.stdout).toMatch(new RegExp(`can be migrated: phasegate migrate ${run} --to [0-9a-f]{12}\n`));
  expect((await shell.call(['next', run])).stdout).not.toContain('build it well');
});

test('a hash that is not the one on disk is refused', async () => {
  const { shell, run } = await inBuild();
  const other = await shell.callAs(WORD, ['migrate', run, '--to', '0123456789abcdef', '--json']);
  const short = await shell.callAs(WORD, ['migrate', run, '--to', '0123', '--json']);

  expect(other).toMatchObject({ code: 1 });
  expect(other.json()).toMatchObject({ error: 'workflow_unknown', hint: `phasegate migrate ${run}` });
  expect(short).toMatchObject({ code: 2 });
});

test('where two files define its workflow none of them is taken, and nobody is told to name one', async () => {
  const { shell, run } = await inBuild();
  shell.write('other.workflow.yaml', LATER_GATE);

  const shown = await shell.call(['migrate', run, '--json']);

  expect(shown).toMatchObject({ code: 2 });
  expect(shown.json()).toMatchObject({ error: 'workflow_ambiguous', hint: 'phasegate list' });
  expect(shown.json().message).not.toContain('name the file');
});

test('its agent reads in the audit that it was migrated, and not to what', async () => {
  const { shell, run } = await inBuild();
  shell.write(FILE, LATER_GATE);
  await shell.callAs(WORD, ['trust', '--yes']);
  const { to } = (await shell.call(['migrate', run, '--json'])).json();
  await shell.callAs(WORD, ['migrate', run, '--to', String(to)]);

  const told = await shell.call(['audit', 'export', '--run', run]);
  const tail = await shell.call(['audit', 'tail', '--run', run]);
  const whole = await shell.callAs(WORD, ['audit', 'export', '--run', run, '--as', 'maria']);

  for (const { stdout } of [told, tail]) {
    expect(stdout).toContain(String(to));
    expect(stdout).not.toMatch(/publish it|"recorded"/);
  }
  expect(whole.stdout).toMatch(/publish it/);
});

/** A project with a human, and a run in its second phase. */
async function inBuild(): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = makeShell({ [FILE]: BEFORE });
  await shell.callAs(WORD, ['humans', 'add', 'maria']);
  await shell.callAs(WORD, ['trust', '--yes']);
  const { run } = (await shell.call(['start', 'release', '--json'])).json();
  await shell.call(['done', String(run)]);
  return { shell, run: String(run) };
}
