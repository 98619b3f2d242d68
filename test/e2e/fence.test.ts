import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { type Called, makeProject, phasegate, type TestProject, withListed, withShown } from './cli.ts';
import { withServer } from './mcpClient.ts';

const PASSPHRASE = 'correct horse battery';
const FILES = {
  'agent_workflow.yaml': `
workflow: lab
phases:
  SRC:
    allowed_tools: [read_files, write_files]
    writes: ["src/**"]
    gate:
      blockers:
        - { check: files, with: { absent: [src/bad.txt] }, message: src/bad.txt must go }
      human: { prompt: Good?, options: [{ label: Yes }, { label: Again, next: SRC }, { label: Drop, next: null }] }
  AFTER:
    instructions: more
`,
  'package.json': '{}\n',
  'docs/d.md': 'one\n',
};

test('a human restores, moves aside and accepts, each on record, and the phase passes', async () => {
  const { project, run } = await begun();
  appendFileSync(join(project.root, 'package.json'), 'x');
  rmSync(join(project.root, 'docs'), { recursive: true });
  project.write('stray/deep/s.txt', 's');
  project.write('notes.md', 'n');
  expect(await done(project, run)).toMatchObject({ error: 'scope_violation', attempt: 0 });

  const restored = await act(project, [run, 'restore', 'package.json', 'docs']);
  const aside = await act(project, [run, 'quarantine', 'stray']);
  const accepted = await act(project, [run, 'accept', 'notes.md', '--reason', 'I wrote it']);

  expect([restored.code, aside.code, accepted.code]).toEqual([0, 0, 0]);
  expect(readFileSync(join(project.root, 'package.json'), 'utf8')).toBe('{}\n');
  expect(readFileSync(join(project.root, 'docs/d.md'), 'utf8')).toBe('one\n');
  expect(existsSync(join(project.root, 'stray/deep/s.txt'))).toBe(false);
  const [moved] = aside.json.paths as readonly JsonObject[];
  expect(readFileSync(String(moved?.what).replace('moved to ', ''), 'utf8')).toBe('s');
  expect(await done(project, run)).toMatchObject({ checkpoint_passed: true, status: 'waiting' });
  const records = await events(project, run);
  expect(
    records.filter(({ event }) => event === 'fence_settled').map(({ principal, data }) => [principal, data]),
  ).toMatchObject([
    ['human:maria', { action: 'restore', paths: ['docs/d.md', 'package.json'] }],
    ['human:maria', { action: 'quarantine', paths: ['stray/deep/s.txt'] }],
    ['human:maria', { action: 'accept', paths: ['notes.md'], reason: 'I wrote it' }],
  ]);
});

test('only a human settles anything, with a reason where a change stays', async () => {
  const { project, run } = await begun();
  project.write('notes.md', 'n');

  const order = await withListed(project, ['fence', run, 'accept', 'notes.md', '--reason', 'mine']);
  const noHuman = await phasegate(project, order);
  const wrong = await phasegate(project, order, { passphrase: 'guess' });
  const noReason = await act(project, [run, 'accept', 'notes.md']);
  const unchanged = await act(project, [run, 'restore', 'package.json']);
  const outside = await act(project, [run, 'restore', '../other']);

  expect(noHuman.stderr).toContain('passphrase');
  expect(wrong.stderr).toContain('credential_invalid');
  expect(noReason.stdout).toContain('needs a reason');
  expect(unchanged.stdout).toContain('no changed file matches');
  expect([noHuman.code, wrong.code, noReason.code, unchanged.code, outside.code]).toEqual([2, 1, 2, 2, 2]);
  expect(await done(project, run)).toMatchObject({ error: 'scope_violation' });
});

