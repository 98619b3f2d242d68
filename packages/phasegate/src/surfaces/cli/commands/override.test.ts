import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = `
workflow: ship
enforcement: { workspace: shared }
phases:
  PLAN:
    allowed_tools: [read_files, write_files]
    writes: ["src/**"]
    required_artifacts: [{ type: plan, schema: { type: string } }]
    gate: { human: { prompt: Good?, options: [{ label: Approve }, { label: Back, next: PLAN }], approvers: [joe] } }
  BUILD:
    required_artifacts: [{ type: report, schema: { type: string } }]
    gate: { human: { prompt: Ship?, options: [{ label: Ship }, { label: Drop, next: null }] } }
`;

test('a phase that a human overrode is shown as that everywhere, and as passed nowhere [adv.H3]', async () => {
  const { shell, run } = await atGate();
  const reason = 'joe is ill, and the fix cannot wait';
  const words = ['override', run, '--reason', reason, '--as', 'maria', '--json'];

  expect(await shell.call(words)).toMatchObject({ code: 2 });
  expect((await shell.callAs('not maria at all', words)).json()).toMatchObject({
    error: 'credential_invalid',
  });
  const done = await shell.callAs('open sesame', words);

  expect(done.json()).toMatchObject({ ok: true, current_phase: 'BUILD' });
  const told = (await shell.call(['status', run, '--json'])).json();
  const overrides = [{ phase: 'PLAN', to: 'BUILD', reason, by: 'maria' }];
  expect(told).toMatchObject({ status: 'active', overrides, completed_phases: [] });
  const status = await shell.call(['status', run]);
  expect(status.stdout).toMatch(/overridden +phase PLAN, not completed: maria, .*joe is ill/);
  expect(status.stdout).toContain('0/2');
  expect((await shell.call(['runs'])).stdout).toContain('active, 1 phase overridden');
  expect((await shell.call(['runs', '--json'])).json()).toMatchObject({ runs: [{ run, overridden: 1 }] });
  expect((await shell.call(['audit', 'verify'])).stdout).toMatch(
    /the audit verifies.*\n +1 phase was overridden/,
  );
  await hand(shell, run, { report: 'built' });
  const card = await shell.callAs('open sesame', ['status', run, '--as', 'maria']);
  expect(card.stdout).toContain('! phases that a human led the run past, and nobody completed:');
  expect(card.stdout).toContain('phase PLAN: OVERRIDDEN by maria, not completed');
  const graph = (await shell.call(['graph', 'ship', '--run', run, '--format', 'json'])).stdout;
  expect(JSON.parse(graph)).toMatchObject({ nodes: [{ id: 'PLAN', status: 'overridden' }, {}, {}] });
});

test('an override leads along a way there is, with a reason [adv.H3]', async () => {
  const { shell, run } = await atGate();
  const unnamed = ['override', run, '--reason', ' ', '--as', 'maria', '--json'];

  expect((await shell.callAs('open sesame', unnamed)).code).not.toBe(0);
  const wrong = ['override', run, '--reason', 'x', '--to', 'NOWHERE', '--as', 'maria', '--json'];
  expect((await shell.callAs('open sesame', wrong)).json()).toMatchObject({ error: 'not_the_next_phase' });
  const end = ['override', run, '--reason', 'x', '--to', 'PLAN', '--as', 'maria', '--json'];
  expect((await shell.callAs('open sesame', end)).json()).toMatchObject({ current_phase: 'PLAN' });
});

