import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fence } from '@phasegate/core/ports';
import { expect, test, vi } from 'vitest';
import { createFence } from './fence.ts';
import { weightySettings } from './gitConfig.ts';
import { pathsInIndex } from './gitIndex.ts';

test('a workspace that is not a repository is compared as a whole', async () => {
  const { fence, write } = place({ 'a.txt': 'a', 'deep/b.txt': 'b' });
  const tree = await fence.measure('run');

  write('deep/c.txt', 'c');

  expect(await changes(fence, tree)).toEqual(['added deep/c.txt']);
});

test('the same bytes with other dates and another inode are no change', async () => {
  const { fence, root, write } = place({ 'a.txt': 'a' });
  const tree = await fence.measure('run');

  rmSync(join(root, 'a.txt'));
  write('a.txt', 'a');
  utimesSync(join(root, 'a.txt'), 1, 1);

  expect(await changes(fence, tree)).toEqual([]);
});

test('a change that keeps size and dates is seen', async () => {
  const { fence, root } = place({ 'a.txt': 'one' });
  const { atime, mtime } = statSync(join(root, 'a.txt'));
  const tree = await fence.measure('run');

  writeFileSync(join(root, 'a.txt'), 'two');
  utimesSync(join(root, 'a.txt'), atime, mtime);

  expect(await changes(fence, tree)).toEqual(['changed a.txt']);
});

test('what looks that found nothing have seen is not taken for what is there now', async () => {
  const { fence, root, write } = place({ 'a.txt': 'one', 'b.txt': 'b' });
  const { atime, mtime } = statSync(join(root, 'a.txt'));
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  for (let look = 0; look < 3; look += 1) expect(await changes(fence, tree)).toEqual([]);

  writeFileSync(join(root, 'a.txt'), 'two');
  utimesSync(join(root, 'a.txt'), atime, mtime);
  expect(await changes(fence, tree)).toEqual(['changed a.txt']);
  rmSync(join(root, 'b.txt'));
  write('c.txt', 'c');
  expect(await changes(fence, tree)).toEqual(['changed a.txt', 'removed b.txt', 'added c.txt']);
  write('a.txt', 'one');
  write('b.txt', 'b');
  rmSync(join(root, 'c.txt'));

  expect(await changes(fence, tree)).toEqual([]);
});

test('inside another repository its rules count, from where they stand', async () => {
  const { fence, root, write } = place({ 'a.txt': 'a' });
  git(dirname(root), 'init -q');
  writeFileSync(join(dirname(root), '.gitignore'), 'project/gen/\n*.tmp\n');
  const tree = await fence.measure('run');

  write('gen/x', 'x');
  write('x.tmp', 'x');
  write('y.txt', 'y');

  expect(await changes(fence, tree)).toEqual(['added y.txt']);
});

