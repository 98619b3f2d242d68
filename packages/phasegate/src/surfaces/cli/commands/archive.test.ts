import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { afterwards } from '../fixtures/afterwards.ts';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: one\nphases:\n  WORK: { instructions: Work. }\n';

test('runs that ended are archived by a human, verify, and are found no more but in the archive', async () => {
  const shell = await project();
  const [run, other] = [await started(shell), await started(shell)];
  await shell.callAs('open sesame', ['stop', run, '--reason', 'done with']);
  expect((await shell.call(['audit', 'verify'])).code).toBe(0);

  const before = afterwards();
  const { code, stdout } = await shell.callAs('open sesame', ['archive', '--before', before, '--json']);

  expect(code).toBe(0);
  const { file, sha256, ...counts } = JSON.parse(stdout) as Record<'file' | 'sha256', string>;
  expect(counts).toMatchObject({ runs: 1, before });
  expect(file).toMatch(/\/archives\/runs-[^/]*\.jsonl$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const verified = await shell.call(['audit', 'verify', '--archive', file, '--json']);
  expect(verified.json()).toMatchObject({ ok: true, archived: [{ file, sha256, runs: 1, verified: true }] });
  expect((await shell.call(['audit', 'verify'])).stdout).toContain(`1 run archived in ${file}`);
  for (const words of [
    ['status', run],
    ['next', run],
    ['audit', 'export', '--run', run],
  ]) {
    const { code: refused, stderr } = await shell.call(words);
    expect([refused, stderr]).toEqual([
      1,
      expect.stringContaining(`archived on ${before.slice(0, 10)}, to \`${basename(file)}\``),
    ]);
  }
  const { runs } = (await shell.call(['runs', '--json'])).json() as { runs: { run: string }[] };
  expect(runs.map((one) => one.run)).toEqual([other]);
  expect((await shell.call(['status', other])).code).toBe(0);
  const again = await shell.callAs('open sesame', ['archive', '--before', before]);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to archive') });
});

test('an archive goes where it is told and never over another file; a changed one is found', async () => {
  const shell = await project();
  const run = await started(shell);
  await shell.callAs('open sesame', ['stop', run, '--reason', 'done with']);
  const file = join(shell.root, 'kept.jsonl');
  const words = ['archive', '--before', afterwards(), '--to', file];
  writeFileSync(file, 'mine');
  expect(await shell.callAs('open sesame', words)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/never overwrites.*\nhint: name a file that is not there yet/),
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');

  const other = join(shell.root, 'other.jsonl');
  expect((await shell.callAs('open sesame', [...words.slice(0, -1), other])).code).toBe(0);

  expect(await shell.call(['audit', 'verify', '--archive', other])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('which verifies'),
  });
  writeFileSync(other, readFileSync(other, 'utf8').replace('done with', 'done wiht'));
  for (const wrong of [other, file]) {
    const verified = await shell.call(['audit', 'verify', '--archive', wrong]);
    expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('archive_invalid')]);
  }
});

test('what an archive is and where it goes is said before a passphrase is asked for', async () => {
  const shell = await project();
  const words = ['archive', '--before', '2026-01-01'];

  const unproven = await shell.call(words);
  const elsewhere = await shell.call([...words, '--to', join(shell.root, 'kept.jsonl')]);

  expect(unproven.stderr).toMatch(/leave the database for a new file in \S+\/archives; no command brings/);
  expect(unproven.stderr).toMatch(/exported before what the phases .*\n.*must give their passphrase/);
  expect(elsewhere.stderr).toContain(`for ${join(shell.root, 'kept.jsonl')}; no command brings them back`);
});

test('the one who asks for an archived run is told how to read it, and what the beginning of an id is worth', async () => {
  const shell = await project();
  const run = await started(shell);
  const file = join(shell.root, 'kept.jsonl');
  await shell.callAs('open sesame', ['stop', run, '--reason', 'done with']);
  const archived = await shell.callAs('open sesame', ['archive', '--before', afterwards(), '--to', file]);

  const told = await shell.call(['status', run]);
  const short = await shell.call(['status', run.slice(0, 8)]);

  expect(archived.stderr).toContain('note: the archive lies in the workspace');
  expect(told.stderr).toContain(`hint: \`grep ${run} ${file}\` prints its records`);
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  expect(lines.filter((line) => line.includes(run)).map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ run, state: expect.anything() }),
    expect.objectContaining({ run, event: 'run_started' }),
    expect.objectContaining({ run, event: 'run_stopped' }),
  ]);
  expect(short.stderr).toContain('one that was archived is known by its whole id alone');
});