test('the card shows what the phase changed as it was when the gate opened, bound by the hash [adv.J6]', async () => {
  const { shell, run } = await atGate();

  const { gate_card: card } = (
    await shell.callAs('open sesame', ['status', run, '--as', 'maria', '--json'])
  ).json();

  expect(own(card as Json, 'diff')).toMatchObject([
    {
      path: 'src/new.ts',
      how: 'added',
      before: null,
      added: 1,
      removed: 0,
      diff: '@@ line 1\n+export const a = 1;',
    },
  ]);
  expect(card).toMatchObject({ approvers: ['joe'] });
  const shown = await shownOf(shell, run);
  shell.write('src/new.ts', 'export const a = 2;\n');
  const stale = ['decide', run, '--option', 'Approve', '--shown', shown, '--as', 'joe', '--json'];
  expect((await shell.callAs('another secret', stale)).json()).toMatchObject({ error: 'shown_changed' });
  const { gate_card: after } = (
    await shell.callAs('open sesame', ['status', run, '--as', 'maria', '--json'])
  ).json();
  expect(own(after as Json, 'diff')).toEqual(own(card as Json, 'diff'));
  expect(after).toMatchObject({ changed_since: [{ path: 'src/new.ts', how: 'changed' }] });
  const text = (await shell.callAs('open sesame', ['status', run, '--as', 'maria'])).stdout;
  expect(text).toContain('What the phase changed');
  expect(text).toContain('- `src/new.ts` was added, +1 -0 lines');
  expect(text).toContain('| +export const a = 1;');
});

test('in ring served a path that is linked to the key shows where it leads, and nothing of the key [adv.C2]', async () => {
  const shell = await staffed();
  const run = String((await shell.call(['start', 'ship', '--json'])).json().run);
  const { keys, secrets } = keysOf(shell);
  symlinkSync(keys, join(shell.root, 'src/leak.ts'));
  await hand(shell, run, { plan: 'x' });

  const card = await shell.callAs('open sesame', ['status', run, '--as', 'maria', '--json']);

  expect(own(card.json().gate_card as Json, 'diff')).toMatchObject([
    { path: 'src/leak.ts', diff: expect.stringContaining('+a link to ') },
  ]);
  expect(secrets.filter((secret) => card.stdout.includes(secret))).toEqual([]);
});

test('in ring served a second name of the key opens no gate and is shown nowhere, nor by a context path [adv.C2]', async () => {
  const shell = await staffed();
  const run = String((await shell.call(['start', 'ship', '--json'])).json().run);
  const { keys, secrets } = keysOf(shell);
  linkSync(keys, join(shell.root, 'src/leak.ts'));

  const told = [
    await shell.call(
      ['done', run, '--evidence', '-', '--json'],
      JSON.stringify({ plan: readFileSync(keys, 'utf8') }),
    ),
    await shell.call(['status', run, '--json']),
    await shell.call(['fence', run, '--json']),
    await shell.call(['fence', run, '--diff', 'src/leak.ts']),
    await shell.callAs('open sesame', ['status', run, '--as', 'maria', '--json']),
  ];

  expect(told[0]?.json()).toMatchObject({ checkpoint_passed: false });
  expect(told.flatMap(({ stdout }) => secrets.filter((secret) => stdout.includes(secret)))).toEqual([]);
});

test('where the approver has left, the others are told what they can do, and can do it', async () => {
  const { shell, run } = await atGate();
  expect((await shell.callAs('open sesame', ['humans', 'remove', 'joe', '--as', 'maria'])).code).toBe(0);
  const shown = await shownOf(shell, run);

  const refused = await shell.callAs('open sesame', [
    ...['decide', run, '--option', 'Approve', '--shown', shown, '--as', 'maria', '--json'],
  ]);

  expect(refused.json()).toMatchObject({ error: 'not_an_approver' });
  expect(refused.stdout).toContain('joe is not set up in this project');
  const fresh = shell.descriptor('third secret\n');
  const add = ['humans', 'add', 'joe', '--new-passphrase-fd', String(fresh), '--as', 'maria'];
  expect((await shell.callAs('open sesame', add)).code).toBe(0);
  const decide = ['decide', run, '--option', 'Approve', '--shown', shown, '--as', 'joe', '--json'];
  expect((await shell.callAs('third secret', decide)).json()).toMatchObject({ current_phase: 'BUILD' });
});

