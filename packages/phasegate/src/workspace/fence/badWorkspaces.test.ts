import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import { createFence } from './fence.ts';

// Workspaces that cannot be measured as a whole: it is said what holds, and nothing passes silently.

const FENCE = join(import.meta.dirname, 'fence.ts');

/** A program that measures a workspace, does something, and compares; it prints what came of it. */
function measuring(base: string, between = ''): string {
  return `
    import { createFence } from ${JSON.stringify(FENCE)};
    import { writeFileSync } from 'node:fs';
    const [root, stateDir] = ${JSON.stringify([join(base, 'project'), join(base, 'state')])};
    const fence = createFence({ root, stateDir, folder: stateDir + '/fence', env: {}, guardsOtherwise: async () => () => false });
    const say = (value) => console.log(JSON.stringify(value));
    try {
      const tree = await fence.measure('run');
      await fence.keep('run', [tree]);
      ${between}
      say(await fence.compare('run', tree));
    } catch (error) { say({ code: error.code, message: error.message, hint: error.hint }); }`;
}

function run(words: readonly string[], program: string) {
  const [first = '', ...rest] = [...words, process.execPath, '--input-type=module', '-e', program];
  return spawnSync(first, rest, { encoding: 'utf8', cwd: '/', env: { PATH: '/usr/bin:/bin' } });
}

const OTHER = ['setpriv', '--reuid', '12345', '--regid', '12345', '--clear-groups'];
/** Only root can become somebody who may not read everything, and who must be able to read these sources. */
const OTHERS = (() => {
  if (process.getuid?.() !== 0) return false;
  chmodSync(realpathSync(tmpdir()), 0o711);
  return run(OTHER, `await import(${JSON.stringify(FENCE)})`).status === 0;
})();
const MOUNTS = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

test.runIf(OTHERS)(
  'what may not be read is told: a file and a folder that come, and nothing of what was there',
  () => {
    const base = place({ 'a.txt': 'a', 'closed/b.txt': 'b', 'shut.txt': 's' });
    for (const name of ['closed', 'shut.txt']) chmodSync(join(base, 'project', name), 0);
    execFileSync('chown', ['-R', '12345:12345', base]);
    execFileSync('chown', ['0:0', join(base, 'project/closed'), join(base, 'project/shut.txt')]);

    const { stdout } = run(
      OTHER,
      measuring(
        base,
        `writeFileSync(root + '/new.txt', 'n', { mode: 0 }); writeFileSync(root + '/a.txt', 'other');`,
      ),
    );

    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      changes: [
        { path: 'a.txt', how: 'changed' },
        { path: 'new.txt', how: 'unreadable' },
      ],
    });
  },
);

test.runIf(MOUNTS)('a disk that is full ends with a statement, and no measure is taken for one', () => {
  const base = place({ 'a.txt': 'a', 'large.bin': 'x'.repeat(2_000_000) });
  const program = join(base, 'program.mjs');
  writeFileSync(program, measuring(base));
  const state = join(base, 'state');
  mkdirSync(state);
  const line = `mount -t tmpfs -o size=256k tmpfs ${state} && exec ${process.execPath} ${program}`;

  const { stdout } = spawnSync('unshare', ['-m', 'sh', '-c', line], { encoding: 'utf8' });

  expect(JSON.parse(stdout)).toEqual({
    code: 'fence_failed',
    message: 'the workspace cannot be measured: ENOSPC',
    hint: 'make room on the disk of the state directory and try again',
  });
});

test('files that change while they are measured stop nothing, and how they are in the end is found', async () => {
  const base = place({ 'src/a.txt': 'a', 'src/b.txt': 'b', 'still.txt': 's' });
  const root = join(base, 'project');
  const fence = fenceAt(base);
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  const churn =
    'i=0; while :; do i=$((i+1)); echo $i > src/a.txt; mkdir -p src/d; echo $i > src/d/x; mv src/d src/e 2>/dev/null; rm -rf src/e src/d; ln -sfn $i src/l; echo; done';
  const child = spawn('sh', ['-c', churn], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  child.stdout.resume();
  try {
    for (let look = 0; look < 60; look += 1) {
      const compared = await fence.compare('run', tree);
      expect(compared.ok && compared.changes.every(({ path }) => path.startsWith('src/'))).toBe(true);
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(join(root, 'src'), { recursive: true });
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/a.txt'), 'the end');

  const compared = await fence.compare('run', tree);

  expect(compared.ok && compared.changes.map(({ path, how }) => `${how} ${path}`)).toEqual([
    'changed src/a.txt',
    'removed src/b.txt',
  ]);
});

test.runIf(FULL)('two hundred thousand ignored files cost nothing and hide nothing beside them', async () => {
  const base = place({ '.gitignore': 'data/\n', 'a.txt': 'a' });
  const root = join(base, 'project');
  const many = 'for d in $(seq 200); do mkdir -p data/$d; (cd data/$d; seq 1000 | xargs touch); done';
  execFileSync('sh', ['-c', many], { cwd: root });
  const fence = fenceAt(base);
  const tree = await fence.measure('run');
  await fence.keep('run', [tree]);
  writeFileSync(join(root, 'data/1/more'), 'm');
  writeFileSync(join(root, 'b.txt'), 'b');

  const compared = await fence.compare('run', tree);

  expect(compared).toMatchObject({ ok: true, changes: [{ path: 'b.txt', how: 'added' }] });
});

function place(files: Readonly<Record<string, string>>): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'bad-')));
  chmodSync(base, 0o755);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(base, 'project', path, '..'), { recursive: true });
    writeFileSync(join(base, 'project', path), text);
  }
  return base;
}

function fenceAt(base: string) {
  const stateDir = join(base, 'state');
  const guardsOtherwise = async () => () => false;
  return createFence({
    root: join(base, 'project'),
    stateDir,
    folder: join(stateDir, 'fence'),
    env: {},
    guardsOtherwise,
  });
}
