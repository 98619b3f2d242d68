import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGuardedReader } from './guardedTree.ts';

test('whatever is planted right after a reading is in the next one, however often it was read before', async () => {
  const root = folder();
  mkdirSync(join(root, 'sub/deep'), { recursive: true });
  const planted = join(root, 'sub/deep/.mcp.json');
  const { read } = createGuardedReader(root);

  for (let round = 0; round < 200; round += 1) {
    expect((await read([])).tree.has('sub/deep/.mcp.json'), `${round}`).toBe(false);
    writeFileSync(planted, '{}');
    expect((await read([])).tree.has('sub/deep/.mcp.json'), `${round}`).toBe(true);
    rmSync(planted);
  }
});

test('a file with other content of the same size and its old times is another', async () => {
  const root = folder();
  const file = join(root, '.mcp.json');
  writeFileSync(file, 'a');
  utimesSync(file, 1, 1);
  const { read } = createGuardedReader(root);
  const digest = async () => (await read([])).tree.get('.mcp.json')?.digest;
  const first = await digest();

  for (let round = 0; round < 50; round += 1) {
    writeFileSync(file, 'b');
    utimesSync(file, 1, 1);
    expect(await digest()).not.toBe(first);
    writeFileSync(file, 'a');
    utimesSync(file, 1, 1);
    expect(await digest()).toBe(first);
  }
});

test('a folder that becomes a link is one, and what it leads to is not read', async () => {
  const root = folder();
  mkdirSync(join(root, 'sub'));
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'sub/.mcp.json'), '{}');
  const { read } = createGuardedReader(root);
  expect([...(await read([])).tree.keys()]).toEqual(['sub/.mcp.json']);

  rmSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(root, 'other/.mcp.json'), 'other');
  symlinkSync('other', join(root, 'sub'));

  expect([...(await read(['sub/.mcp.json'])).tree.keys()]).toEqual(['other/.mcp.json']);
});

test('where there are too many folders, those left out are named and known files are still looked at', async () => {
  const root = folder();
  for (const name of ['a', 'b', 'c']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'c/.mcp.json'), '{}');
  const { read } = createGuardedReader(root, 2);

  const { beyond } = await read([]);
  const known = await read(['c/.mcp.json', 'b/.mcp.json']);

  expect(beyond).toHaveLength(2);
  expect([...known.tree.keys()]).toEqual(['c/.mcp.json']);
});

test('files that were added fill neither the memory nor the room of those that were there [adv.Q2]', async () => {
  const root = folder();
  mkdirSync(join(root, 'workflows/z'), { recursive: true });
  mkdirSync(join(root, 'workflows/a'));
  writeFileSync(join(root, 'workflows/z/own.workflow.yaml'), 'own');
  const { read } = createGuardedReader(root);
  await read([]);
  for (let place = 0; place < 20; place += 1) {
    const file = join(root, 'workflows/a', `${place}`);
    writeFileSync(file, '');
    truncateSync(file, 10 * 1024 * 1024);
  }

  const { tree } = await read(['workflows/z/own.workflow.yaml']);

  const kept = [...tree.values()].reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  expect(kept).toBeLessThan(150 * 1024 * 1024);
  expect(tree.size).toBe(21);
  expect(String(tree.get('workflows/z/own.workflow.yaml')?.content)).toBe('own');
});

function folder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-tree-')));
}
