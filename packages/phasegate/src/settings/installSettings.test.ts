import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { guardOf } from '@phasegate/core/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { HOOK_SWITCHES } from '../files/hookSwitches.ts';
import { CLIENTS, clientSettings } from './clientSettings.ts';
import { examineSettings } from './examineSettings.ts';
import {
  applySettings,
  CLIENT_NAMES,
  hookProgramOf,
  type Installing,
  planRemoval,
  planSettings,
  removeSettings,
} from './installSettings.ts';
import { readRecord } from './settingsRecord.ts';

test.each(CLIENTS.map(({ name }) => name))(
  'the settings of %s are these, and no agent may write them [adv.G6]',
  async (name) => {
    const client = clientSettings(name);

    for (const file of client?.files([]) ?? []) {
      const text = file.add(null, { hook: `/state/phasegate-hooks/${name}`, mcp: MCP });
      const golden = `./golden/${name}-${file.path.split('/').at(-1)}.golden`;
      await expect(text).toMatchFileSnapshot(golden);
      expect(guardOf(file.path), file.path).toBe('own');
      expect(file.add(text, { hook: `/state/phasegate-hooks/${name}`, mcp: MCP })).toBe(text);
      expect(file.remove(text)).toBeNull();
    }
  },
);

test('every command is an absolute path, and no shell word could be anything else [adv.F7]', () => {
  const hook = "/state/it's here/phasegate-hooks/x";
  const commands = CLIENTS.filter(({ name }) => name !== 'opencode').flatMap(({ files }) =>
    files([]).flatMap((file) => [
      ...file.add(null, { hook, mcp: MCP }).matchAll(/"(?:command|bash)": "([^"]+)"/g),
    ]),
  );

  for (const [, command] of commands.filter(([, word]) => word !== MCP.command))
    expect([hook, `'/state/it'\\\\''s here/phasegate-hooks/x'`]).toContain(command);
});

test('Copilot runs the hooks of Claude Code too, so that with both there is one event for a call', () => {
  expect(clientSettings('copilot')?.files(['claude', 'copilot'])).toEqual([]);
  expect(clientSettings('copilot')?.files(['copilot'])).toHaveLength(1);
});

test('what else is in the settings stays, a second time changes nothing, and taking it back leaves them as they were', () => {
  const json = fc.dictionary(
    fc.constantFrom('hooks', 'mcpServers', 'permissions', 'a', 'version'),
    fc.dictionary(
      fc.constantFrom('PreToolUse', 'preToolUse', 'phasegate', 'other'),
      fc.array(
        fc.record({
          matcher: fc.string(),
          hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })),
        }),
      ),
    ),
  );
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const { hooks = {}, ...others } = value;
      const theirs = JSON.stringify({ ...others, hooks, more: 1 }, null, indent);
      const place = made({ '.claude/settings.json': theirs, '.gemini/settings.json': theirs });
      const before = snapshot(place.root);

      applySettings(place, planSettings(place));
      const after = snapshot(place.root);
      applySettings(place, planSettings(place));
      expect(snapshot(place.root)).toEqual(after);
      const written = JSON.parse(after['.claude/settings.json'] ?? '') as typeof value;
      expect(written).toMatchObject({ ...others, hooks: {} });
      for (const [event, list] of Object.entries(hooks))
        expect(written.hooks?.[event]).toEqual(event === 'PreToolUse' ? [...list, OURS(place)] : list);
      // Somebody adds something of their own: then only what is ours is taken out.
      const file = join(place.root, '.gemini/settings.json');
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), added: true }));
      removeSettings(
        place.root,
        place.stateDir,
        planRemoval(place.root, readRecord(place.stateDir) as never),
      );

      const left = snapshot(place.root);
      expect({ ...left, '.gemini/settings.json': '' }).toEqual({ ...before, '.gemini/settings.json': '' });
      expect(left['.gemini/settings.json']).toContain('"added": true');
      expect(left['.gemini/settings.json']).not.toContain('phasegate-hooks');
    }),
    { numRuns: cases({ quick: 15, full: 300 }) },
  );
});

test.each([
  ['{\n  "a": 1,\n}\n', 'line 3, column 1'],
  ['{\n  // mine\n  "a": 1\n}\n', 'line 2, column 3: a comment, which would be lost'],
  ['[]', 'it is not a JSON object'],
  ['{"hooks":[]}', '`hooks` is not an object'],
  ['{"hooks":{"PreToolUse":{}}}', '`hooks.PreToolUse` is not a list'],
])('a file that cannot be added to is named with its place, and nothing is written: %j', (text, message) => {
  const place = made({ '.claude/settings.json': text });
  const before = snapshot(place.root);

  expect(() => planSettings(place)).toThrow(message);
  expect(snapshot(place.root)).toEqual(before);
});

test('nothing is written through a link', () => {
  const place = made({});
  mkdirSync(join(place.root, 'elsewhere'));
  symlinkSync('elsewhere', join(place.root, '.claude'));

  expect(() => planSettings(place)).toThrow('`.claude` is a link');
});

