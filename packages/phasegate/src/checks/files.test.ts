import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { FileFinder } from '../workspace/findFiles.ts';
import { findBeneath, openBeneath } from '../workspace/openBeneath.ts';
import { files } from './files.ts';
import { checkInput, temporaryFolder } from './fixtures/checkInput.ts';

describe('files that must exist', () => {
  test('pass when every glob matches a file or folder', async () => {
    const workspace = await workspaceWith({ 'src/a.ts': 'x', 'docs/guide/b.md': '' });

    expect(
      await ask(workspace, { exist: ['src/a.ts', '**/*.md', 'docs', './src/*.ts', '{src,lib}/a.ts'] }),
    ).toMatchObject({
      passed: true,
    });
  });

  test('fail with every glob that matches nothing', async () => {
    const workspace = await workspaceWith({ 'src/a.ts': 'x' });

    expect(await ask(workspace, { exist: ['src/*.js', 'src/a.ts', 'lib', 'lib/**'] })).toEqual({
      passed: false,
      reason: 'nothing matches `src/*.js`; nothing matches `lib`; nothing matches `lib/**`',
    });
  });
});

describe('files that must be absent', () => {
  test('pass when nothing matches and fail with what does', async () => {
    const workspace = await workspaceWith({ 'a.tmp': '', 'deep/er/b.tmp': '' });

    expect(await ask(workspace, { absent: ['*.log', 'missing/**'] })).toMatchObject({ passed: true });
    const answer = await ask(workspace, { absent: ['**/*.tmp'] });
    expect(answer.passed).toBe(false);
    expect(answer.reason).toContain('`a.tmp`');
    expect(answer.reason).toContain('`deep/er/b.tmp`');
  });

  test('fail on a link too, also one that leads nowhere', async () => {
    const workspace = await workspaceWith({});
    await symlink('/nowhere/at/all', join(workspace, 'secret.env'));

    expect(await ask(workspace, { absent: ['secret.env'] })).toMatchObject({ passed: false });
    expect(await ask(workspace, { absent: ['*.env'] })).toMatchObject({ passed: false });
  });
});

describe('files that must not be empty', () => {
  test('pass when there are some and all have content, never when there are none [adv.I8]', async () => {
    const workspace = await workspaceWith({ 'a.md': 'x', 'b.md': 'y', 'c/empty.md': '' });

    expect(await ask(workspace, { non_empty: ['*.md'] })).toMatchObject({ passed: true });
    expect(await ask(workspace, { non_empty: ['**/*.md'] })).toEqual({
      passed: false,
      reason: '`c/empty.md` is empty',
    });
    expect(await ask(workspace, { non_empty: ['*.txt'] })).toEqual({
      passed: false,
      reason: 'no file matches `*.txt`',
    });
    expect(await ask(workspace, { non_empty: ['c'] })).toEqual({
      passed: false,
      reason: 'no file matches `c`',
    });
  });
});

describe('files that must contain a text', () => {
  test('pass when it stands there exactly', async () => {
    const workspace = await workspaceWith({ 'a.md': 'one\ntwo (2)\nGröße' });
    const has = (text: string) => ask(workspace, { contain: [{ path: 'a.md', text }] });

    expect(await has('two (2)\nGröße')).toMatchObject({ passed: true });
    expect(await has('two .2.')).toMatchObject({ passed: false });
    expect(await ask(workspace, { contain: [{ path: './a.md', text: 'one' }] })).toMatchObject({
      passed: true,
    });
  });

  test('fail where there is no such file, or it is a folder', async () => {
    const workspace = await workspaceWith({ 'src/a.ts': 'x' });

    for (const path of ['b.md', 'src', 'src/a.ts/x', 'src//a.ts', 'src/./a.ts']) {
      expect(await ask(workspace, { contain: [{ path, text: 'x' }] }), path).toMatchObject({ passed: false });
    }
  });

  test('do not wait for a pipe and do not read a huge file', async () => {
    const workspace = await workspaceWith({ 'big.log': Buffer.alloc(10 * 1024 * 1024 + 1) });
    expect(spawnSync('mkfifo', [join(workspace, 'pipe')]).status).toBe(0);

    expect((await ask(workspace, { contain: [{ path: 'pipe', text: 'x' }] })).reason).toBe(
      '`pipe` is not a file',
    );
    expect((await ask(workspace, { contain: [{ path: 'big.log', text: 'x' }] })).reason).toContain(
      'is larger than',
    );
  });
});

