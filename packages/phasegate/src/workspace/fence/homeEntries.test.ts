import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFence } from './fence.ts';
import { createHomeReader } from './homeEntries.ts';

const SETTINGS = '.claude/settings.json';
const TOML = '.codex/config.toml';
const SERVER = '[mcp_servers.phasegate]\ncommand = "phasegate"\n';
const LATIN = (sign: string) => Buffer.from(`[core]\n\thooksPath = /tmp/${sign}\n`, 'latin1');
const HOOKS = { hooks: { PreToolUse: [{ command: 'phasegate hook' }] } };

describe('a file of the home folder counts by what it makes others run', () => {
  test.each([
    ['a hook is deleted', SETTINGS, HOOKS, {}],
    ['a hook is replaced', SETTINGS, HOOKS, { hooks: { PreToolUse: [{ command: 'true' }] } }],
    ['all hooks are switched off', SETTINGS, HOOKS, { ...HOOKS, disableAllHooks: true }],
    ['the environment is set', SETTINGS, HOOKS, { ...HOOKS, env: { OFF: '1' } }],
    ['a permission is given', SETTINGS, HOOKS, { ...HOOKS, permissions: { allow: ['Bash'] } }],
    ['a key that nobody knows comes', SETTINGS, HOOKS, { ...HOOKS, newSwitch: true }],
    ['a value has Claude Code drop the file', SETTINGS, HOOKS, { ...HOOKS, model: 5 }],
    ['a schema has it drop the file', SETTINGS, HOOKS, { ...HOOKS, $schema: 'x' }],
    ['a section has a key nobody knows', '.gemini/settings.json', HOOKS, { ...HOOKS, general: { x: 'sh' } }],
    ['a file is taken in', '.config/opencode/opencode.json', {}, { model: '{file:/tmp/x}' }],
    ['settings come', '.gemini/settings.json', null, HOOKS],
    ['hooks go', '.cursor/hooks.json', { version: 1 }, null],
    ['a server comes', '.claude.json', { numStartups: 1 }, { mcpServers: { x: { command: 'x' } } }],
    ['a server of a project', '.claude.json', {}, { projects: { '/p': { mcpServers: { x: {} } } } }],
    ['a script changes', '.claude/hooks/check.sh', 'exit 2\n', 'exit 0\n'],
    ['a hook of Copilot comes', '.copilot/hooks/a.json', null, '{}'],
    ['a plugin comes', '.config/opencode/plugin/x.js', null, 'x'],
    ['a notifier comes', '.codex/config.toml', 'model = "a"\n', 'model = "a"\nnotify = ["sh"]\n'],
    ['a hook of git is planted', '.gitconfig', '', '[core]\n\thooksPath = /tmp/x\n'],
    ['an alias of git is planted', '.gitconfig', '', '[alias]\n\tst = !sh\n'],
    ['a filter of git is planted', '.config/git/config', '', '[filter "x"]\n\tclean = sh\n'],
    ['a comment hides a setting of git', '.gitconfig', '', '# \\\n[core] fsmonitor = /tmp/x\n'],
    ['bytes that are not text change', '.gitconfig', LATIN('\xff'), LATIN('\xfe')],
    ['a server has `=` in its name', TOML, '[tui]\na = 1\n', '[tui]\na = 1\n[mcp."a=b"]\ncommand = "x"\n'],
    ['a server is put into a string', TOML, `[tui]\n${SERVER}`, `[tui]\na = '''\n${SERVER}[tui]\n'''\n`],
    ['a section only begins like another', TOML, '', '[tui-x]\ncommand = "x"\n'],
    ['another file is included', '.gitconfig', '', '[include]\n\tpath = /tmp/x\n'],
    ['what was JSON is not', SETTINGS, HOOKS, '{'],
  ])('%s', async (_, file, before, after) => {
    const { fence, put } = place();
    put(file, before);
    const tree = await fence.measure('run');

    put(file, after);

    const found = await fence.moved('run', tree);
    expect(found.map(({ path, noticed }) => [path, noticed])).toEqual([[`~/${file}`, undefined]]);
  });

  test.each([
    ['the model', SETTINGS, HOOKS, { ...HOOKS, model: 'other' }],
    ['the order of keys', SETTINGS, { a: 1, ...HOOKS }, { ...HOOKS, a: 1 }],
    [
      'what Gemini CLI writes anew when it is started',
      '.gemini/settings.json',
      { ...HOOKS, general: { disableAutoUpdate: true, disableUpdateNag: true } },
      { ...HOOKS, general: { enableAutoUpdate: false, enableAutoUpdateNotification: false } },
    ],
    ['who commits', '.gitconfig', '', '[user]\n\tname = Ada\n'],
    ['which folders are trusted', '.codex/config.toml', '', '[projects."/p"]\ntrust_level = "trusted"\n'],
  ])('%s is on record and refuses nothing', async (_, file, before, after) => {
    const { fence, put } = place();
    put(file, before);
    const tree = await fence.measure('run');

    put(file, after);

    expect(await fence.moved('run', tree)).toMatchObject([
      { path: `~/${file}`, how: 'rewritten', noticed: true },
    ]);
  });

  test.each([
    ['.codex/config.toml', '[projects."/p"]\ntrust_level = "trusted"\n', 'notify = ["sh"]\n'],
    ['.gemini/settings.json', { ui: { theme: 'dark' } }, { hooks: {} }],
    [
      '.config/opencode/opencode.jsonc',
      { $schema: 'https://opencode.ai/config.json' },
      '{ "plugin": ["x"] } // more\n',
    ],
    ['.gitconfig', '[user]\n\tname = Ada\n', '[core]\n\thooksPath = /tmp/x\n'],
  ])('%s that comes or goes with nothing in it that counts refuses nothing', async (file, nothing, much) => {
    const { fence, put } = place();
    const without = await fence.measure('run');
    put(file, nothing);
    const tree = await fence.measure('run');
    const came = await fence.moved('run', without);
    put(file, null);
    const went = await fence.moved('run', tree);
    put(file, much);

    expect([came, went]).toMatchObject([
      [{ how: 'added', noticed: true }],
      [{ how: 'removed', noticed: true }],
    ]);
    expect((await fence.moved('run', without)).map(({ noticed }) => noticed)).toEqual([undefined]);
  });

  test('what a client keeps for itself is nothing', async () => {
    const { fence, put } = place();
    put('.claude.json', { mcpServers: {}, numStartups: 1 });
    const tree = await fence.measure('run');

    put('.claude.json', { numStartups: 2, history: ['x'], projects: { '/p': { allowedTools: [] } } });

    expect(await fence.moved('run', tree)).toEqual([]);
  });

  test('a client that is started for the first time makes its own file, and that is nothing', async () => {
    const { fence, put } = place();
    const tree = await fence.measure('run');

    put('.claude.json', { firstStartTime: 'now', projects: { '/p': { hasTrustDialogAccepted: true } } });

    expect(await fence.moved('run', tree)).toEqual([]);
    put('.claude.json', { mcpServers: { x: { command: 'x' } } });
    expect(await fence.moved('run', tree)).toMatchObject([{ path: '~/.claude.json', how: 'added' }]);
  });

  test('written and put back shows, with the same bytes and the same date', async () => {
    const { fence, put, home } = place();
    put(SETTINGS, HOOKS);
    utimesSync(join(home, SETTINGS), 1000, 1000);
    const tree = await fence.measure('run');

    put(SETTINGS, {});
    put(SETTINGS, HOOKS);
    utimesSync(join(home, SETTINGS), 1000, 1000);

    expect(await fence.moved('run', tree)).toMatchObject([{ how: 'rewritten', noticed: true }]);
  });

  test('a file that is linked to counts by where it leads and by what is there', async () => {
    const { fence, put, home } = place();
    put('dotfiles/one', '[alias]\n\ta = !one\n');
    put('dotfiles/two', '[alias]\n\ta = !one\n');
    symlinkSync('dotfiles/one', join(home, '.gitconfig'));
    const tree = await fence.measure('run');

    put('dotfiles/one', '[alias]\n\ta = !two\n');
    const changed = await fence.moved('run', tree);
    put('dotfiles/one', '[alias]\n\ta = !one\n');
    rmSync(join(home, '.gitconfig'));
    symlinkSync('dotfiles/two', join(home, '.gitconfig'));
    const led = await fence.moved('run', tree);

    expect([changed, led].map(([one]) => one?.how)).toEqual(['changed', 'changed']);
  });
});