test('nothing is restored through a link that stands in the way', async () => {
  const { project, run } = await begun();
  const elsewhere = join(project.base, 'elsewhere');
  mkdirSync(elsewhere);
  rmSync(join(project.root, 'docs'), { recursive: true });
  symlinkSync(elsewhere, join(project.root, 'docs'));

  const through = await act(project, [run, 'restore', 'docs/d.md']);
  const whole = await act(project, [run, 'restore', 'docs']);

  expect(through.stdout).toMatch(/`docs` is not a folder/);
  expect(whole.code).toBe(0);
  expect(readFileSync(join(project.root, 'docs/d.md'), 'utf8')).toBe('one\n');
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('what the fence refuses is no attempt, and the same five times running is for a human', async () => {
  const { project, run } = await begun();
  project.write('stray.txt', 's');
  const answers: JsonObject[] = [];

  for (let time = 0; time < 5; time += 1) answers.push(await done(project, run));

  expect(answers.map(({ status }) => status)).toEqual(['active', 'active', 'active', 'active', 'escalated']);
  expect((await status(project, run)).attempts).toBe(0);
  await act(project, [run, 'quarantine', 'stray.txt']);
  await phasegate(project, ['resume', run], { passphrase: PASSPHRASE });
  expect(await done(project, run)).toMatchObject({ checkpoint_passed: true });
});

test('`status` shows the ring and every violation, and forgets what was undone', async () => {
  const { project, run } = await begun();
  project.write('stray.txt', 's');
  await done(project, run);

  const refused = await status(project, run);
  rmSync(join(project.root, 'stray.txt'));
  project.write('src/bad.txt', 'b');
  await done(project, run);
  const failed = await status(project, run);

  expect(refused).toMatchObject({ ring: 'served', violations: [{ path: 'stray.txt', how: 'added' }] });
  expect(failed).toMatchObject({ attempts: 1 });
  expect(failed.violations).toBe(undefined);
});

test.each([
  ['accept', ['--reason', 'read'], 'n'],
  ['restore', [], 'n'],
  ['quarantine', [], 'n'],
])(
  'without a terminal nothing is settled unseen: `%s` needs the hash of the list',
  async (action, more, text) => {
    const { project, run } = await begun();
    project.write('notes.md', text);
    const words = ['fence', run, action, 'notes.md', ...more, '--json'];

    const unseen = await phasegate(project, words, { passphrase: PASSPHRASE });
    const wrong = await phasegate(project, [...words, '--shown', 'x'], { passphrase: PASSPHRASE });
    const list = (await phasegate(project, ['fence', run])).stdout;
    const old = await withListed(project, words);
    project.write('notes.md', 'swapped');
    const swapped = await phasegate(project, old, { passphrase: PASSPHRASE });

    expect(unseen).toMatchObject({
      code: 2,
      json: { error: 'usage', hint: expect.stringContaining(`phasegate fence ${run}`) },
    });
    expect(wrong).toMatchObject({ code: 1, json: { error: 'fence_failed' } });
    expect(list).toMatch(/--shown [0-9a-f]{64}/);
    expect(swapped).toMatchObject({ code: 1, json: { error: 'fence_failed' } });
    expect(readFileSync(join(project.root, 'notes.md'), 'utf8')).toBe('swapped');
    expect(await done(project, run)).toMatchObject({ error: 'scope_violation' });
  },
);

test('a hash of the list is for the phase it was printed in, and for no later one', async () => {
  const { project, run } = await begun();
  const nothing = await withListed(project, ['fence', run, 'accept', '--all', '--reason', 'read']);
  await done(project, run);
  const yes = await withShown(project, ['decide', run, '--option', 'Yes']);
  await phasegate(project, yes, { passphrase: PASSPHRASE });

  const late = await phasegate(project, [...nothing, '--json'], { passphrase: PASSPHRASE });

  expect(late).toMatchObject({ code: 1, json: { error: 'fence_failed' } });
});

test.each(['restore', 'accept', 'quarantine'])(
  'to %s a path that names no changed file is refused, and it is said where paths begin',
  async (action) => {
    const { project, run } = await begun();
    project.write('docs/stray.txt', 's');
    const reason = action === 'accept' ? ['--reason', 'mine'] : [];

    // From the folder of the file, from outside, of nothing, and of what did not change.
    for (const path of ['stray.txt', '../../etc/passwd', 'nofile', 'package.json']) {
      const called = await act(project, [run, action, path, ...reason]);

      expect({ path, code: called.code }).toEqual({ path, code: 2 });
      expect(called.json).toMatchObject({
        error: 'usage',
        message: `no changed file matches \`${path}\``,
        hint: `paths are from the project's root; \`phasegate fence ${run}\` lists them`,
      });
    }
    expect(existsSync(join(project.root, 'docs/stray.txt'))).toBe(true);
  },
);

test('what the phase may write is not settled, so the gate still tells of it', async () => {
  const { project, run } = await begun();
  project.write('src/a.txt', 'a');
  project.write('notes.md', 'n');

  const inside = await act(project, [run, 'restore', 'src']);
  const all = await act(project, [run, 'accept', '--all', '--reason', 'read']);
  await done(project, run);
  const card = await phasegate(project, ['status', run, '--json', '--as', 'maria'], {
    passphrase: PASSPHRASE,
  });

  expect(inside).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(existsSync(join(project.root, 'src/a.txt'))).toBe(true);
  expect(all.json.paths).toEqual([{ path: 'notes.md', what: 'accepted' }]);
  expect(JSON.stringify(card.json.gate_card)).toContain('src/a.txt');
});

test('a human who names what was shown accepts that, and nothing that came after', async () => {
  const { project, run } = await begun();
  project.write('notes.md', 'what the human read');
  const { shown } = (await phasegate(project, ['fence', run, '--json'])).json as { readonly shown: string };
  project.write('late.md', 'came after');
  project.write('.gitignore', '*\n');

  const late = await act(project, [run, 'accept', '--all', '--reason', 'read', '--shown', shown]);
  rmSync(join(project.root, 'late.md'));
  rmSync(join(project.root, '.gitignore'));
  const asShown = await act(project, [run, 'accept', '--all', '--reason', 'read', '--shown', shown]);

  expect(late).toMatchObject({ code: 1, json: { error: 'fence_failed' } });
  expect(asShown.code).toBe(0);
  expect(await done(project, run)).toMatchObject({ checkpoint_passed: true });
});

test('an ignore file that came meanwhile hides nothing after everything was accepted', async () => {
  const { project, run } = await begun();
  project.write('.gitignore', '*\n');
  const accepted = await act(project, [run, 'accept', '--all', '--reason', 'I read it']);
  project.write('late.md', 'came after');

  expect(accepted.code).toBe(0);
  expect(await done(project, run)).toMatchObject({ error: 'scope_violation' });
});

test('an agent over MCP is told the rule, how to ask, the ring and every violation', async () => {
  const { project, run } = await begun();
  project.write('stray.txt', 's');

  const [refused, state] = await withServer(project, async ({ call }) => [
    await call('complete_phase', { session_id: run, phase: 'SRC', evidence: {} }),
    await call('get_workflow_state', { session_id: run }),
  ]);

  expect(refused).toMatchObject({
    error: 'scope_violation',
    blockers: [{ rule: 'writes', rule_at: 'agent_workflow.yaml:6' }],
    ask: `report_blocked(session_id="${run}", reason)`,
  });
  expect(state).toMatchObject({ ring: 'served', violations: [{ path: 'stray.txt', how: 'added' }] });
});

test.each([
  ['missing', (file: string) => rmSync(file)],
  ['altered', (file: string) => appendFileSync(file, ' ')],
])('a measure that is %s refuses, and a human takes a new one', async (what, change) => {
  const { project, run } = await begun();
  const folder = join(project.stateDir, 'fence/own');
  change(join(folder, readdirSync(folder)[0] as string));

  const refused = await done(project, run);
  const listed = await phasegate(project, ['fence', run]);
  const one = await act(project, [run, 'accept', 'package.json', '--reason', 'r']);
  const old = await withListed(project, ['fence', run, 'accept', '--all', '--reason', 'r', '--json']);
  project.write('src/late.txt', 'came after');
  const late = await phasegate(project, old, { passphrase: PASSPHRASE });
  const all = await act(project, [run, 'accept', '--all', '--reason', 'I looked at all of it']);

  expect(refused).toMatchObject({ error: 'tree_unknown' });
  expect(JSON.stringify(refused)).toContain(
    `is missing; a human`.replace('missing', what).replace('is altered', 'was altered'),
  );
  expect(listed).toMatchObject({ code: 1 });
  expect([one.code, late.code, all.code]).toEqual([1, 1, 0]);
  expect(await done(project, run)).toMatchObject({ checkpoint_passed: true });
});

test('a change while a gate is open makes the card another one, and outside the scope it refuses the decision', async () => {
  const { project, run } = await begun();
  project.write('src/a.txt', 'a');
  await done(project, run);
  const old = await withShown(project, ['decide', run, '--option', 'Yes']);

  project.write('src/a.txt', 'b');
  const stale = await phasegate(project, [...old, '--json'], { passphrase: PASSPHRASE });
  project.write('stray.txt', 's');
  const fresh = await withShown(project, ['decide', run, '--option', 'Again']);
  const outside = await phasegate(project, [...fresh, '--json'], { passphrase: PASSPHRASE });
  rmSync(join(project.root, 'stray.txt'));
  const last = await withShown(project, ['decide', run, '--option', 'Yes']);
  const card = await phasegate(project, ['status', run, '--json', '--as', 'maria'], {
    passphrase: PASSPHRASE,
  });
  const decided = await phasegate(project, [...last, '--json'], { passphrase: PASSPHRASE });

  expect(stale.json).toMatchObject({ error: 'shown_changed' });
  expect(outside.json).toMatchObject({ error: 'scope_violation' });
  expect(card.json).toMatchObject({
    gate_card: { ring: 'served', changed_since: [{ path: 'src/a.txt', how: 'changed' }] },
  });
  expect(decided.json).toMatchObject({ status: 'active' });
});

test('the list ends with whole commands, and a command without a path says how to name one', async () => {
  const { project, run } = await begun();
  project.write('notes 1.md', 'n');
  const listed = await phasegate(project, ['fence', run]);
  const { json } = await phasegate(project, ['fence', run.slice(0, 14), '--json']);
  const bare = await phasegate(project, ['fence', run, 'restore']);

  const restore = `phasegate fence ${run} restore 'notes 1.md' --shown ${json.shown}`;
  expect(listed.stdout.split('\n')).toEqual(
    expect.arrayContaining([
      restore,
      `phasegate fence ${run} accept 'notes 1.md' --reason TEXT --shown ${json.shown}`,
    ]),
  );
  expect(bare.stderr).toContain(
    `phasegate fence ${run} lists them; then phasegate fence ${run} restore PATH`,
  );
  const words = ['fence', run, 'restore', 'notes 1.md', '--shown', String(json.shown)];
  expect((await phasegate(project, words, { passphrase: PASSPHRASE })).code).toBe(0);
});

async function begun(): Promise<{ readonly project: TestProject; readonly run: string }> {
  const project = makeProject(FILES);
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE });
  await phasegate(project, ['trust', 'lab', '--yes'], { passphrase: PASSPHRASE });
  const { json, stderr } = await phasegate(project, ['start', 'lab', '--json']);
  expect(stderr).toBe('');
  return { project, run: String(json.run) };
}

