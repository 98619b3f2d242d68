import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
      expect(
        files.filter((file) => !['bin', 'man', 'schemas'].includes(file) && !file.startsWith('dist/')),
      ).toEqual([]);
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

test('`npm ci` on an older Node prints no page of warnings: the repository carries its own Node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-engines-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "engines": { "node": ">=99" } }');
  // The npm that runs the tests tells its children how it was set, which is what is tried here.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const words = ['install', '--dry-run', '--offline', '--no-audit'];
  const install = () => spawnSync('npm', words, { cwd: folder, env, encoding: 'utf8' });

  expect(install().stderr).toContain('EBADENGINE');
  copyFileSync(join(ROOT, '.npmrc'), join(folder, '.npmrc'));
  expect(install()).toMatchObject({ status: 0, stderr: '' });
});