test('a broken index is said, and refuses nothing else', async () => {
  const { fence, root, write } = place({ '.gitignore': 'build/\n', 'a.txt': 'a' });
  git(root, 'init -q');
  write('.git/index', 'DIRC no index at all');
  const tree = await fence.measure('run');
  write('b.txt', 'b');

  const compared = await fence.compare('run', tree);

  expect(compared).toMatchObject({
    ok: true,
    notes: expect.arrayContaining([expect.stringMatching(/git's index cannot be read/)]),
  });
  expect(await changes(fence, tree)).toEqual(['added b.txt']);
});

test('ignored folders are not entered, however much is in them', async () => {
  const { fence, root, write } = place({ '.gitignore': 'data/\n', 'a.txt': 'a' });
  // What would be found there could not be compared.
  mkdirSync(join(root, 'data'));
  execFileSync('mkfifo', [join(root, 'data/pipe')]);
  const tree = await fence.measure('run');
  write('data/more.txt', 'x');

  expect(await changes(fence, tree)).toEqual([]);
});

test('a state directory inside of the workspace is not part of it', async () => {
  const { root, write } = place({ 'a.txt': 'a' });
  const stateDir = join(root, '.state/project');
  const fence = fenceOf(root, stateDir);
  mkdirSync(stateDir, { recursive: true });
  const tree = await fence.measure('run');
  write('.state/project/state.db', 'x');

  expect(await changes(fence, tree)).toEqual([]);
});

test('a store that cannot be written ends with a statement and leaves no half of a measure', async () => {
  const { root, stateDir } = place({ 'a.txt': 'a' });
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(join(stateDir, 'fence'), 'a file where a folder belongs');

  const failed = fenceOf(root, stateDir).measure('run');

  await expect(failed).rejects.toMatchObject({
    code: 'fence_failed',
    message: expect.stringMatching(/^the workspace cannot be measured: E/),
  });
});

test.skipIf(process.getuid?.() === 0)('a file that cannot be read is named when it comes', async () => {
  const { fence, root, write } = place({ 'a.txt': 'a' });
  const tree = await fence.measure('run');

  write('closed.txt', 'x');
  chmodSync(join(root, 'closed.txt'), 0);

  expect(await changes(fence, tree)).toEqual(['unreadable closed.txt']);
});

test('contents that were kept come back as they were, with their permissions', async () => {
  const { fence, root } = place({ 'run.sh': '#!/bin/sh\n' });
  chmodSync(join(root, 'run.sh'), 0o755);
  const tree = await fence.measure('run');
  writeFileSync(join(root, 'run.sh'), 'gone');
  chmodSync(join(root, 'run.sh'), 0o600);

  await fence.restore('run', tree, ['run.sh']);

  expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('#!/bin/sh\n');
  expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o755);
  expect(await changes(fence, tree)).toEqual([]);
});

test('a measure is that of its own folder: a worktree with the same state is another', async () => {
  const { root, stateDir } = place({ 'a.txt': 'a' });
  const fence = fenceOf(root, stateDir);
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  const other = place({ 'a.txt': 'a' });

  const compared = await fenceOf(other.root, stateDir).compare('run', tree);

  expect(compared).toMatchObject({ ok: false, reason: expect.stringContaining('the phase was entered in') });
});

test.each(['2', '4'])('the index of git in version %s is read without git', (version) => {
  const { root, write } = place({ 'a.txt': 'a', 'deep/er/b.txt': 'b', 'deep/er/bb.txt': 'b' });
  write('long/'.concat('x/'.repeat(120).concat('y')), 'x');
  git(root, 'init -q');
  git(root, `-c index.version=${version} add -A`);
  git(root, `update-index --index-version ${version}`);

  const found = pathsInIndex(readFileSync(join(root, '.git/index')));

  expect(found).toEqual(git(root, 'ls-files').trim().split('\n'));
});

test.each([
  ['[core]\n\thooksPath = x', true],
  ['[alias]\n\tst = !sh -c true', true],
  ['[filter "x"]\n\tclean = sh', true],
  ['[include]\n\tpath = ../x', true],
  ['[remote "origin"]\n\turl = ext::sh -c true', true],
  ['[a\n', true],
  ['[remote "origin"]\n\turl = https://example.org/x\n\tfetch = +refs/*:refs/*', false],
  ['[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main', false],
  ['[user]\n\tname = ada # me', false],
  ['[rerere]\n\tenabled = true\n[merge]\n\tconflictStyle = zdiff3\n\tff = only', false],
  ['[diff]\n\talgorithm = histogram\n[commit]\n\tverbose = true\n[init]\n\tdefaultBranch = main', false],
  ['[diff]\n\texternal = sh', true],
  ['[diff "x"]\n\tcommand = sh', true],
  ['[merge "x"]\n\tdriver = sh', true],
  ['[merge]\n\ttool = x', true],
  ['[commit]\n\tgpgSign = true', true],
  ['# note \\\n[core] fsmonitor = x', true],
  ['; note \\\n[core] sshCommand = x', true],
  ['[color]\n\tdiff = auto # \\\n[core] fsmonitor = x', true],
  ['[color]\n# note \\\n[alias]\n\tst = !x', true],
  ['[user]\n\tname = a\\\\\n[core] fsmonitor = x', true],
  ['[gc]\n\trecentObjectsHook = x', true],
  ['[pull]\n\ttwohead = x', true],
  ['[log]\n\tshowSignature = true', true],
  ['[remote "origin"]\n\turl = "foo:":x', true],
  ['[remote "origin"]\n\turl = foo://x', true],
  ['[remote "origin"]\n\turl', true],
  ['[branch "main"]\n\tremote = foo::x', true],
  ['[remote "origin"]\n\turl = git@example.org:x.git\n\tpushurl = ssh://example.org/x', false],
  ['[gc]\n\tauto = 0\n[color]\n\tui = auto\n[pull]\n\trebase = true', false],
])('a git config with %j has weight: %j', (text, expected) => {
  expect(weightySettings(Buffer.from(text)) !== weightySettings(Buffer.from(''))).toBe(expected);
});

test('names that are not UTF-8 hide nothing, neither files nor folders nor what changes in them', async () => {
  const { fence, root } = place({ 'a.txt': 'a' });
  const named = (...bytes: number[]) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes)]);
  const tree = await fence.measure('run');
  mkdirSync(named(0xff));
  writeFileSync(named(0xff, 0x2f, 0x78), 'in a folder without a name');

  expect(await changes(fence, tree)).toEqual(['unreadable \uFFFD']);

  const withIt = await fence.measure('run');
  expect(await changes(fence, withIt)).toEqual([]);
  writeFileSync(named(0xff, 0x2f, 0x78), 'another text');
  expect(await changes(fence, withIt)).toEqual(['unreadable \uFFFD']);

  const again = await fence.measure('run');
  writeFileSync(named(0xfe), 'a second name that looks like the first');
  expect(await changes(fence, again)).toEqual(['unreadable \uFFFD']);
});

