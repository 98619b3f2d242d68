import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

test('a server of our name that is another is told, by `init` and by `doctor`, and kept', async () => {
  const text = '{"mcpServers":{"phasegate":{"command":"mi\\nne"}}}';
  const shell = makeShell({ ...TESTED_PROJECT, '.mcp.json': text });
  const ours = makeShell(TESTED_PROJECT);
  const said = 'the server `phasegate` in `.mcp.json` is not the one that `init` writes';

  expect((await shell.call(['init', '--yes'])).stdout).toContain(said);
  expect((await shell.call(['doctor'])).stdout).toContain(said);
  await ours.call(['init', '--yes']);

  expect(read(shell.root)).toBe(text);
  expect((await ours.call(['init', '--yes'])).stdout).not.toContain(said);
  expect((await ours.call(['doctor'])).stdout).not.toContain(said);
});

test('the file keeps its mode', async () => {
  const shell = makeShell({ ...TESTED_PROJECT, '.mcp.json': '{}' });
  const file = join(shell.root, '.mcp.json');
  chmodSync(file, 0o600);

  await shell.call(['init', '--yes']);

  expect(read(shell.root)).toContain('phasegate');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a file that changed since it was measured is not written to, and shown before it is accepted', async () => {
  const shell = makeShell({
    ...TESTED_PROJECT,
    '.mcp.json': '{"mcpServers":{"phasegate":{"command":"mine"}}}',
  });
  await shell.callAs('open sesame', ['init', '--yes']);
  const planted = '{"mcpServers":{"tickets":{"command":"planted"}}}\n';
  shell.write('.mcp.json', planted);

  const { stdout } = await shell.callAs('open sesame', ['init', '--yes']);

  expect(stdout).toContain('`phasegate trust --guarded`');
  expect(read(shell.root)).toBe(planted);
  const trusted = await shell.callAs('open sesame', ['trust', '--guarded', '--yes']);
  expect(trusted.stderr).toContain(`| + ${planted}`);
  // From then on there is a copy to compare with.
  shell.write('.mcp.json', planted.replace('planted', 'other'));
  const again = await shell.callAs('open sesame', ['trust', '--guarded', '--yes']);
  expect(again.stderr).toContain(`| - ${planted}`);
});

test('after `init` nothing that it wrote is left to be accepted', async () => {
  const shell = makeShell({ ...TESTED_PROJECT, 'phasegate.config.json': '{}\n', '.mcp.json': '{}\n' });
  await shell.callAs('open sesame', ['init', '--template', 'minimal', '--yes']);
  rmSync(join(shell.root, '.mcp.json'));

  await shell.callAs('open sesame', ['init', '--template', 'bugfix', '--yes']);

  const left = await shell.callAs('open sesame', ['trust', '--guarded', '--yes', '--json']);
  expect(left.json()).toMatchObject({ trusted: [] });
});

function read(root: string): string {
  return readFileSync(join(root, '.mcp.json'), 'utf8');
}
