import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LARGEST_CONFIG, loadConfig } from './config.ts';
import { configTemplate } from './templates/config.ts';

const DEFAULTS = {
  anchors: null,
  workflows: [],
  docs: [],
  port: 8000,
  database: null,
  tools: {},
  checks: {},
  clients: [],
  servers: {},
  sandbox: 'off',
  secrets: [],
};

test('without a file everything is at its default', async () => {
  expect(await loadConfig(folder({}))).toEqual({ file: null, ...DEFAULTS });
});

test.each([
  ['(?=a)b', 'cannot be matched in bounded time: it has a lookahead (`(?=`); write it without'],
  ['(a)\\1', 'cannot be matched in bounded time: it has a backreference (`\\1`); write it without'],
  ['a*', 'matches the empty text, so it would mask everything'],
  ['(', 'is not a regular expression'],
])('a pattern of secrets that cannot be used is told with its place: %s', async (pattern, problem) => {
  const root = folder({ 'phasegate.config.yaml': `secrets:\n  - '${pattern}'\n` });

  await expect(loadConfig(root)).rejects.toThrow(problem);
});

test.each([
  ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ['a link to a device', (file: string) => symlinkSync('/dev/zero', file)],
])('%s in its place is refused, and nobody waits for it', async (_, put) => {
  const root = folder({});
  put(join(root, 'phasegate.config.yaml'));

  await expect(loadConfig(root)).rejects.toMatchObject({
    code: 'config_invalid',
    message: '`phasegate.config.yaml` is not a file',
  });
});

test.each([
  ['bytes that are not UTF-8', (file: string) => writeFileSync(file, Buffer.of(0xff, 0xfe)), 'save `'],
  ['a NUL byte', (file: string) => writeFileSync(file, 'port: 1\0'), 'save `'],
  ['a folder', (file: string) => mkdirSync(file), 'put a config of JSON or YAML in its place'],
  ['too much', (file: string) => writeFileSync(file, '#'.repeat(LARGEST_CONFIG + 1)), 'put a config'],
])('%s in its place: the fault names the way out', async (_, put, hint) => {
  const root = folder({});
  put(join(root, 'phasegate.config.yaml'));

  await expect(loadConfig(root)).rejects.toMatchObject({
    code: 'config_invalid',
    hint: expect.stringMatching(new RegExp(`^${hint}.* run \`phasegate doctor\`$`)),
  });
});

test('YAML and JSON say the same', async () => {
  const settings = { workflows: ['flows/*.yaml'], port: 9000, tools: { reading: ['grep'] } };
  const yaml = 'workflows: ["flows/*.yaml"]\nport: 9000\ntools:\n  reading: [grep]\n';

  expect(await loadConfig(folder({ 'phasegate.config.yaml': yaml }))).toEqual({
    ...DEFAULTS,
    ...settings,
    file: 'phasegate.config.yaml',
  });
  expect(await loadConfig(folder({ 'phasegate.config.json': JSON.stringify(settings) }))).toEqual({
    ...DEFAULTS,
    ...settings,
    file: 'phasegate.config.json',
  });
});

test('the config `init` writes is the defaults', async () => {
  expect(await loadConfig(folder({ 'phasegate.config.yaml': configTemplate }))).toEqual({
    file: 'phasegate.config.yaml',
    ...DEFAULTS,
  });
});

