import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { localTools } from './localTools.ts';
import { use, workspaceWith } from './tools/fixtures/workspace.ts';

const SECRET = 'the secret of tokens';

/** A workspace with second names of the project's keys and of those that nodes share, and of a file of its own. */
function linked() {
  const { root, outside } = workspaceWith({ 'src/plain.md': 'plain words\n' });
  const [stateDir, shared] = [join(outside, 'state'), join(outside, 'shared')];
  for (const folder of [stateDir, shared]) mkdirSync(folder);
  const files = { own: join(stateDir, 'keys.json'), nodes: join(shared, 'keys.json') };
  for (const [name, file] of Object.entries(files)) {
    writeFileSync(file, JSON.stringify({ secret: SECRET }));
    linkSync(file, join(root, `src/${name}.md`));
  }
  linkSync(join(root, 'src/plain.md'), join(root, 'src/second.md'));
  const tools = localTools({ root, stateDir, env: { PHASEGATE_KEYS_FILE: files.nodes } });
  const call = (name: string, input: JsonObject) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return use(tool, { root }, input);
  };
  return { root, files, call };
}

test.each(['own', 'nodes'] as const)(
  'file tools neither show nor copy keys (%s) that have a second name in the workspace [adv.C2]',
  async (name) => {
    const { root, files, call } = linked();
    const path = `src/${name}.md`;

    const told = [
      await call('read_files', { path }),
      await call('grep', { pattern: 'secret' }),
      await call('grep', { pattern: 'secret', path }),
      await call('edit_file', { path, old: 'secret', new: 'sesame', replace_all: true }),
      await call('edit_file', { path, old: 'nothing that stands there', new: 'x' }),
      await call('write_files', { path, content: 'more', append: true }),
    ];

    expect(JSON.stringify(told)).not.toContain(SECRET);
    expect(JSON.stringify(told[4])).not.toContain('no_match');
    for (const file of [join(root, path), files[name]])
      expect(readFileSync(file, 'utf8')).toBe(JSON.stringify({ secret: SECRET }));
  },
);

test('file tools read and write a file of the workspace that has two names there', async () => {
  const { call } = linked();

  expect(JSON.stringify(await call('read_files', { path: 'src/second.md' }))).toContain('plain words');
  expect(JSON.stringify(await call('grep', { pattern: 'plain' }))).toContain('src/second.md');
  expect(await call('edit_file', { path: 'src/second.md', old: 'plain', new: 'other' })).toMatchObject({
    ok: true,
  });
});
