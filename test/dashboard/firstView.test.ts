import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dashboardFiles } from '../../packages/phasegate/src/dashboardFiles.ts';

const BUILT = new URL('../../packages/phasegate/dist/dashboard/', import.meta.url);
const MOST = 250 * 1000;

test('the first view takes less than 250 kB, and graphs and differences come later', () => {
  const first = firstFiles();
  const sizes = first.map((name) => gzipSync(readFileSync(new URL(`assets/${name}`, BUILT))).length);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST);
  expect(first.filter((name) => /PhaseGraph|DiffText/.test(name))).toEqual([]);
});

test('nothing stands in the page itself, nothing comes from elsewhere, and every licence is told', () => {
  const index = readFileSync(new URL('index.html', BUILT), 'utf8');

  expect(index).not.toMatch(/<script(?![^>]*\bsrc=)/);
  expect(index).not.toMatch(/<style|style=|https?:/);
  expect([...index.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^\.\/assets\//)]),
  );
  expect(readFileSync(new URL('THIRD_PARTY_NOTICES.txt', BUILT), 'utf8')).toContain('react-dom');
});

test('the server finds what was built, each file with its type', () => {
  const pages = dashboardFiles();

  expect(pages?.index).toContain('<div id="app">');
  expect([...(pages?.files.keys() ?? [])].sort()).toEqual(
    readdirSync(fileURLToPath(new URL('assets', BUILT))).sort(),
  );
});

/** What the page names, and what that imports at once. */
function firstFiles(): readonly string[] {
  const index = readFileSync(new URL('index.html', BUILT), 'utf8');
  const found = new Set<string>();
  const follow = (name: string) => {
    if (found.has(name) || !existsSync(new URL(`assets/${name}`, BUILT))) return;
    found.add(name);
    if (!name.endsWith('.js')) return;
    const source = readFileSync(new URL(`assets/${name}`, BUILT), 'utf8');
    for (const [, other] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) follow(other ?? '');
  };
  for (const [, name] of index.matchAll(/"\.\/assets\/([^"]+)"/g)) follow(name ?? '');
  return [...found];
}