test('the config `init` writes is valid with its examples switched on', async () => {
  const examples = configTemplate.replace(/^# (?=workflows:|docs:|port:)/gm, '');

  const config = await loadConfig(folder({ 'phasegate.config.yaml': examples }));

  expect(config).toMatchObject({ workflows: ['tools/**/*.workflow.yaml'], docs: ['docs/**/*.md'] });
});

test('attached servers are programs or URLs', async () => {
  const servers = {
    docs: { command: ['npx', '-y', 'docs-server'], env: { LEVEL: 'info' } },
    'issues.v2': { url: 'https://example.com/mcp', headers_from_env: { Authorization: 'ISSUES_TOKEN' } },
    local: { url: 'http://127.0.0.1:9000/mcp' },
  };

  const config = await loadConfig(folder({ 'phasegate.config.json': JSON.stringify({ servers }) }));

  expect(config.servers).toEqual(servers);
});

describe('what is wrong is refused with its place', () => {
  test.each([
    ['[]', '`servers` must be a map from a name to a server'],
    ['{"a b": {"command": ["x"]}}', '`a b` is not a name for a server'],
    ['{"a/b": {"command": ["x"]}}', '`a/b` is not a name for a server'],
    ['{"a": "npx x"}', '`a` must be a map with `command` or `url`'],
    ['{"a": {}}', '`servers.a` must have either `command` or `url`'],
    ['{"a": {"command": ["x"], "url": "https://x"}}', '`servers.a` must have either `command` or `url`'],
    ['{"a": {"command": "npx x"}}', '`command` must be a list of words'],
    ['{"a": {"command": []}}', '`command` must be a list of words'],
    ['{"a": {"command": ["x"], "enviroment": {}}}', 'unknown key `enviroment`'],
    ['{"a": {"command": ["x"], "env": {"PHASEGATE_KEY": "k"}}}', '`env` cannot set `PHASEGATE_KEY`'],
    ['{"a": {"command": ["x"], "env": {"N": 1}}}', '`env` cannot set `N`'],
    ['{"a": {"url": "ftp://x"}}', '`url` must begin with `https:`'],
    [
      '{"a": {"url": "http://example.com/mcp"}}',
      '`url` must begin with `https:` unless it is on this machine',
    ],
    ['{"a": {"url": "https://me:secret@example.com"}}', '`url` must not hold a credential'],
    ['{"a": {"url": "https://x", "headers": {"A": "b"}}}', 'unknown key `headers`'],
    ['{"a": {"url": "https://x", "headers_from_env": {"A b": "C"}}}', '`A b` must name a variable'],
    ['{"a": {"url": "https://x", "headers_from_env": {"A": "Bearer x"}}}', '`A` must name a variable'],
  ])('servers %s', async (servers, message) => {
    const json = `{"servers": ${servers}}`;

    await expect(loadConfig(folder({ 'phasegate.config.json': json }))).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [{ file: 'phasegate.config.json', line: 1, message: expect.stringContaining(message) }],
    });
  });

  test('all at once, with a suggestion for an unknown key', async () => {
    const yaml = '# settings\nworkflow: [a]\nport: 70000\ntools:\n  reading: [grep, 7]\n';

    await expect(loadConfig(folder({ 'phasegate.config.yaml': yaml }))).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [
        {
          file: 'phasegate.config.yaml',
          line: 2,
          column: 1,
          code: 'unknown_key',
          message: 'unknown key `workflow` (did you mean `workflows`?)',
        },
        { line: 3, column: 1, message: '`port` must be a number from 1 to 65535' },
        { line: 5, column: 19, message: '`tools.reading` must be a list of texts' },
      ],
    });
  });

  test('in JSON too', async () => {
    const json = '{\n  "port": 8000,\n  "prt": 1\n}\n';

    await expect(loadConfig(folder({ 'phasegate.config.json': json }))).rejects.toMatchObject({
      problems: [{ file: 'phasegate.config.json', line: 3, column: 3, code: 'unknown_key' }],
    });
  });

  test.each([
    ['broken YAML', 'phasegate.config.yaml', 'port: [1\n'],
    ['a key twice', 'phasegate.config.yaml', 'port: 1\nport: 2\n'],
    ['a tag that would be ignored', 'phasegate.config.yaml', 'port: !secret 1\n'],
    ['a value that holds itself', 'phasegate.config.yaml', 'checks: &a\n  b: *a\n'],
    ['a list', 'phasegate.config.yaml', '- port\n'],
    ['YAML in a JSON file', 'phasegate.config.json', 'port: 8000\n'],
    ['broken JSON', 'phasegate.config.json', '{"port": }\n'],
    ['a NUL byte', 'phasegate.config.yaml', 'port: 1\u0000\n'],
    ['a glob that leaves the project', 'phasegate.config.yaml', 'workflows: ["../*.yaml"]\n'],
    ['anchors in nothing', 'phasegate.config.yaml', 'anchors: {}\n'],
    ['anchors in the project', 'phasegate.config.yaml', 'anchors: { file: anchors.txt }\n'],
    ['anchors too often', 'phasegate.config.yaml', 'anchors: { git_note: true, every: 1s }\n'],
    ['anchors by code', 'phasegate.config.yaml', 'anchors: { git_note: true, run: x }\n'],
    ['memory for nothing', 'phasegate.config.yaml', 'sandbox: { memory: 1 }\n'],
    ['memory by a word', 'phasegate.config.yaml', 'sandbox: { memory: 4GB }\n'],
    ['a file over the limit', 'phasegate.config.yaml', `port: 1 ${'#'.repeat(1024 * 1024)}\n`],
  ])('%s', async (_, file, text) => {
    await expect(loadConfig(folder({ [file]: text }))).rejects.toMatchObject({ code: 'config_invalid' });
  });

  test('two files', async () => {
    const both = { 'phasegate.config.yaml': '', 'phasegate.config.json': '{}' };

    await expect(loadConfig(folder(both))).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

function folder(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-config-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return root;
}
