import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { NotRegular, readRegular, readRegularIfAny } from './readRegular.ts';
import { streamRegular } from './streamRegular.ts';

/** In a process of its own: one that waits at a pipe cannot be told to stop. */
test.each([
  {
    place: 'of the repository and of files that every command reads',
    pipes: ['.git', '.gitignore', 'phasegate.config.yaml', 'package.json', '../home/.gitconfig'],
  },
  {
    place: 'in the repository and in the home folder',
    pipes: [
      ...['.git/index', '.git/commondir', '.git/info/exclude', '.git/config', '.git/hooks/pre-commit'],
      ...['../home/.claude/hooks/a.sh', '../home/.claude.json', '../home/.config/git/ignore'],
    ],
  },
])('pipes in the place $place hold nobody up', ({ pipes }) => {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-pipes-'));
  const [root, home, stateDir] = [join(base, 'work'), join(base, 'home'), join(base, 'state')];
  for (const folder of [home, stateDir]) mkdirSync(folder);
  execFileSync('git', ['init', '-q', root]);
  for (const path of pipes) {
    rmSync(join(root, path), { recursive: true, force: true });
    mkdirSync(dirname(join(root, path)), { recursive: true });
    execFileSync('mkfifo', [join(root, path)]);
  }

  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', EVERYTHING], {
    env: { ...process.env, PLACES: JSON.stringify({ root, home, stateDir }) },
    encoding: 'utf8',
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });

  expect({ stdout, signal }).toEqual({
    stdout: 'worktree\nmasking\nprograms\nidentity\nmeasure\nbackup\n',
    signal: null,
  });
});

const EVERYTHING = `
  import { claimedMain } from '${source('../config.ts')}';
  import { hashFile } from '${source('../database/fingerprint.ts')}';
  import { maskingFor } from '${source('../localMasking.ts')}';
  import { namedFiles } from '${source('../namedFiles.ts')}';
  import { identityIn } from '${source('../sandbox/gitIdentity.ts')}';
  import { createFence } from '${source('../workspace/fence/fence.ts')}';
  const { root, home, stateDir } = JSON.parse(process.env.PLACES);
  const guardsOtherwise = async () => () => false;
  const fence = createFence({ root, stateDir, folder: stateDir, env: { HOME: home }, guardsOtherwise });
  claimedMain(root);
  console.log('worktree');
  await maskingFor(root, { rows: '' }).catch(() => {});
  console.log('masking');
  namedFiles(root, { command: ['npm', 'start'] });
  console.log('programs');
  identityIn(home);
  console.log('identity');
  await fence.measure('run');
  console.log('measure');
  await hashFile(root + '/.gitignore').catch(() => {});
  console.log('backup');`;

test('only a file is read, and only up to a size', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-regular-'));
  const place = (name: string) => join(folder, name);
  writeFileSync(place('file'), 'four');
  writeFileSync(place('sparse'), '');
  truncateSync(place('sparse'), 2 ** 40);
  symlinkSync('file', place('link'));
  symlinkSync('/dev/zero', place('device'));

  expect(String(readRegular(place('file'), { most: 4, links: 'refuse' }))).toBe('four');
  expect(String(readRegular(place('link'), { most: 4, links: 'follow' }))).toBe('four');
  expect(() => readRegular(place('link'), { most: 4, links: 'refuse' })).toThrow(/ELOOP/);
  for (const name of ['sparse', 'device', ''])
    expect(() => readRegular(place(name), { most: 4, links: 'follow' })).toThrow(NotRegular);
  expect(() => readRegular(place('file'), { most: 3, links: 'follow' })).toThrow(NotRegular);
  // The system gives no size for it.
  expect(() => readRegular('/proc/self/status', { most: 10, links: 'follow' })).toThrow(NotRegular);
  expect(String(readRegular('/proc/self/status', { most: 1e6, links: 'follow' }))).toContain('Name:');
  expect(readRegularIfAny(place('gone'), { most: 4, links: 'follow' })).toBeNull();
  await expect(streamRegular(place('device')).next()).rejects.toThrow(NotRegular);
});

function source(path: string): string {
  return new URL(path, import.meta.url).href;
}
