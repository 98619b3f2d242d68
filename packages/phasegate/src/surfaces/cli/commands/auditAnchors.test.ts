import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterwards } from '../fixtures/afterwards.ts';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: one\nphases:\n  WORK: { instructions: Work. }\n';

test('anchors from before an archive are checked with it, and are unproven where it is not there', async () => {
  const { shell, anchors, file } = await archived();
  const verify = (...more: readonly string[]) =>
    shell.call(['audit', 'verify', '--anchor', anchors, ...more]);
  expect(await verify()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the audit verifies: .* goes through 1 anchor\n.*, which verifies\n$/),
  });

  const moved = join(shell.root, 'moved.jsonl');
  renameSync(file, moved);
  const without = await verify();
  expect(without.code).toBe(1);
  expect(without.stdout).toMatch(/^not all could be checked: the audit itself verifies: /);
  expect(without.stdout).toContain('1 anchor could not be checked: it was made at ');
  expect(without.stdout).toContain(`give its archive with \`--archive FILE\`, it being \`${file}\``);
  expect(without.stdout).not.toContain('broken');
  expect((await verify('--json')).json()).toMatchObject({
    ok: false,
    findings: [],
    unproven: { anchors: 1, archives: [file] },
  });
  expect((await verify('--archive', moved)).code).toBe(0);
});

test.each([
  ['a folder as an archive', ['--archive', '.'], 'a folder, and not a file: `'],
  ['an archive that is not there', ['--archive', 'nofile'], 'there is no such file: `'],
  ['an archive that is no regular file', ['--archive', '/dev/null'], 'not a regular file: `/dev/null`'],
  ['a place without a name', ['--anchor', ''], '`--anchor` is an empty word'],
])('%s is wrong usage, and says what to name', async (_, words, message) => {
  const { code, stdout, stderr } = await makeShell(EMPTY_PROJECT).call(['audit', 'verify', ...words]);

  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
  expect(stderr).toContain(
    words[0] === '--archive' ? '`--archive` takes a file' : 'write `--anchor FILE|git-note`',
  );
});

test('a place whose last anchor cannot be checked gets new ones, each with a warning while it is the last', async () => {
  const { shell, anchors, file } = await archived();
  const moved = join(shell.root, 'moved.jsonl');
  renameSync(file, moved);
  const before = readFileSync(anchors, 'utf8');
  const anchor = (...more: readonly string[]) => shell.call(['audit', 'anchor', '--to', anchors, ...more]);

  const given = await anchor('--archive', moved);
  expect(given).toMatchObject({ code: 0, stderr: '' });
  writeFileSync(anchors, before);
  const warned = await anchor();
  expect(warned).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`given to ${anchors}`),
    stderr: expect.stringContaining('warning: 1 anchor could not be checked'),
  });
  expect(await anchor()).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(anchors, 'utf8').trim().split('\n')).toHaveLength(3);
  const exported = (
    await shell.callAs('open sesame', ['audit', 'tail', '--as', 'maria', '--json', '-n', '20'])
  ).json() as {
    records: { event: string; data: object }[];
  };
  const notes = exported.records.filter(({ event }) => event === 'audit_anchored').map(({ data }) => data);
  expect(notes.at(-2)).toMatchObject({ ok: true, unproven: 1 });
  expect(notes.at(-1)).not.toHaveProperty('unproven');

  expect((await shell.call(['audit', 'anchor', '--archive', join(shell.root, 'none')])).code).toBe(2);
});

test('what is none of this project is asked for again, and says nothing about the audit', async () => {
  const { shell, anchors } = await archived();
  const other = await archived();
  appendFileSync(anchors, readFileSync(other.anchors));
  const [archive, anchor] = ['hint: name another file with `--archive`: one', 'hint: name an anchor of this'];
  for (const [hint, ...words] of [
    [anchor, '--anchor', anchors],
    [archive, '--archive', join(shell.root, 'one.workflow.yaml')],
    [archive, '--archive', other.file],
    [anchor, '--since', readFileSync(other.anchors, 'utf8').trim()],
  ] as const) {
    const { code, stdout, stderr } = await shell.call(['audit', 'verify', ...words]);
    expect(stderr).toContain(hint);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^what was given does not fit: is it the right file, of this project\? the audit itself verifies: /,
      ),
    ]);
  }
  const { file } = other;
  expect((await shell.call(['audit', 'verify', '--archive', file, '--json'])).json()).toMatchObject({
    ok: false,
    onlyGiven: true,
  });
});