async function done(project: TestProject, run: string): Promise<JsonObject> {
  return (await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' })).json;
}

async function status(project: TestProject, run: string): Promise<JsonObject> {
  return (await phasegate(project, ['status', run, '--json'])).json;
}

async function act(project: TestProject, words: readonly string[]): Promise<Called> {
  const order = ['fence', ...words, '--json'];
  const listed = words.includes('--shown') ? order : await withListed(project, order);
  return phasegate(project, listed, { passphrase: PASSPHRASE });
}

async function events(project: TestProject, run: string): Promise<readonly JsonObject[]> {
  const { stdout } = await phasegate(project, ['audit', 'export', '--run', run]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

test.each([
  ['every time', 'head -c 8 /dev/urandom > src/noise', 'tree_moved', 'src/noise'],
  ['once, outside the scope', 'echo x > stray.txt', 'scope_violation', 'stray.txt'],
  ['once, in the scope', 'echo x > src/once.txt', undefined, ''],
])('a workspace that changes %s while it is judged', async (_, command, error, path) => {
  const project = makeProject({
    'agent_workflow.yaml': `
workflow: lab
phases:
  A:
    writes: ["src/**"]
    postconditions: [{ check: command, with: { shell: "${command}" }, message: it must run }]
  B: {}
`,
    'src/a.txt': 'a\n',
  });
  const run = String((await phasegate(project, ['start', 'lab', '--json'])).json.run);

  const answer = await done(project, run);

  expect(answer.error).toBe(error);
  expect(JSON.stringify(answer.blockers ?? '')).toContain(path);
});