test('a file of many terabytes is not read: its dates are compared, and nobody waits for it', async () => {
  const { fence, root, write } = place({ 'a.txt': 'a' });
  const tree = await fence.measure('run');
  write('huge', '');
  truncateSync(join(root, 'huge'), 8 * 1024 ** 4);

  expect(await changes(fence, tree)).toEqual(['unreadable huge']);

  const withIt = await fence.measure('run');
  expect(await changes(fence, withIt)).toEqual([]);
  truncateSync(join(root, 'huge'), 9 * 1024 ** 4);
  expect(await changes(fence, withIt)).toEqual(['unreadable huge']);
});

test('large files are read piece by piece, and a change in one is seen', async () => {
  const { fence, root, write } = place({ large: '' });
  truncateSync(join(root, 'large'), 17 * 1024 ** 2);
  const tree = await fence.measure('run');
  expect(await changes(fence, tree)).toEqual([]);

  write('large', 'x');
  truncateSync(join(root, 'large'), 17 * 1024 ** 2);

  expect(await changes(fence, tree)).toEqual(['changed large']);
});

test('what is written to a file through the memory of a process that had it open for that is seen', async () => {
  const { fence, root } = place({ 'a.txt': 'x'.repeat(4096) });
  const mapper = spawn('python3', ['-c', MAPPER, join(root, 'a.txt')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said = () => once(mapper.stdout, 'data', { signal: AbortSignal.timeout(20_000) });
  try {
    await said();
    // Until its date is one that a measure trusts.
    const isOld = () => Date.now() - statSync(join(root, 'a.txt')).ctimeMs > 100;
    await vi.waitUntil(isOld, { interval: 10 });
    const tree = await fence.measure('run');
    mapper.stdin.write('\n');
    await said();

    expect(await changes(fence, tree)).toEqual(['changed a.txt']);
  } finally {
    mapper.kill('SIGKILL');
  }
});

test.each(['/dev/shm', '/var/tmp'].filter((folder) => existsSync(folder)))(
  'what is written through the memory of a process that opened the file after a measure is seen, in %s',
  async (folder) => {
    const { fence, root } = place({ 'a.txt': 'x'.repeat(4096) }, folder);
    const isOld = () => Date.now() - statSync(join(root, 'a.txt')).ctimeMs > 100;
    await vi.waitUntil(isOld, { interval: 10 });
    const tree = await fence.measure('run');
    // A second look, so that nothing is left that was too new for the first one.
    expect(await changes(fence, tree)).toEqual([]);
    const mapper = spawn('python3', ['-c', LATE_MAPPER, join(root, 'a.txt')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await once(mapper.stdout, 'data', { signal: AbortSignal.timeout(20_000) });

      expect(await changes(fence, tree)).toEqual(['changed a.txt']);
    } finally {
      mapper.kill('SIGKILL');
      rmSync(dirname(root), { recursive: true });
    }
  },
);

/** Reads a page before it writes to it: a file system in memory then gives the file no other date. */
const LATE_MAPPER = `
import mmap, sys
file = open(sys.argv[1], 'r+b')
memory = mmap.mmap(file.fileno(), 4096)
memory[0]
memory[0:4] = b'evil'
print('written', flush=True)
sys.stdin.readline()
`;

/** Writes to a page, and to the same page again when it is told to: only the first gives the file another date. */
const MAPPER = `
import mmap, sys
file = open(sys.argv[1], 'r+b')
memory = mmap.mmap(file.fileno(), 4096)
memory[0] = ord('x')
print('mapped', flush=True)
sys.stdin.readline()
memory[0:4] = b'evil'
print('written', flush=True)
sys.stdin.readline()
`;

interface Place {
  readonly fence: Fence;
  readonly root: string;
  readonly stateDir: string;
  write(path: string, text: string): void;
}

function place(files: Readonly<Record<string, string>>, within = tmpdir()): Place {
  const base = realpathSync(mkdtempSync(join(within, 'fence-')));
  const root = join(base, 'project');
  const stateDir = join(base, 'state');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { fence: fenceOf(root, stateDir), root, stateDir, write };
}

function fenceOf(root: string, stateDir: string): Fence {
  const folder = join(stateDir, 'fence');
  return createFence({ root, stateDir, folder, env: {}, guardsOtherwise: async () => () => false });
}

async function changes(fence: Fence, tree: string): Promise<readonly string[]> {
  const compared = await fence.compare('run', tree);
  if (!compared.ok) throw new Error(compared.reason);
  return compared.changes.map(({ path, how }) => `${how} ${path}`);
}

function git(folder: string, line: string): string {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', line.split(' '), { cwd: folder, env, encoding: 'utf8' });
}
