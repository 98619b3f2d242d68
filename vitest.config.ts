import { defineConfig } from 'vitest/config';
import { FULL } from './test/tier.ts';

// Tests read the sources, not the build, so that a stale dist can never make a test pass.
const source = (name: string) => new URL(`./packages/${name}/src/index.ts`, import.meta.url).pathname;

// Many more cases take longer; a test that hangs is ended all the same.
const TIMEOUT_MS = FULL ? 900_000 : 180_000;

const PURE = ['packages/core/src/**/*.test.ts', 'packages/sdk/src/**/*.test.ts'];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@phasegate\/core$/, replacement: source('core') },
      { find: /^@phasegate\/sdk$/, replacement: source('sdk') },
      {
        find: /^@phasegate\/sdk\/testing$/,
        replacement: source('sdk').replace('index.ts', 'testing/index.ts'),
      },
      { find: /^phasegate$/, replacement: source('phasegate') },
    ],
  },
  test: {
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    // The default leaves a core free, which on two of them doubles the time.
    maxWorkers: '100%',
    // What is waited for comes at once, or late on a busy machine; it is not the time that is tested.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      // Pure code leaves nothing behind, so its tests may share a process and load their modules once.
      { extends: true, test: { name: 'pure', isolate: false, include: PURE } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['packages/phasegate/src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
        },
      },
    ],
  },
});
