import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packages, ROOT } from '../release/packPackages.ts';

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

describe.each(packages().map(({ folder, manifest }) => [manifest.name, folder] as const))(
  '%s',
  (_, folder) => {
    test('has a README, the license, and the version and oldest Node of the repository', () => {
      const manifest = read(join(folder, 'package.json'));
      const root = read(join(ROOT, 'package.json'));

      expect(existsSync(join(folder, 'README.md'))).toBe(true);
      expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
      expect(manifest.version).toBe(root.version);
      expect(manifest.license).toBe(root.license);
      expect(manifest.engines).toEqual(root.engines);
    });

    test('ships what the build makes, no sources and no tests', () => {
      const files = read(join(folder, 'package.json')).files as readonly string[];

      expect(files).toEqual(expect.arrayContaining(['dist/**/*.js', 'dist/**/*.d.ts']));
      expect(files.filter((file) => !['bin', 'schemas'].includes(file) && !file.startsWith('dist/'))).toEqual(
        [],
      );
    });
  },
);

test('anyone who installs phasegate gets every inner package of its version with it', () => {
  const inner = packages().filter(({ manifest }) => manifest.private === true);
  const outer = packages().find(({ manifest }) => manifest.name === 'phasegate');

  expect(inner.length).toBeGreaterThan(0);
  for (const { manifest } of inner) {
    expect(outer?.manifest.dependencies?.[manifest.name], manifest.name).toBe(manifest.version);
  }
});
