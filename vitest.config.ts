import { defineConfig } from 'vitest/config';
import { COMPILED, SCRATCH } from './test/scratch.ts';
import { sourceEntries } from './test/sourceEntries.ts';
import { FULL } from './test/tier.ts';

// Many more cases take longer; a test that hangs is ended all the same.
const TIMEOUT_MS = FULL ? 900_000 : 180_000;

const testsOf = (names: readonly string[]) => names.map((name) => `packages/${name}/src/**/*.test.ts`);
const PURE = testsOf(['core', 'proofs', 'sdk', 'wire']);

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
    env: { TMPDIR: SCRATCH, NODE_COMPILE_CACHE: COMPILED },
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
          include: [
            ...testsOf(['search', 'markdown', 'phasegate']),
            'test/**/*.test.ts',
            'examples/**/*.test.ts',
          ],
        },
      },
    ],
  },
});
