import { appendFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckInput } from '../../runtime/ports.ts';
import { FileFinder } from '../../workspace/findFiles.ts';
import { readBeneath } from '../../workspace/readBeneath.ts';

/** What a planted test is called. */
export const CANARY = 'phasegate canary must fail';

/**
 * Adds a test that must fail to every test file of a room: it runs in the same process as what the file imports, so what
 * was done to assertions, or to the end of the process, is done to it too. Gives how many files have one now. INVARIANT:
 * only ever in a copy of the engine's own.
 */
export async function plantCanary(
  globs: readonly string[],
  { workspace, signal }: Pick<CheckInput, 'workspace' | 'signal'>,
): Promise<number> {
  const root = await realpath(workspace);
  const finder = new FileFinder(root, signal as AbortSignal);
  const paths = new Set<string>();
  for (const glob of globs)
    for (const { path, kind } of await finder.find(glob)) if (kind === 'file') paths.add(path);
  let planted = 0;
  for (const path of paths) {
    const { content } = await readBeneath(root, path, LARGEST);
    const text = canaryFor(path, content.toString('utf8'));
    if (text === null) continue;
    await appendFile(join(root, path), text);
    planted += 1;
  }
  return planted;
}

const LARGEST = 16 * 1024 * 1024;

/** A test that fails at an assertion, as the runner of that file has it; null for a file that holds no tests of a known one. */
function canaryFor(path: string, text: string): string | null {
  if (/\.[cm]?[jt]sx?$/.test(path)) return scriptCanary(path, text);
  if (/(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path))
    return `\n\ndef test_phasegate_canary_must_fail():\n    assert 1 == 2\n`;
  if (path.endsWith('_test.go') && /\btesting\.T\b/.test(text))
    return '\nfunc TestPhasegateCanaryMustFail(t *testing.T) { t.Fatal("phasegate canary") }\n';
  return null;
}

function scriptCanary(path: string, text: string): string | null {
  const isModule = /^\s*(?:import|export)\b/m.test(text) && !/\.c[jt]s$/.test(path);
  if (/['"]node:test['"]/.test(text)) return nodeCanary(isModule);
  if (/['"]vitest['"]/.test(text))
    return `\nimport { expect as canaryExpect, test as canaryTest } from 'vitest';\ncanaryTest('${CANARY}', () => canaryExpect(1).toBe(2));\n`;
  if (/\b(?:test|it|describe)\s*(?:\.\w+)*\(/.test(text))
    return `\ntest('${CANARY}', () => expect(1).toBe(2));\n`;
  return null;
}

function nodeCanary(isModule: boolean): string {
  const names = isModule
    ? `import canaryAssert from 'node:assert';\nimport { test as canaryTest } from 'node:test';`
    : `const canaryAssert = require('node:assert');\nconst { test: canaryTest } = require('node:test');`;
  // Each way to assert that a test may use: one that was made to pass is enough.
  const ways = ['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual'].map(
    (way) => `canaryTest('${CANARY} ${way}', () => canaryAssert.${way}(1, 2));`,
  );
  return `\n${names}\n${ways.join('\n')}\ncanaryTest('${CANARY} ok', () => canaryAssert.ok(false));\n`;
}