test('`doctor` finds hooks that were edited, switched off, ignored or written by another version', () => {
  const place = made({});
  applySettings(place, planSettings(place));
  const examine = (version = '1.0.0') =>
    examineSettings({ root: place.root, stateDir: place.stateDir, home: place.home, version })
      .flatMap(({ problems }) => problems)
      .join('\n');
  const settings = join(place.root, '.claude/settings.json');
  const good = readFileSync(settings, 'utf8');
  const edited = (text: string) => {
    writeFileSync(settings, text);
    return examine();
  };

  expect(examine()).toBe('');
  expect(examine('1.1.0')).toContain('written by version 1.0.0, and this is 1.1.0');
  expect(edited(good.replace('{', '{ "model": "opus",'))).toBe('');
  expect(edited(good.replace(hookProgramOf(place.stateDir, 'claude'), '/bin/true'))).toContain(
    'not as they were written',
  );
  expect(edited(good.replace('{', '{ "disableAllHooks": true,'))).toContain('switches all hooks off');
  expect(edited(good.replace('{', '{ "permissions": 5,'))).toContain('ignores the whole file');
  expect(edited(good.replace('"type": "command"', '"type": "comand"'))).toContain('ignores the whole file');
  expect(edited('{')).toContain('line 1');
  writeFileSync(settings, good);
  mkdirSync(join(place.home, '.claude'));
  writeFileSync(join(place.home, '.claude/settings.json'), '{"disableAllHooks":true}');
  expect(examine()).toContain(join(place.home, '.claude/settings.json'));
  const program = hookProgramOf(place.stateDir, 'claude');
  expect(statSync(program).mode & 0o777).toBe(0o500);
  chmodSync(program, 0o700);
  writeFileSync(program, '#!/bin/sh\n');
  expect(examine()).toContain('is not as it was written');
});

test.each([
  ['codex', '[features]\n"hooks" = false # off\n', '[features]\nhooks = true\n'],
  ['codex', 'features = { web = true, hooks = false }\n', 'model = "hooks"\n'],
  ['gemini', '{"hooksConfig":{"enabled":false}}', '{"hooksConfig":{"enabled":true}}'],
  ['gemini', '// mine\n{"hooksConfig":{"enabled":false}}', '// mine\n{"ui":{}}'],
  ['copilot', '{"disableAllHooks":true}', '{"disableAllHooks":false}'],
])('`doctor` finds the hooks of %s switched off in every file where they can be: %j', (name, off, on) => {
  const found = made({});
  const place = { ...found, clients: CLIENTS.filter((client) => client.name === name) };
  applySettings(place, planSettings(place));
  const examine = () =>
    examineSettings({ root: place.root, stateDir: place.stateDir, home: place.home, version: '1.0.0' })
      .flatMap(({ problems }) => problems)
      .join('\n');
  expect(examine()).toBe('');
  const { project, home } = HOOK_SWITCHES[name] ?? { project: [], home: [] };
  const files = [
    ...project.map((path) => join(place.root, path)),
    ...home.map((path) => join(place.home, path)),
  ];
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : null;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, off);
    expect(examine(), file).toContain('switches all hooks off');
    writeFileSync(file, before ?? on);
    expect(examine(), file).toBe('');
  }
});

test.each([
  ['a pipe', (file: string) => spawnSync('mkfifo', [file])],
  ['a link to what has no end', (file: string) => symlinkSync('/dev/zero', file)],
])('%s in the place of settings is a problem that is named, and holds nobody up [adv.E3]', (_, put) => {
  const place = made({});
  applySettings(place, planSettings(place));
  for (const path of ['.claude/settings.json', '.gemini/settings.json', '.codex/config.toml']) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    put(join(place.home, path));
  }
  put(join(place.root, '.claude/settings.local.json'));
  const problems = examineSettings({ ...place }).flatMap((client) => client.problems);
  expect(problems).toHaveLength(4);
  for (const problem of problems) expect(problem).toMatch(/^`.+\.(?:json|toml)` is not a file$/);
});

const MCP = { command: 'phasegate', args: ['mcp'] };

const OURS = ({ stateDir }: Installing) => ({
  hooks: [
    {
      type: 'command',
      command: hookProgramOf(stateDir, 'claude'),
      args: [],
      timeout: 60,
      onFailure: 'block',
    },
  ],
});

function made(files: Readonly<Record<string, string>>): Installing & { readonly home: string } {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-settings-'));
  const [root, stateDir, home] = [join(base, 'project'), join(base, 'state'), join(base, 'home')];
  for (const folder of [root, stateDir, home]) mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return {
    root,
    stateDir,
    home,
    clients: CLIENTS.filter(({ name }) => name !== 'copilot'),
    mcp: MCP,
    version: '1.0.0',
    socket: join(stateDir, 'run/hooks.sock'),
    env: '/usr/bin/env',
    perl: null,
    curl: '/usr/bin/curl',
    phasegate: ['/bin/false'],
    environment: {},
  };
}

/** Every file of settings that is there. */
function snapshot(root: string): Record<string, string> {
  const paths = CLIENT_NAMES.flatMap(
    (name) =>
      clientSettings(name)
        ?.files([])
        .map(({ path }) => path) ?? [],
  );
  return Object.fromEntries(
    [...paths, '.codex', '.cursor', '.opencode']
      .filter((path) => existsSync(join(root, path)))
      .map((path) => [
        path,
        statSync(join(root, path)).isFile() ? readFileSync(join(root, path), 'utf8') : '',
      ]),
  );
}
