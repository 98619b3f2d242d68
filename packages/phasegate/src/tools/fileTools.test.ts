import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { editFile } from './editFile.ts';
import { outputOf, use, workspaceWith } from './fixtures/workspace.ts';
import { listFiles } from './listFiles.ts';
import { readFiles } from './readFiles.ts';
import { writeFiles } from './writeFiles.ts';

describe('read_files', () => {
  test('gives a file whole, or some of its lines', async () => {
    const workspace = workspaceWith({ 'a.txt': 'one\ntwo\nthree\n' });

    expect(outputOf(await use(readFiles, workspace, { path: './a.txt' }))).toEqual({
      path: 'a.txt',
      content: 'one\ntwo\nthree\n',
      encoding: 'utf8',
      size: 14,
      lines: 3,
      truncated: false,
    });
    expect(outputOf(await use(readFiles, workspace, { path: 'a.txt', offset: 2, limit: 1 }))).toMatchObject({
      content: 'two\n',
      truncated: true,
    });
  });

  test.each(['', '\n', 'a', 'a\n', '\n\n', 'a\nb', 'a\r\n\nü\n', '\n'.repeat(5)])(
    'reads any lines of %j',
    async (text) => {
      const workspace = workspaceWith({ 'a.txt': text });
      const lines = text.split(/(?<=\n)/u);
      for (let offset = 1; offset < 8; offset += 1) {
        for (const limit of [1, 2, 9]) {
          const read = await use(readFiles, workspace, { path: 'a.txt', offset, limit });
          expect(outputOf(read)).toMatchObject({
            content: lines.slice(offset - 1, offset - 1 + limit).join(''),
            lines: lines.length,
            truncated: offset - 1 + limit < lines.length,
          });
        }
      }
    },
  );

  test('cuts at the limit, between characters, and says so', async () => {
    const workspace = workspaceWith({ 'a.txt': 'äöü', 'b.txt': 'more' });

    const both = await use(readFiles, workspace, { paths: ['a.txt', 'b.txt'], max_bytes: 5 });

    expect(outputOf(both)).toMatchObject({
      files: [
        { content: 'äö', truncated: true },
        { content: 'm', truncated: true },
      ],
      truncated: true,
    });
  });

  test('gives what is not text as base64 alone', async () => {
    const workspace = workspaceWith({ 'a.bin': Buffer.from([0, 255, 1]) });

    expect(await use(readFiles, workspace, { path: 'a.bin' })).toMatchObject({
      ok: false,
      output: { error: 'not_text' },
    });
    expect(outputOf(await use(readFiles, workspace, { path: 'a.bin', encoding: 'base64' }))).toMatchObject({
      content: Buffer.from([0, 255, 1]).toString('base64'),
      truncated: false,
    });
  });

  test('of several, one that cannot be read does not hide the others', async () => {
    const workspace = workspaceWith({ 'a.txt': 'x' });

    const result = await use(readFiles, workspace, { paths: ['gone', 'a.txt'] });

    expect(result).toMatchObject({
      ok: false,
      output: {
        files: [
          { path: 'gone', error: 'path_not_found' },
          { path: 'a.txt', content: 'x' },
        ],
      },
    });
  });
});

describe('write_files', () => {
  test('writes, adds and removes', async () => {
    const workspace = workspaceWith({ 'old.txt': 'old' });

    await use(writeFiles, workspace, { path: 'src/a.ts', content: 'a' });
    await use(writeFiles, workspace, { path: 'src/a.ts', content: 'b', append: true });
    const result = await use(writeFiles, workspace, {
      files: [
        { path: 'b.ts', content: 'b' },
        { path: 'old.txt', content: null },
      ],
    });

    expect(result).toEqual({
      ok: true,
      output: {
        files: [
          { path: 'b.ts', bytes: 1, created: true },
          { path: 'old.txt', deleted: true },
        ],
      },
    });
    expect(readFileSync(join(workspace.root, 'src/a.ts'), 'utf8')).toBe('ab');
    expect(existsSync(join(workspace.root, 'old.txt'))).toBe(false);
  });

  test('writes none of several when one of them may not be written', async () => {
    const workspace = workspaceWith();
    const files = [
      { path: 'docs/a', content: '' },
      { path: 'src/b', content: '' },
    ];

    const result = await use(
      writeFiles,
      workspace,
      { files },
      { mayWrite: (path) => path.startsWith('docs/') },
    );

    expect(result).toMatchObject({ ok: false, output: { error: 'outside_write_scope' } });
    expect(existsSync(join(workspace.root, 'docs'))).toBe(false);
  });

  test('is judged for every path it would write', () => {
    const files = [
      { path: 'a', content: '' },
      { path: 'b', content: '' },
    ];

    expect(writeFiles.judged?.({ files }, '/')).toEqual({ paths: ['a', 'b'] });
    expect(writeFiles.judged?.({ path: 'c', files }, '/')).toEqual({ path: 'c', paths: ['a', 'b'] });
    // What is not a path is not left out: the engine refuses a call with such a path.
    expect(writeFiles.judged?.({ files: [{ content: '' }, 'x'] }, '/')).toEqual({ paths: [null, null] });
  });
});

