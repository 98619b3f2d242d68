import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Loader } from '../ports.ts';
import { createListing } from './keptListing.ts';

test('asks about each file and makes no list of them again while nothing changes', async () => {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-listing-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const put = (name: string, id: string) => writeFileSync(join(root, 'workflows', name), id);
  mkdirSync(join(root, 'workflows'));
  for (let n = 0; n < 40; n++) put(`w${n}`, `id ${n}`);
  let asked = 0;
  const loader = {
    format: 'yaml',
    accepts(path) {
      asked += 1;
      return path.startsWith('workflows/w');
    },
    async peek({ path }) {
      const id = readFileSync(join(root, path), 'utf8');
      return { id, title: id, phases: null, problems: [] };
    },
    load: () => expect.fail('nothing is loaded'),
  } satisfies Loader;
  const listing = createListing({ root, globs: [], loaders: [loader] });
  const ids = async () => (await listing.names()).files.map(({ id }) => id);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await ids()).toHaveLength(40);
  asked = 0;

  expect(await ids()).toHaveLength(40);
  expect(asked).toBe(0);

  put('w7', 'id 8');
  expect((await ids()).filter((id) => id === 'id 8')).toHaveLength(2);
  put('w40', 'id 8');
  expect((await ids()).filter((id) => id === 'id 8')).toHaveLength(3);
  rmSync(join(root, 'workflows/w40'));
  expect(await ids()).toHaveLength(40);
});