test('an archive that is not where it was written to is told so, and one that was moved by its place', async () => {
  const shell = await project();
  const run = await started(shell);
  await shell.callAs('open sesame', ['stop', run, '--reason', 'done with']);
  const [file, moved] = [join(shell.root, 'kept.jsonl'), join(shell.root, 'moved.jsonl')];
  const words = ['archive', '--before', afterwards(), '--to', file];
  expect((await shell.callAs('open sesame', words)).code).toBe(0);
  expect((await shell.call(['audit', 'verify'])).stdout).toContain(`1 run archived in ${file}\n`);

  renameSync(file, moved);

  expect(await shell.call(['audit', 'verify'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`1 run archived in ${file} (not there any more)`),
    stderr: expect.stringMatching(
      /^warning: an archive is not there any more, so the runs in it cannot .*kept\.jsonl`\nhint: .*`phasegate audit verify --archive FILE`; if not, restore it/,
    ),
  });
  const doctor = (await shell.call(['doctor', '--json'])).json();
  expect(doctor.checks).toContainEqual({
    name: 'archives',
    status: 'optional',
    message: expect.stringContaining(`\`${file}\``),
    next_step: expect.stringContaining('--archive FILE'),
  });
  const told = await shell.call(['status', run]);
  expect(told.stderr).toContain(`hint: there is nothing at \`${file}\` any more: if the archive was moved, `);
  expect(told.stderr).not.toContain(`grep ${run} ${file}`);
  const json = async (...more: readonly string[]) =>
    (await shell.call(['audit', 'verify', '--json', ...more])).json();
  expect(await json()).toMatchObject({ ok: true, archived: [{ file, verified: false, state: 'missing' }] });
  expect(await json('--archive', moved)).toMatchObject({
    archived: [{ file, verified: true, state: 'verified', found: moved }],
  });
  const found = await shell.call(['audit', 'verify', '--archive', moved]);
  expect(found).toMatchObject({ code: 0, stderr: '' });
  expect(found.stdout).toContain(`1 run archived in ${moved}, which verifies`);
});

test.each([
  ['archive', ['archive', '--before', '2026-01-01', '--to']],
  ['backup', ['backup']],
])('%s takes no name that is not one of a file, and no folder that is not there', async (_, words) => {
  const shell = await project();
  for (const [file, says] of [
    ['-', '`-` is not one'],
    ['', 'is an empty word'],
    [join(shell.root, 'none', 'x'), 'cannot be written: there is no such file or folder'],
    [join(shell.root, 'one.workflow.yaml', 'x'), 'cannot be written: a file stands where a folder is needed'],
  ] as const) {
    const refused = await shell.call([...words, file]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(says)]);
  }
});

test('archives that are not there are bad input, all at once, and say nothing about the audit', async () => {
  const shell = makeShell();
  const words = ['audit', 'verify', '--archive', 'one.jsonl', '--archive', 'two.jsonl'];

  const refused = await shell.call(words);

  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/there is no such file: `\S*one\.jsonl`, `\S*two\.jsonl`/);
  expect(refused.stdout + refused.stderr).not.toContain('broken');
});

test('nobody else archives: not without a human, not without the passphrase', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  const words = ['archive', '--before', '2026-01-01'];
  expect(await shell.call(words)).toMatchObject({ stderr: expect.stringContaining('none is set up') });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  expect((await shell.call(words)).code).toBe(2);
  expect((await shell.callAs('wrong', words)).code).toBe(1);
});

test.each([
  ['nonsense', 'yesterday'],
  ['a day there is not', '2026-02-30'],
  ['a time without a zone', '2026-01-01T12:00:00'],
  ['the future', '9999-01-01'],
  ['nothing', ''],
])('%s is no date to archive before', async (_, date) => {
  const shell = makeShell(EMPTY_PROJECT);
  expect((await shell.call(['archive', '--before', date])).code).toBe(2);
  expect((await shell.call(['archive'])).code).toBe(2);
});

async function project(): Promise<Shell> {
  const shell = makeShell({ ...EMPTY_PROJECT, 'one.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', 'one', '--yes']);
  return shell;
}

async function started(shell: Shell): Promise<string> {
  const { stdout, stderr } = await shell.call(['start', 'one', '--json']);
  expect(stderr).toBe('');
  const { run } = JSON.parse(stdout);
  expect(run).toEqual(expect.any(String));
  return run;
}