test('an archive that was changed where it lies, or is cut short, is told as that and as no wrong file', async () => {
  const { shell, anchors, file } = await archived();
  const text = readFileSync(file, 'utf8');
  const elsewhere = join(mkdtempSync(join(tmpdir(), 'phasegate-elsewhere-')), 'copy.jsonl');
  const changed = 'an archive was changed, is cut short, or is of another project';
  const verify = (...words: readonly string[]) => shell.call(['audit', 'verify', ...words]);
  for (const [held, reason, isAlwaysOurs] of [
    [text.replace('done with', 'done wiht'), 'was changed after the project signed it', true],
    [text.slice(0, -30), 'does not end with a signature: it was cut short', true],
    ['something else', "does not have the project's signature", false],
  ] as const) {
    writeFileSync(file, held);
    const byAnchor = await verify('--anchor', anchors);
    expect(byAnchor.code).toBe(1);
    expect(byAnchor.stdout).toContain(`${changed}: the audit itself verifies: `);
    expect(byAnchor.stdout).toContain(`\`${file}\` ${reason}`);
    expect(byAnchor.stdout).not.toContain('it being');
    expect(byAnchor.stdout).toContain(`archived in ${file} (what is there is not what was archived)`);
    expect((await verify('--anchor', anchors, '--json')).json()).toMatchObject({
      findings: [],
      unproven: { archives: [file], replaced: [{ file, reason: expect.stringContaining(reason) }] },
      archived: [{ file, state: 'replaced' }],
    });

    const given = await verify('--archive', file);
    expect([given.code, given.stdout]).toEqual([1, expect.stringContaining(`${changed}: the audit itself`)]);
    expect(given.stdout).not.toContain('is it the right file');
    const told = (await verify('--archive', file, '--json')).json();
    expect(told).toMatchObject({ onlyArchives: true, findings: [{ kind: 'archive_invalid' }] });
    expect(told).not.toHaveProperty('onlyGiven');

    writeFileSync(elsewhere, held);
    expect((await verify('--archive', elsewhere)).stdout).toContain(
      isAlwaysOurs ? changed : 'is it the right file, of this project?',
    );
  }
  const noAnchor = await shell.call(['audit', 'anchor', '--archive', file]);
  expect([noAnchor.code, noAnchor.stdout]).toEqual([1, expect.stringContaining(`${changed}, and no anchor`)]);

  writeFileSync(file, text);
  expect((await verify('--anchor', anchors, '--archive', file)).code).toBe(0);
});

test('no anchor is made with what is none of this project, which says nothing about the audit', async () => {
  const { shell, anchors } = await archived();
  const other = await archived();
  const before = readFileSync(other.anchors, 'utf8');
  for (const [words, named] of [
    [['--to', other.anchors], other.anchors],
    [['--archive', other.file], other.file],
    [['--to', anchors, '--archive', other.file], other.file],
  ] as const) {
    const { code, stdout, stderr } = await shell.call(['audit', 'anchor', ...words]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^what was given does not fit, and no anchor/)]);
    expect(stdout).toContain(`\`${named}\``);
    expect(stdout).toContain('the audit itself verifies');
    expect(stdout).not.toContain('broken');
    expect(stderr).toContain('hint: name another file');
  }
  expect(readFileSync(other.anchors, 'utf8')).toBe(before);
});