test('what is in these files is kept nowhere, and nothing is written there', async () => {
  const { fence, put } = place();
  put('.claude.json', { env: { KEY: 'sk-secret' } });
  const tree = await fence.measure('run');
  put('.claude.json', { env: {} });

  expect(await fence.diff('run', tree, ['~/.claude.json'])).not.toContain('sk-secret');
  for (const act of [
    () => fence.restore('run', tree, ['~/.claude.json']),
    () => fence.quarantine('run', ['~/.claude.json']),
  ])
    await expect(act()).rejects.toMatchObject({ code: 'fence_failed', message: /in the home folder/ });
  const accepted = await fence.accept('run', { tree, seen: await fence.measure('run', tree) }, [
    '~/.claude.json',
  ]);
  expect(await fence.moved('run', accepted)).toEqual([]);
});

test('a folder of the workspace that is called `~` is not taken for the home folder', async () => {
  const { fence, put, root } = place();
  put('.gitconfig', '[alias]\n\ta = !one\n');
  const tree = await fence.measure('run');

  mkdirSync(join(root, '~'));
  writeFileSync(join(root, '~/.gitconfig'), '[alias]\n\ta = !one\n');

  expect(await fence.moved('run', tree)).toMatchObject([{ path: '~/.gitconfig', how: 'unreadable' }]);
});

