import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { ToolImplementation } from '../runtime/ports.ts';
import { bash } from './bash.ts';
import { editFile } from './editFile.ts';
import { use, workspaceWith } from './fixtures/workspace.ts';
import { git } from './git.ts';
import { grep } from './grep.ts';
import { TOOLS } from './index.ts';
import { listFiles } from './listFiles.ts';
import { readFiles } from './readFiles.ts';
import { writeFiles } from './writeFiles.ts';

/** Paths that lead out of the workspace, in every way we know. */
const WAYS_OUT = [
  '../outside/secret.txt',
  '../outside',
  'src/../../outside/secret.txt',
  './../outside',
  '..',
  '/etc/passwd',
  '/',
  '//etc/passwd',
  'src/\0/../../outside',
  'a\0',
  '..\\outside\\secret.txt',
  'C:\\Windows',
  'C:/Windows',
  '\\\\server\\share',
  'link',
  'out',
  'out/secret.txt',
  'out/new/file.txt',
  'src/out/secret.txt',
] as const;

/** Every argument of every tool that is, or holds, a path. */
const ARGUMENTS: readonly (readonly [ToolImplementation, string, (path: string) => JsonObject])[] = [
  [readFiles, 'path', (path) => ({ path })],
  [readFiles, 'path as base64', (path) => ({ path, encoding: 'base64' })],
  [readFiles, 'paths', (path) => ({ paths: ['src/a.ts', path] })],
  [writeFiles, 'path', (path) => ({ path, content: 'written' })],
  [writeFiles, 'path, to add', (path) => ({ path, content: 'written', append: true })],
  [writeFiles, 'path, to remove', (path) => ({ path, content: null })],
  [
    writeFiles,
    'files',
    (path) => ({
      files: [
        { path: 'src/new.ts', content: '' },
        { path, content: 'written' },
      ],
    }),
  ],
  [editFile, 'path', (path) => ({ path, old: 'secret', new: 'written' })],
  [listFiles, 'path', (path) => ({ path })],
  [listFiles, 'glob', (path) => ({ glob: path })],
  [listFiles, 'glob below', (path) => ({ glob: `${path}/**` })],
  [grep, 'path', (path) => ({ path, pattern: 'secret' })],
  [grep, 'glob', (path) => ({ glob: path, pattern: 'secret' })],
  [bash, 'cwd', (path) => ({ command: 'cat secret.txt', cwd: path })],
  [git, 'cwd', (path) => ({ command: 'git status', cwd: path })],
  [git, 'a word', (path) => ({ command: `git add ${quoted(path)}` })],
  [git, 'a word behind `--`', (path) => ({ command: `git log -- ${quoted(path)}` })],
  [git, 'a word behind `=`', (path) => ({ command: `git commit --file=${quoted(path)}` })],
  [git, 'a word as patch', (path) => ({ command: `git apply ${quoted(path)}` })],
  [git, 'a word joined to its option', (path) => ({ command: `git commit -F${quoted(path)}` })],
];

test.each(
  ARGUMENTS.flatMap(([tool, argument, inputFor]) =>
    WAYS_OUT.map((path) => ({ name: tool.name, tool, argument, path, inputFor })),
  ),
)(
  '$name does not leave the workspace by its $argument $path [S2.14 adv.C1 adv.C2 adv.C3 fail.40]',
  async ({ tool, argument, path, inputFor }) => {
    const workspace = workspaceWith({ 'src/a.ts': 'const a = 1;\n' });
    symlinkSync(workspace.outside, join(workspace.root, 'src/out'));
    if (tool === git) spawnSync('git', ['init', '-q', workspace.root]);

    const result = await use(tool, workspace, inputFor(path));

    if (!argument.startsWith('glob') && !isNameOfLink(argument, path)) expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain('the secret');
    expect(JSON.stringify(result)).not.toContain('root:');
    expect(JSON.stringify(result)).not.toContain(workspace.outside);
    expect(readdirSync(workspace.outside)).toEqual(['secret.txt']);
    expect(readFileSync(join(workspace.outside, 'secret.txt'), 'utf8')).toBe('the secret\n');
    expect(existsSync(join(workspace.root, 'src/new.ts')) && leaves(path)).toBe(false);
  },
);

test('the table names every argument that can hold a path', () => {
  const known = new Set(ARGUMENTS.map(([tool, argument]) => `${tool.name} ${argument.split(/[ ,]/)[0]}`));
  // What these hold is text that is searched for, counted or written, never opened.
  const texts = [
    'content',
    'old',
    'new',
    'pattern',
    'encoding',
    'append',
    'replace_all',
    'regex',
    'ignore_case',
  ];
  const numbers = ['offset', 'limit', 'depth', 'max_bytes', 'timeout_ms'];
  for (const tool of TOOLS) {
    for (const argument of Object.keys(tool.input.properties as JsonObject)) {
      if (texts.includes(argument) || numbers.includes(argument) || argument === 'command') continue;
      expect(known, `${tool.name} ${argument}`).toContain(`${tool.name} ${argument}`);
    }
  }
});

/** Git takes a link itself for what it is, a file that holds a path. */
function isNameOfLink(argument: string, path: string): boolean {
  return argument === 'a word' && (path === 'link' || path === 'out');
}

function leaves(path: string): boolean {
  return path.includes('..') || path.startsWith('/');
}

function quoted(word: string): string {
  return `'${word}'`;
}
