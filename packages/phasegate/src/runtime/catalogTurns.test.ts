import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCatalog } from './catalog.ts';
import type { Loader } from './ports.ts';

test('others are served between the loads of many files that are described at once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-turns-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'workflows'));
  for (let n = 0; n < 20; n++) writeFileSync(join(root, 'workflows', `w${n}`), '');
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const loadedIn: number[] = [];
  const loader = {
    format: 'yaml',
    accepts: () => true,
    peek: async ({ path }) => ({ id: path, title: path, phases: null, problems: [] }),
    load: async ({ path }) => {
      loadedIn.push(turns);
      return { workflow: null, problems: [], files: { [path]: 'x' } };
    },
  } satisfies Loader;
  const catalog = createCatalog({ root, globs: [], loaders: [loader] });
  count();

  const described = await catalog.describe();
  isOver = true;

  expect(described).toHaveLength(20);
  expect(new Set(loadedIn).size).toBe(20);
});