test('no home folder, none that is there, or one that cannot be read is said and nothing else', async () => {
  const { home, put } = place();
  put(SETTINGS, HOOKS);
  mkdirSync(join(home, '.gitconfig'));
  chmodSync(join(home, '.claude'), 0o000);

  expect((await createHomeReader(undefined)()).notes).toEqual([
    expect.stringContaining('no home folder is known'),
  ]);
  expect((await createHomeReader('/nowhere/at/all')()).notes).toEqual([
    expect.stringContaining('is not there'),
  ]);
  // Root reads everything.
  const isRoot = process.getuid?.() === 0;
  expect((await createHomeReader(home)()).notes.length).toBe(isRoot ? 0 : 2);
  chmodSync(join(home, '.claude'), 0o700);
});

test('of more than anybody has there only the dates are compared, which is said, and others get their turn', async () => {
  const { fence, home, put } = place();
  for (let count = 0; count < 40; count += 1) {
    const file = `.claude/hooks/${String(count).padStart(2, '0')}.sh`;
    put(file, '');
    // One command makes a file of any size that has not a byte on disk.
    truncateSync(join(home, file), 1024 * 1024);
  }
  let turns = 0;
  const others = () => {
    turns += 1;
    waiting = setImmediate(others);
  };
  let waiting = setImmediate(others);
  const { entries, notes } = await createHomeReader(home)();
  clearImmediate(waiting);
  const types = [...entries.values()].map(({ type }) => type);
  const tree = await fence.measure('run');
  truncateSync(join(home, '.claude/hooks/39.sh'), 1024);

  expect(types.filter((type) => type === 'closed')).toHaveLength(32);
  expect(notes).toEqual([
    expect.stringMatching(/^`~\/.claude\/hooks\/08.sh` and 31 more files .* only dates/),
  ]);
  expect(turns).toBeGreaterThan(5);
  expect((await fence.moved('run', tree)).map(({ path, noticed }) => [path, noticed])).toEqual([
    ['~/.claude/hooks/39.sh', undefined],
  ]);
});

function place() {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-home-'));
  const [home, root] = [join(base, 'home'), join(base, 'work')];
  mkdirSync(home);
  mkdirSync(root);
  const stateDir = join(base, 'state');
  const fence = createFence({
    root,
    stateDir,
    folder: join(stateDir, 'fence'),
    env: { HOME: home },
    guardsOtherwise: async () => () => false,
  });
  const put = (path: string, content: unknown) => {
    const file = join(home, path);
    if (content === null) return rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    const isPlain = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(file, isPlain ? content : JSON.stringify(content));
  };
  return { fence, home, root, put };
}