describe('edit_file', () => {
  test('replaces the one occurrence, or all when asked', async () => {
    const workspace = workspaceWith({ a: 'x y x' });

    expect(await use(editFile, workspace, { path: 'a', old: 'y', new: '$&' })).toMatchObject({ ok: true });
    expect(readFileSync(join(workspace.root, 'a'), 'utf8')).toBe('x $& x');
    expect(await use(editFile, workspace, { path: 'a', old: 'x', new: 'z' })).toMatchObject({
      ok: false,
      output: { error: 'not_unique' },
    });
    expect(
      await use(editFile, workspace, { path: 'a', old: 'x', new: 'z', replace_all: true }),
    ).toMatchObject({
      output: { replacements: 2 },
    });
    expect(readFileSync(join(workspace.root, 'a'), 'utf8')).toBe('z $& z');
    expect(await use(editFile, workspace, { path: 'a', old: 'nothing', new: '' })).toMatchObject({
      output: { error: 'no_match' },
    });
  });

  test('leaves the bytes around it alone', async () => {
    const workspace = workspaceWith({ a: Buffer.from([0xff, 0x61, 0xfe]) });

    await use(editFile, workspace, { path: 'a', old: 'a', new: 'b' });

    expect(readFileSync(join(workspace.root, 'a'))).toEqual(Buffer.from([0xff, 0x62, 0xfe]));
  });
});

describe('list_files', () => {
  test('lists by name, names links and does not follow them', async () => {
    const workspace = workspaceWith({ 'src/b.ts': '', 'src/a.ts': '', 'node_modules/x/y.js': '' });

    expect(outputOf(await use(listFiles, workspace, {}))).toEqual({
      entries: [
        { path: 'link', kind: 'link' },
        { path: 'node_modules', kind: 'folder' },
        { path: 'out', kind: 'link' },
        { path: 'src', kind: 'folder' },
        { path: 'src/a.ts', kind: 'file' },
        { path: 'src/b.ts', kind: 'file' },
      ],
      truncated: false,
    });
    expect(outputOf(await use(listFiles, workspace, { glob: '**/*.ts', limit: 1 }))).toEqual({
      entries: [{ path: 'src/a.ts', kind: 'file' }],
      truncated: true,
    });
    expect(outputOf(await use(listFiles, workspace, { path: 'node_modules', depth: 1 }))).toMatchObject({
      entries: [{ path: 'node_modules/x', kind: 'folder' }],
    });
  });

  test('shows only what the phase lets it show', async () => {
    const workspace = workspaceWith({ 'src/a.ts': '', 'private/b.ts': '' });

    const result = await use(listFiles, workspace, {}, { mayRead: (path) => path.startsWith('src/') });

    expect(outputOf(result).entries).toEqual([
      { path: 'src', kind: 'folder' },
      { path: 'src/a.ts', kind: 'file' },
    ]);
  });

  test('is judged by everything below its folder', () => {
    expect(listFiles.judged?.({}, '/')).toEqual({ path: '**' });
    expect(listFiles.judged?.({ path: './src/' }, '/')).toEqual({ path: 'src/**' });
    expect(listFiles.judged?.({ path: '../src' }, '/')).toEqual({ path: '../src' });
  });
});

test.each([readFiles, writeFiles, editFile, listFiles])(
  '$name refuses what its schema does not know',
  async (tool) => {
    const workspace = workspaceWith({ a: 'x' });
    const inputs = [
      {},
      { path: 'a', file_path: 'b' },
      { path: 7 },
      { path: ['a'] },
      { path: 'a', paths: ['b'] },
    ];

    for (const input of tool === listFiles ? inputs.slice(1) : inputs) {
      expect(await use(tool, workspace, { content: 'x', old: 'x', new: 'y', ...input })).toMatchObject({
        ok: false,
        output: { error: 'input_invalid' },
      });
    }
    expect(readdirSync(workspace.root).sort()).toEqual(['a', 'link', 'out']);
  },
);
