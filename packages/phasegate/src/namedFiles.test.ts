import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { namedFiles, type StartedWith } from './namedFiles.ts';

const root = mkdtempSync(join(tmpdir(), 'phasegate-named-'));
for (const path of [
  'tools/a.js',
  'tools/b/index.mjs',
  'tools/c/src/go.ts',
  'tools/deep/go.py',
  'node_modules/.bin/own-server',
  'hook',
  'data.db',
  'logs/x.log',
]) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), path);
}
writeFileSync(join(root, 'tools/c/package.json'), '{ "main": "src/go" }');
const outside = mkdtempSync(join(tmpdir(), 'phasegate-named-'));
symlinkSync(join(root, 'tools'), join(outside, 'link'));

test.each<readonly [StartedWith, readonly string[]]>([
  [{ command: ['node', 'tools/a.js'] }, ['tools/a.js']],
  [{ command: ['node', './tools/a'] }, ['tools/a.js']],
  [{ command: ['node', 'tools/b'] }, ['tools/b/index.mjs']],
  [{ command: ['node', 'tools/c'] }, ['tools/c/package.json', 'tools/c/src/go.ts']],
  [{ command: ['tsx', 'tools/c/src/go.js'] }, ['tools/c/src/go.ts']],
  [{ command: ['sh', '-c', 'cd . && exec node "tools/a.js"'] }, ['tools/a.js']],
  [{ command: ['node', '-r./hook', `file://${root}/tools/a.js`] }, ['hook', 'tools/a.js']],
  [{ command: ['node', join(outside, 'link/a.js')] }, ['tools/a.js']],
  [{ command: ['sh', '-c', 'cd tools && exec node a.js'] }, ['tools/a.js']],
  [
    { command: ['sh', '-c', 'cd tools; cd c; exec node src/go.ts'] },
    ['tools/c/package.json', 'tools/c/src/go.ts'],
  ],
  [{ command: ['env', '-C', 'tools', 'node', 'a.js'] }, ['tools/a.js']],
  [{ command: ['sh', '-c', 'exec node "$PWD/tools/a.js"'] }, ['tools/a.js']],
  [{ command: ['java', '-cp', 'tools/a.js:hook'] }, ['hook', 'tools/a.js']],
  [{ command: ['a.js'], env: { PATH: './tools:/usr/bin' } }, ['tools/a.js']],
  [{ command: ['npm', '--prefix', 'tools/c', 'start'] }, ['tools/c/package.json', 'tools/c/src/go.ts']],
  [{ command: ['python3', '-m', 'tools.deep.go'] }, ['tools/deep/go.py']],
  [{ command: ['npx', 'own-server'] }, ['node_modules/.bin/own-server']],
  [{ command: ['x'], env: { LD_PRELOAD: './hook:./data.db' } }, ['data.db', 'hook']],
  [{ command: ['x'], env: { NODE_OPTIONS: '--require ./hook' } }, ['hook']],
  [{ command: ['x'], env: { SCRIPT: 'tools/a' } }, ['tools/a.js']],
  [{ command: ['x'], env: { DATABASE: './data.db', LOG: 'logs/x.log' } }, []],
  [{ command: ['npx', '@scope/server', '--stdio', 'a\0b', 'x'.repeat(5000), '/etc/passwd'] }, []],
])('%j names %j [adv.Q2]', (started, paths) => {
  expect(Object.keys(namedFiles(root, started))).toEqual(paths);
});

test.each([
  ['npm', '.npmrc'],
  ['npx', '.npmrc'],
  ['yarn', '.yarnrc.yml'],
  ['pnpm', '.pnpmfile.cjs'],
  ['cargo', '.cargo/config.toml'],
  ['tsx', 'tsconfig.json'],
])(
  'what names other programs to `%s`, `%s`, is among the files, also where it comes later [adv.Q2]',
  (program, file) => {
    const project = mkdtempSync(join(tmpdir(), 'phasegate-named-'));
    const command = [program, 'run', 'server'];
    expect(namedFiles(project, { command })).toEqual({});
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), '');

    expect(Object.keys(namedFiles(project, { command }))).toEqual([file]);
  },
);
