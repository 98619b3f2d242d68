import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardOf } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';
import { attachClient } from './attachClient.ts';

const OURS = { command: 'phasegate', args: ['mcp'] };

test('`init` names the tools in `.mcp.json`, once, and no agent may write that file', async () => {
  const shell = makeShell(TESTED_PROJECT);

  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    created: expect.arrayContaining(['.mcp.json']),
    changed: [],
  });
  const written = read(shell.root);
  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    created: [],
    changed: [],
    kept: expect.arrayContaining(['.mcp.json']),
  });

  expect(JSON.parse(written)).toEqual({ mcpServers: { phasegate: OURS } });
  expect(read(shell.root)).toBe(written);
  expect(guardOf('.mcp.json')).toBe('own');
});

test('what else is in the file stays, as it was indented, and a server of our name is the user’s own', async () => {
  const theirs = {
    $schema: 'x',
    mcpServers: { tickets: { command: 'tickets', env: { A: '1' } } },
    more: [1],
  };
  const shell = makeShell({ ...TESTED_PROJECT, '.mcp.json': JSON.stringify(theirs, null, '\t') });
  const own = makeShell({
    ...TESTED_PROJECT,
    '.mcp.json': '{"mcpServers":{"phasegate":{"command":"mine"}}}',
  });

  const { stdout } = await shell.call(['init', '--yes']);
  await own.call(['init', '--yes']);

  expect(stdout).toContain('changed  .mcp.json: added the server `phasegate`');
  const mcpServers = { ...theirs.mcpServers, phasegate: OURS };
  expect(read(shell.root)).toBe(`${JSON.stringify({ ...theirs, mcpServers }, null, '\t')}\n`);
  expect(read(own.root)).toBe('{"mcpServers":{"phasegate":{"command":"mine"}}}');
  expect(readdirSync(shell.root).filter((name) => name.startsWith('.mcp.json'))).toEqual(['.mcp.json']);
});

test.each(['{ // a comment\n}', '[]', '{"mcpServers": []}', ''])(
  'a file that cannot be added to is left alone, and what to write is said: %j',
  async (text) => {
    const shell = makeShell({ ...TESTED_PROJECT, '.mcp.json': text });

    const { code, stdout } = await shell.call(['init', '--yes']);

    expect(code).toBe(0);
    expect(stdout).toContain(
      'write `"phasegate": {"command":"phasegate","args":["mcp"]}` under its `mcpServers`',
    );
    expect(read(shell.root)).toBe(text);
  },
);

test('a link is not followed, and where the command is in the project it is started from there', async () => {
  const linked = makeShell({ ...TESTED_PROJECT, 'other.json': '{}' });
  symlinkSync('other.json', join(linked.root, '.mcp.json'));
  const inside = makeShell(TESTED_PROJECT);
  mkdirSync(join(inside.root, 'node_modules/phasegate'), { recursive: true });

  await linked.call(['init', '--yes']);
  await inside.call(['init', '--yes']);

  expect(readFileSync(join(linked.root, 'other.json'), 'utf8')).toBe('{}');
  expect(JSON.parse(read(inside.root)).mcpServers.phasegate).toEqual({
    command: 'npx',
    args: ['phasegate', 'mcp'],
  });
});

test('what was written is taken back with everything else of an `init` that fails', async () => {
  const [empty, shell] = [makeShell(TESTED_PROJECT), makeShell(TESTED_PROJECT)];
  writeFileSync(join(shell.root, '.mcp.json'), '{"mcpServers":{}}');

  for (const { root } of [empty, shell]) await (await attachClient(root)).undo();

  expect(existsSync(join(empty.root, '.mcp.json'))).toBe(false);
  expect(read(shell.root)).toBe('{"mcpServers":{}}');
});

function read(root: string): string {
  return readFileSync(join(root, '.mcp.json'), 'utf8');
}