test('a place that cannot take an anchor is told before one is made, with the next step', async () => {
  const { shell } = await archived();
  const outside = mkdtempSync(join(tmpdir(), 'phasegate-places-'));
  const profile = join(outside, 'profile');
  writeFileSync(profile, 'export PATH=/bin\n');
  symlinkSync(join(outside, 'elsewhere'), join(outside, 'link'));
  const anchored = async () =>
    (
      await shell.callAs('open sesame', ['audit', 'tail', '--as', 'maria', '--json', '-n', '999'])
    ).stdout.split('audit_anchored').length;
  const before = await anchored();
  expect(before).toBeGreaterThan(1);
  const anchor = (place: string) =>
    shell.call(['audit', 'anchor', '--to', place], '', { PATH: process.env.PATH });
  for (const [place, reason] of [
    [outside, 'it is not a file'],
    ['/nope/a', 'there is no such file or folder'],
    [profile, 'holds something else than anchors'],
    [join(profile, 'a'), 'a file stands where a folder is needed'],
    [join(outside, 'link'), 'no anchor can be added to'],
    [join(shell.root, 'one.workflow.yaml'), 'goes with what it is to prove'],
    ['git-note', 'the project is not in a repository of git'],
  ] as const) {
    const { code, stdout, stderr } = await anchor(place);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)]);
    if (place !== 'git-note') expect(stderr).toContain(`\`${place}\``);
    expect(stderr).toMatch(/\[file_unreadable\]\nhint: name a file/);
  }
  execFileSync('git', ['init', '-q'], { cwd: shell.root });
  const early = await anchor('git-note');
  expect([early.code, early.stdout]).toEqual([2, '']);
  expect(early.stderr).toMatch(/there is no commit yet.*\nhint: make a first commit/);
  expect(existsSync(join(outside, 'elsewhere'))).toBe(false);
  expect(await anchored()).toBe(before);
});

test('a verification since an anchor says of how many runs it looked at the ends alone', async () => {
  const { shell, anchors } = await archived();
  const since = ['audit', 'verify', '--since', readFileSync(anchors, 'utf8').trim()];
  await started(shell);
  expect(await shell.call(since)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^the audit verifies since the anchor of \S+: 1 run changed and was read, 1 by their ends alone: /,
    ),
  });
  expect((await shell.call([...since, '--json'])).json()).toMatchObject({ since: { read: 1, byEnds: 1 } });
});

test('after a restore the hint shows what is lost, and how a new file of anchors begins', async () => {
  const { shell, anchors } = await archived();
  const backup = join(shell.root, '../state.db');
  await shell.call(['backup', backup]);
  await started(shell);
  const anchor = () => shell.call(['audit', 'anchor', '--to', anchors]);
  expect((await anchor()).code).toBe(0);
  expect((await shell.callAs('open sesame', ['restore', backup])).code).toBe(0);

  const refused = await anchor();

  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^the audit is broken, and no anchor/),
  });
  const [, verify = '', rename = ''] =
    /`phasegate (audit verify --anchor \S+)`.*`mv (\S+) NAME`/.exec(refused.stderr) ?? [];
  expect([verify, rename]).toEqual([`audit verify --anchor ${anchors}`, anchors]);
  expect((await shell.call(['audit', 'verify'])).code).toBe(0);
  expect((await shell.call(verify.split(' '))).code).toBe(1);
  renameSync(anchors, `${anchors}-before`);
  expect((await anchor()).code).toBe(0);
});

/** A project with an anchor of when a run was under way that is archived by now. */
async function archived(): Promise<{
  readonly shell: Shell;
  readonly anchors: string;
  readonly file: string;
}> {
  const shell = makeShell({ ...EMPTY_PROJECT, 'one.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', 'one', '--yes']);
  const run = await started(shell);
  await started(shell);
  const anchors = join(mkdtempSync(join(tmpdir(), 'phasegate-anchors-')), 'anchors');
  expect((await shell.call(['audit', 'anchor', '--to', anchors])).code).toBe(0);
  await shell.callAs('open sesame', ['stop', run, '--reason', 'done with']);
  const words = ['archive', '--before', afterwards(), '--json'];
  const { file } = (await shell.callAs('open sesame', words)).json() as { file: string };
  return { shell, anchors, file };
}

async function started(shell: Shell): Promise<string> {
  return String((await shell.call(['start', 'one', '--json'])).json().run);
}