describe('the workspace is not left', () => {
  test('by no path with dots or a root [fail.40]', async () => {
    const outer = await workspaceWith({ 'secret.txt': 'secret', 'inner/a': '' });
    const workspace = join(outer, 'inner');

    for (const path of ['../secret.txt', 'x/../../secret.txt', join(outer, 'secret.txt'), '..']) {
      expect(await ask(workspace, { contain: [{ path, text: 'secret' }] }), path).toMatchObject({
        passed: false,
      });
    }
    for (const glob of ['../*.txt', '../secret.txt', '/etc/*', 'a/../../secret.txt']) {
      await expect(ask(workspace, { exist: [glob] }), glob).rejects.toThrow('the glob');
      await expect(ask(workspace, { absent: [glob] }), glob).rejects.toThrow('the glob');
    }
  });

  test('by no link, whether file or folder, whether it leads out or stays inside [fail.40]', async () => {
    const outside = await workspaceWith({ 'secret.txt': 'secret' });
    const workspace = await workspaceWith({ 'real/a.txt': 'secret' });
    await symlink(outside, join(workspace, 'out'));
    await symlink(join(outside, 'secret.txt'), join(workspace, 'file'));
    await symlink('real', join(workspace, 'in'));
    const throughLinks = ['out/secret.txt', 'file', 'in/a.txt'];

    for (const path of throughLinks) {
      const answer = await ask(workspace, { contain: [{ path, text: 'secret' }] });
      expect(answer.reason, path).toContain('which is not followed');
      expect(await ask(workspace, { exist: [path] }), path).toMatchObject({ passed: false });
      expect(await ask(workspace, { absent: [path] }), path).toMatchObject({ passed: false });
      expect(await ask(workspace, { non_empty: [path] }), path).toMatchObject({ passed: false });
    }
    expect(await ask(workspace, { exist: ['out/*'] })).toMatchObject({ passed: false });
    expect(await ask(workspace, { exist: ['**/secret.txt'] })).toMatchObject({ passed: false });
    expect((await ask(workspace, { absent: ['**/secret.txt'] })).passed).toBe(true);
  });

  test('when the workspace itself is given by a link, it is that folder', async () => {
    const folder = await workspaceWith({ a: 'x' });
    const other = await temporaryFolder();
    await symlink(folder, join(other, 'workspace'));

    expect(await ask(join(other, 'workspace'), { contain: [{ path: 'a', text: 'x' }] })).toMatchObject({
      passed: true,
    });
  });

  test('by a folder that became a link since it was last looked at', async () => {
    const outside = await workspaceWith({ 'a.txt': 'secret' });
    const workspace = await workspaceWith({ 'sub/a.txt': 'fine' });
    const before = await findBeneath(workspace, 'sub/a.txt');
    await rename(join(workspace, 'sub'), join(workspace, 'old'));
    await symlink(outside, join(workspace, 'sub'));

    expect(before.kind).toBe('file');
    expect(await openBeneath(workspace, 'sub/a.txt')).toEqual({
      found: { kind: 'link', at: 'sub' },
      file: null,
    });
  });
});

describe('a walk', () => {
  test('passes over .git and node_modules unless the glob names them', async () => {
    const workspace = await workspaceWith({
      'node_modules/p/x.md': '',
      '.git/x.md': '',
      'sub/node_modules/q/x.md': '',
      '.github/y.md': '',
    });

    expect(await ask(workspace, { absent: ['**/x.md'] })).toMatchObject({ passed: true });
    expect(await ask(workspace, { exist: ['**/y.md'] })).toMatchObject({ passed: true });
    expect(await ask(workspace, { exist: ['node_modules/**/x.md'] })).toMatchObject({ passed: true });
    expect(await ask(workspace, { exist: ['sub/node_modules/q/x.md'] })).toMatchObject({ passed: true });
    expect(await ask(workspace, { absent: ['**/node_modules/**'] })).toMatchObject({ passed: false });
    expect(await ask(workspace, { absent: ['.git/*'] })).toMatchObject({ passed: false });
  });

  test('of too many entries has no answer [C19]', async () => {
    const workspace = await workspaceWith({ 'a/1': '', 'a/2': '', 'b/3': '' });
    const finder = new FileFinder(workspace, new AbortController().signal, 4);

    expect(await finder.find('a/*')).toHaveLength(2);
    await expect(finder.find('**/3')).rejects.toThrow('more than 4 entries');
  });

  test('ends when the check is aborted', async () => {
    const workspace = await workspaceWith({ a: '' });
    const input = checkInput({ exist: ['*'] }, { workspace, signal: AbortSignal.abort(new Error('enough')) });

    await expect(files.run(input)).rejects.toThrow('enough');
  });

  test.skipIf(process.getuid?.() === 0)('into a folder that cannot be read has no answer [C19]', async () => {
    const workspace = await workspaceWith({ 'closed/a': '' });
    await chmod(join(workspace, 'closed'), 0);

    await expect(ask(workspace, { absent: ['**/a'] })).rejects.toThrow('EACCES');
    await chmod(join(workspace, 'closed'), 0o700);
  });
});

test('a look that asks nothing, asks nonsense or has no workspace throws [C19]', async () => {
  const workspace = await temporaryFolder();
  const wrong: JsonObject[] = [
    {},
    { exist: [] },
    { exist: 'a' },
    { exist: [1] },
    { contain: [{}] },
    { contain: 'a' },
  ];

  for (const parameters of wrong)
    await expect(ask(workspace, parameters), JSON.stringify(parameters)).rejects.toThrow();
  await expect(ask(join(workspace, 'gone'), { absent: ['a'] })).rejects.toThrow('ENOENT');
});

async function workspaceWith(contents: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const workspace = await temporaryFolder();
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), content);
  }
  return workspace;
}

function ask(workspace: string, parameters: JsonObject) {
  return files.run(checkInput(parameters, { workspace }));
}
