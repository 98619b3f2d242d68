import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteBeneath, MAX_WRITTEN_BYTES, type Writing, writeBeneath } from './writeBeneath.ts';

describe('a file is written', () => {
  test('anew, in folders that are made for it', async () => {
    const { root } = folders();

    expect(await write(root, { path: './src//deep/a.ts', content: 'one' })).toEqual({
      path: 'src/deep/a.ts',
      bytes: 3,
      created: true,
    });
    expect(readFileSync(join(root, 'src/deep/a.ts'), 'utf8')).toBe('one');
    expect(readdirSync(join(root, 'src/deep'))).toEqual(['a.ts']);
  });

  test('over another, which keeps its permissions but no special bits', async () => {
    const { root } = folders();
    writeFileSync(join(root, 'run.sh'), 'old');
    chmodSync(join(root, 'run.sh'), 0o4750);

    expect(await write(root, { path: 'run.sh', content: 'new' })).toMatchObject({ created: false });
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o750);
  });

  test('at the end of what is there, or as the beginning', async () => {
    const { root } = folders();

    await write(root, { path: 'log', content: 'a\n', how: 'append' });
    await write(root, { path: 'log', content: 'b\n', how: 'append' });

    expect(readFileSync(join(root, 'log'), 'utf8')).toBe('a\nb\n');
  });

  test('only where there is none, when it is to be created', async () => {
    const { root } = folders();

    await write(root, { path: 'a', content: '1', how: 'create' });

    await expect(write(root, { path: 'a', content: '2', how: 'create' })).rejects.toMatchObject({
      code: 'path_exists',
    });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('1');
    expect(readdirSync(root)).toEqual(['a']);
  });

  test('under its own name alone: a hard link from outside keeps the old content [adv.C2]', async () => {
    const { root, outside } = folders();
    linkSync(join(outside, 'secret'), join(root, 'shared'));

    await write(root, { path: 'shared', content: 'changed' });

    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readFileSync(join(root, 'shared'), 'utf8')).toBe('changed');
  });
});

describe('a path is refused, and nothing is written anywhere', () => {
  test.each([
    ['../escape', 'path_outside'],
    ['a/../../escape', 'path_outside'],
    ['..', 'path_outside'],
    ['.', 'path_outside'],
    ['', 'path_outside'],
    ['/etc/phasegate-test', 'path_outside'],
    ['a\0b', 'path_outside'],
    ['a\\..\\b', 'path_outside'],
    ['C:/a', 'path_outside'],
    ['link', 'path_is_link'],
    ['dangling', 'path_is_link'],
    ['out/new', 'path_is_link'],
    ['out/deep/new', 'path_is_link'],
    ['inner/out/new', 'path_is_link'],
    ['inner', 'path_not_a_file'],
    ['pipe', 'path_not_a_file'],
    ['plain/new', 'path_not_a_folder'],
    [`${'x'.repeat(256)}/a`, 'path_outside'],
  ])('%j: %s [adv.C1 adv.C2 adv.C3 fail.40]', async (path, code) => {
    const { root, outside } = folders();
    mkdirSync(join(root, 'inner'));
    symlinkSync(join(outside, 'secret'), join(root, 'link'));
    symlinkSync(join(outside, 'not-there'), join(root, 'dangling'));
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(outside, join(root, 'inner/out'));
    writeFileSync(join(root, 'plain'), '');
    spawnSync('mkfifo', [join(root, 'pipe')]);

    for (const how of ['replace', 'append', 'create'] as const) {
      await expect(write(root, { path, content: 'x', how })).rejects.toMatchObject({ code });
    }
    await expect(deleteBeneath({ root, path, mayWrite: () => true })).rejects.toMatchObject({ code });

    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(existsSync(join(root, '../escape'))).toBe(false);
  });

  test('what the phase may not write, asked of the normal path', async () => {
    const { root } = folders();
    const asked: string[] = [];
    const mayWrite = (path: string) => {
      asked.push(path);
      return false;
    };

    await expect(write(root, { path: './a/./b//c', content: 'x', mayWrite })).rejects.toMatchObject({
      code: 'outside_write_scope',
    });
    expect([...new Set(asked)]).toEqual(['a/b/c']);
    expect(readdirSync(root)).toEqual([]);
  });

  test('more than the limit, also by adding to it', async () => {
    const { root } = folders();
    const content = Buffer.alloc(MAX_WRITTEN_BYTES);

    await expect(
      write(root, { path: 'a', content: Buffer.concat([content, content]) }),
    ).rejects.toMatchObject({
      code: 'too_large',
    });
    await write(root, { path: 'a', content });
    await expect(write(root, { path: 'a', content: 'x', how: 'append' })).rejects.toMatchObject({
      code: 'too_large',
    });
  });
});

describe('a folder that is swapped for a link while it is used', () => {
  test('leads nowhere: the write fails and the other place is untouched [adv.C2 fail.40]', async () => {
    const { root, outside } = folders();
    mkdirSync(join(root, 'docs'));
    const swap = () => {
      if (existsSync(join(root, 'moved'))) return true;
      // The second question comes when the folder is held open, right before anything is written.
      if (questions++ === 0) return true;
      renameSync(join(root, 'docs'), join(root, 'moved'));
      symlinkSync(outside, join(root, 'docs'));
      return true;
    };
    let questions = 0;

    await expect(write(root, { path: 'docs/secret', content: 'mine', mayWrite: swap })).rejects.toMatchObject(
      {
        code: 'path_changed',
      },
    );

    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readdirSync(join(root, 'moved'))).toEqual([]);
  });

  test('loses no file to a removal either', async () => {
    const { root, outside } = folders();
    mkdirSync(join(root, 'docs'));
    writeFileSync(join(root, 'docs/secret'), 'ours');
    let questions = 0;
    const swap = () => {
      if (questions++ === 1) {
        renameSync(join(root, 'docs'), join(root, 'moved'));
        symlinkSync(outside, join(root, 'docs'));
      }
      return true;
    };

    await expect(deleteBeneath({ root, path: 'docs/secret', mayWrite: swap })).rejects.toMatchObject({
      code: 'path_changed',
    });
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readFileSync(join(root, 'moved/secret'), 'utf8')).toBe('ours');
  });
});

test('names that differ in case alone are what the file system makes of them, and the link is still not followed [adv.C4]', async () => {
  const { root, outside } = folders();
  symlinkSync(outside, join(root, 'Out'));

  await expect(write(root, { path: 'Out/secret', content: 'x' })).rejects.toMatchObject({
    code: 'path_is_link',
  });
  // On a disk that takes `out` for `Out` this is the link again; on others it is a folder of its own.
  await write(root, { path: 'out/secret', content: 'x' }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'path_is_link' });
  });
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
});

test('a file is removed', async () => {
  const { root } = folders();
  writeFileSync(join(root, 'a'), '');

  expect(await deleteBeneath({ root, path: './a', mayWrite: () => true })).toBe('a');
  expect(readdirSync(root)).toEqual([]);
  await expect(deleteBeneath({ root, path: 'a', mayWrite: () => true })).rejects.toMatchObject({
    code: 'path_not_found',
  });
});

function folders(): { readonly root: string; readonly outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-write-')));
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')];
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret');
  return { root, outside };
}

function write(
  root: string,
  writing: { readonly path: string; readonly content: string | Buffer } & Partial<
    Pick<Writing, 'how' | 'mayWrite'>
  >,
) {
  const { content, how = 'replace', mayWrite = () => true } = writing;
  return writeBeneath({ root, path: writing.path, content: Buffer.from(content), how, mayWrite });
}
