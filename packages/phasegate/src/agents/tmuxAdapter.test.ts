import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { launchOf, temporaryFolder } from './fixtures/launchOf.ts';
import { tmuxAdapter } from './tmuxAdapter.ts';

const installed = spawnSync('tmux', ['-V']).status === 0;
const withTmux = test.skipIf(!installed);
const LAUNCHER = [process.execPath, fileURLToPath(new URL('./fixtures/launch.ts', import.meta.url))];

withTmux('an agent in tmux gets its credentials, and how it ended is known [S2.10]', async () => {
  const { folder, adapter } = bed();
  const script =
    "require('fs').writeFileSync('seen', require('fs').readFileSync(3,'utf8') + process.env.PHASEGATE_KEY + process.stdout.isTTY); process.exit(5)";

  const started = await adapter.start(launchOf(folder, script));

  expect(started.where).toBe('tmux session phasegate-ada-1');
  expect(await started.exited).toEqual({ kind: 'exited', code: 5 });
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe(
    '{"token":"secret-of-the-descriptor"}pgk_of-the-environmenttrue',
  );
});

withTmux('no secret is in the command lines or the environment that tmux shows [adv.H8]', async () => {
  const { folder, adapter, tmux } = bed();
  const started = await adapter.start(
    launchOf(folder, "require('fs').writeFileSync('up', ''); setInterval(() => {}, 1000)"),
  );
  while (!existsSync(join(folder, 'up'))) await new Promise((resolve) => setTimeout(resolve, 10));

  const shown = [
    tmux('show-environment', '-g'),
    tmux('show-environment', '-t', 'phasegate-ada-1'),
    tmux('list-panes', '-a', '-F', '#{pane_start_command} #{pane_current_command}'),
    readFileSync(`/proc/${tmux('display-message', '-p', '#{pid}').trim()}/cmdline`, 'utf8'),
    readFileSync(`/proc/${tmux('list-panes', '-a', '-F', '#{pane_pid}').trim()}/cmdline`, 'utf8'),
  ].join('\n');
  await started.stop();

  expect(shown).toContain('exec');
  expect(shown).not.toContain('pgk_');
  expect(shown).not.toContain('secret');
  expect(existsSync(join(folder, 'launch.json'))).toBe(false);
  expect(await started.exited).toMatchObject({ kind: 'killed' });
});

withTmux('a launcher that is killed is known to have ended', async () => {
  const { folder, adapter, tmux } = bed();
  const started = await adapter.start(
    launchOf(folder, "require('fs').writeFileSync('up', ''); setInterval(() => {}, 1000)"),
  );
  while (!existsSync(join(folder, 'up'))) await new Promise((resolve) => setTimeout(resolve, 10));
  const [pane] = tmux('list-panes', '-a', '-F', '#{pane_pid}').split('\n');

  process.kill(-Number(pane), 'SIGKILL');

  expect(await started.exited).toMatchObject({ kind: 'killed' });
});

withTmux(
  'a folder whose name has a command of tmux in it is a folder, and the command is not run',
  async () => {
    const { folder, adapter } = bed();
    // A command of tmux's runs where its server was started, so the place it writes to is named in full.
    const marker = join(folder, 'pwned');
    const cwd = join(folder, `a#(touch ${marker})#{pid}b`);
    mkdirSync(cwd, { recursive: true });

    const started = await adapter.start({
      ...launchOf(folder, "require('fs').writeFileSync('seen', process.cwd())"),
      cwd,
    });
    await started.exited;

    expect(readFileSync(join(cwd, 'seen'), 'utf8')).toBe(cwd);
    expect(existsSync(marker)).toBe(false);
  },
);

test('where tmux is not installed the other adapter is named', async () => {
  const folder = temporaryFolder();
  const adapter = tmuxAdapter({ launcher: LAUNCHER, environment: { PATH: folder } });

  await expect(adapter.start(launchOf(folder, ''))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('tmux is not installed'),
    hint: 'use `--adapter subprocess`',
  });
});

/** A tmux server of the test's own, ended with it. */
function bed() {
  const folder = temporaryFolder();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TMUX_TMPDIR: folder,
    SHELL: '/bin/sh',
    TERM: 'xterm',
  };
  const tmux = (...words: string[]) => execFileSync('tmux', words, { env, encoding: 'utf8' });
  onTestFinished(() => void spawnSync('tmux', ['kill-server'], { env }));
  return { folder, tmux, adapter: tmuxAdapter({ launcher: LAUNCHER, environment: env }) };
}
