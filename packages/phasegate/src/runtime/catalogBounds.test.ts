import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCatalog } from './catalog.ts';
import { findFiles } from './listing/projectFiles.ts';
import type { Loader } from './ports.ts';

function project() {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-bounds-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'workflows/a'), { recursive: true });
  const put = (path: string) => writeFileSync(join(root, 'workflows', path), '');
  const loader = {
    format: 'yaml',
    accepts: (path) => path.endsWith('.yaml'),
    peek: async ({ path }) => ({
      id: path.slice(path.lastIndexOf('/') + 1),
      title: 't',
      phases: null,
      problems: [],
    }),
    load: async ({ path }) => ({ workflow: null, problems: [], files: { [path]: 'x' } }),
  } satisfies Loader;
  return { root, put, catalog: createCatalog({ root, globs: [], loaders: [loader] }) };
}

test('files that no loader takes hide no workflow', async () => {
  const { put, catalog } = project();
  for (let n = 0; n < 2100; n++) put(`a/${n}.txt`);
  put('z.yaml');

  expect((await catalog.list()).map(({ id }) => id)).toEqual(['z.yaml']);
});

test('more workflows than are looked at: no name is believed, and it is said; a path still is', async () => {
  const { put, catalog } = project();
  for (let n = 0; n <= 2000; n++) put(`a/${n}.yaml`);
  put('z.yaml');
  const fault = { code: 'too_large', message: expect.stringContaining('2000 workflow files') };

  await expect(catalog.list()).rejects.toMatchObject(fault);
  await expect(catalog.validate([])).rejects.toMatchObject(fault);
  await expect(catalog.load('z.yaml')).rejects.toMatchObject(fault);
  await expect(catalog.load('1.yaml')).rejects.toMatchObject(fault);
  for (const path of ['workflows/a/1.yaml', 'workflows/z.yaml'])
    await expect(catalog.load(path)).rejects.toMatchObject({ code: 'workflow_invalid' });
});

test('folders without files are bounded, too', () => {
  let listed = 0;
  const found = findFiles('/project', [], {
    isInside: (folder) => folder === 'workflows',
    entriesOf: (folder) => {
      listed += 1;
      return folder === 'workflows'
        ? Array.from({ length: 100_000 }, (_, n) => ({ name: `${n}`, kind: 'folder' as const }))
        : [];
    },
  });

  expect(found).toEqual({ files: [], cut: true });
  expect(listed).toBeLessThan(20_010);
});