test('a forgotten passphrase is reset by another human; what the old key signed stays signed [adv.P3]', async () => {
  const { shell, run } = await atGate();
  const shown = await shownOf(shell, run);
  const decide = ['decide', run, '--option', 'Approve', '--shown', shown, '--as', 'joe', '--json'];
  expect((await shell.callAs('another secret', decide)).json()).toMatchObject({ current_phase: 'BUILD' });
  const reset = (by: string, name = 'joe') => {
    const fresh = shell.descriptor('new for joe\n');
    return ['humans', 'reset', name, '--new-passphrase-fd', String(fresh), '--as', by, '--json'];
  };

  expect((await shell.callAs('another secret', reset('joe'))).json()).toMatchObject({
    hint: 'phasegate humans passphrase joe',
  });
  expect((await shell.callAs('wrong of maria', reset('maria'))).json()).toMatchObject({
    error: 'credential_invalid',
  });
  expect((await shell.callAs('open sesame', reset('maria', 'eve'))).code).toBe(2);
  expect((await shell.callAs('open sesame', reset('maria'))).json()).toMatchObject({
    name: 'joe',
    reset: true,
  });

  expect(
    (await shell.callAs('another secret', ['status', run, '--as', 'joe', '--json'])).json(),
  ).toMatchObject({
    error: 'credential_invalid',
  });
  await hand(shell, run, { report: 'built' });
  const again = [
    'decide',
    run,
    '--option',
    'Ship',
    '--shown',
    await shownOf(shell, run),
    '--as',
    'joe',
    '--json',
  ];
  expect((await shell.callAs('new for joe', again)).json()).toMatchObject({ status: 'completed' });
  expect(await shell.call(['audit', 'verify'])).toMatchObject({ code: 0 });
});

test('the only human cannot be reset by anybody, and is told so before anything is typed', async () => {
  const shell = makeShell({ 'ship.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  expect(await shell.call(['humans', 'reset', 'maria'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`maria` is the only human'),
  });
});

test('one whose key the agent used does not approve its work [adv.J2]', async () => {
  const shell = await staffed();
  const mine = ['agents', 'add', 'hers', '--mine', '--as', 'joe', '--json'];
  const { key } = (await shell.callAs('another secret', mine)).json();
  const env = { PHASEGATE_KEY: String(key) };
  const run = String((await shell.call(['start', 'ship', '--json'], '', env)).json().run);
  await shell.call(['done', run, '--evidence', '-', '--json'], JSON.stringify({ plan: 'x' }), env);
  const shown = await shownOf(shell, run);

  const decide = ['decide', run, '--option', 'Approve', '--shown', shown, '--as', 'joe', '--json'];

  expect((await shell.callAs('another secret', decide)).json()).toMatchObject({ error: 'self_approval' });
  expect((await shell.call(['agents', 'add', 'x', '--mine'])).code).not.toBe(0);
});

/** The project's keys, and every word of theirs that nobody may see. */
function keysOf(shell: Shell): { readonly keys: string; readonly secrets: readonly string[] } {
  const state = join(shell.root, '../state/phasegate');
  const keys = join(state, readdirSync(state)[0] ?? '', 'keys.json');
  const secrets = readFileSync(keys, 'utf8').match(/[\w-]{32,}/g) ?? [];
  expect(secrets.length).toBeGreaterThan(0);
  return { keys, secrets };
}

async function staffed(): Promise<Shell> {
  const shell = makeShell({ 'ship.workflow.yaml': WORKFLOW });
  mkdirSync(join(shell.root, 'src'));
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const fresh = shell.descriptor('another secret\n');
  const joe = ['humans', 'add', 'joe', '--new-passphrase-fd', String(fresh), '--as', 'maria'];
  await shell.callAs('open sesame', joe);
  await shell.callAs('open sesame', ['trust', '--yes', '--as', 'maria']);
  return shell;
}

async function atGate(): Promise<{ readonly shell: Shell; readonly run: string }> {
  const shell = await staffed();
  const run = String((await shell.call(['start', 'ship', '--json'])).json().run);
  shell.write('src/new.ts', 'export const a = 1;\n');
  await hand(shell, run, { plan: 'x' });
  return { shell, run };
}

async function hand(shell: Shell, run: string, evidence: object): Promise<void> {
  await shell.call(['done', run, '--evidence', '-', '--json'], JSON.stringify(evidence));
}

async function shownOf(shell: Shell, run: string): Promise<string> {
  const { gate } = (await shell.callAs('open sesame', ['status', run, '--as', 'maria', '--json'])).json();
  return String(own(gate ?? null, 'shown'));
}
