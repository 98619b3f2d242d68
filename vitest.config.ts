import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { COMPILED, SCRATCH } from './test/scratch.ts';
import { sourceEntries } from './test/sourceEntries.ts';
import { TIER } from './test/tier.ts';

// Many more cases take longer; a test that hangs is ended all the same.
const TIMEOUT_MS = { quick: 180_000, full: 900_000, long: 10_800_000 }[TIER];

const HOUSE = ['test/**/*.test.ts', 'examples/**/*.test.ts'];
const ROOMS = ['packages/*/src/**/*.test.ts'];
// These compare times, so nothing else runs beside them.
const TIMED = [
  'test/adversary/loadBesideAttack.test.ts',
  'test/definitionCosts.test.ts',
  'test/limits.test.ts',
];

export default defineConfig({
  resolve: {
    // Tests read the sources, not the build, so that a stale dist can never make a test pass.
    alias: [
      ...sourceEntries(),
      { find: /^#wire$/, replacement: new URL('packages/wire/src/index.ts', import.meta.url).pathname },
    ],
  },
  test: {
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    globalSetup: './test/scratch.ts',
    setupFiles: './test/everyFile.ts',
    reporters: ['default', './test/leftOut.ts'],
    env: { TMPDIR: SCRATCH, NODE_COMPILE_CACHE: COMPILED },
    // One more than there are cores, as some tests wait: for a lease that ends, for an answer that is held back.
    maxWorkers: availableParallelism() + 1,
    // Most of what a test makes is garbage when it ends: with more room for what is young, less of it is copied.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=64'],
    // What is waited for comes at once, or late on a busy machine; it is not the time that is tested.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      // Projects come in the order of their names: the longest files first, so that all cores end together.
      // Both leave nothing behind in their process, so their tests share one and load their modules once.
      { extends: true, test: { name: 'house', isolate: false, include: HOUSE, exclude: TIMED } },
      { extends: true, test: { name: 'rooms', isolate: false, include: ROOMS } },
      { extends: true, test: { name: 'timed', include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
