/**
 * What the fence costs: a first measure with all contents kept, and the comparison at a completion, clean and with 50
 * changes, beside `git status` on the same tree.
 *
 *   npm run bench:fence            1,000, 10,000 and 100,000 files
 *   npm run bench:fence -- quick   1,000 and 10,000 files
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFence } from '../packages/phasegate/dist/workspace/fence/fence.js';
import { print } from './transitions/measure.ts';

const quick = process.argv.includes('quick');
const SIZES = quick ? [1000, 10_000] : [1000, 10_000, 100_000];
const TRIES = 7;
const CHANGES = 50;
const ENV = { PATH: process.env.PATH ?? '', HOME: tmpdir(), GIT_CONFIG_NOSYSTEM: '1' };

print('milliseconds, the middle one of seven; warm; ratio to `git status`');
for (const size of SIZES) await measure(size);

async function measure(size: number): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'fence-bench-'));
  try {
    const root = join(base, 'project');
    grow(root, size);
    git(root, ['init', '-q']);
    git(root, ['add', '-A']);
    git(root, ['-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '-qm', 'first']);
    await past();
    const stateDir = join(base, 'state');
    const place = { root, stateDir, folder: join(stateDir, 'fence'), env: ENV };
    const fence = createFence({ ...place, guardsOtherwise: async () => () => false });

    const first = await timed(() => fence.measure('run'));
    await past();
    // Contents are known from here on, and nothing is newer than the measure.
    let tree = await fence.measure('run');
    const again = await middle(async () => {
      tree = await fence.measure('run');
    });
    const clean = await middle(() => fence.compare('run', tree));
    const gitClean = await middle(async () => git(root, ['status', '--porcelain']));
    for (let file = 0; file < CHANGES; file += 1)
      writeFileSync(join(root, pathOf(file * 7)), `changed ${file}\n`);
    const changed = await middle(() => fence.compare('run', tree));
    const gitChanged = await middle(async () => git(root, ['status', '--porcelain']));

    print(`\n${size.toLocaleString('en')} files`);
    line('first measure, contents kept', first);
    line('measure again', again, gitClean);
    line('compare, nothing changed', clean, gitClean);
    line(`compare, ${CHANGES} changed`, changed, gitChanged);
    line('git status, nothing changed', gitClean);
    line(`git status, ${CHANGES} changed`, gitChanged);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function line(what: string, ms: number, beside?: number): void {
  const ratio = beside === undefined ? '' : `   ${(ms / beside).toFixed(2)} times`;
  print(`  ${what.padEnd(32)}${ms.toFixed(1).padStart(9)}${ratio}`);
}

function pathOf(file: number): string {
  return `src/m${Math.floor(file / 1000)}/p${Math.floor(file / 50) % 20}/file-${file}.ts`;
}

function grow(root: string, size: number): void {
  for (let file = 0; file < size; file += 1) {
    const place = join(root, pathOf(file));
    if (file % 50 === 0) mkdirSync(join(place, '..'), { recursive: true });
    writeFileSync(place, `export const value${file} = ${file};\n`.repeat(1 + (file % 60)));
  }
}

function git(root: string, words: readonly string[]): void {
  execFileSync('git', words, {
    cwd: root,
    env: ENV,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 28,
  });
}

/** Files that are as new as a measure are read again with the next. */
function past(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 120));
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

async function middle(act: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < TRIES; round += 1) times.push(await timed(act));
  return times.sort((one, other) => one - other)[Math.floor(TRIES / 2)] as number;
}
