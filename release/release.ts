/**
 * `npm run release`: builds from scratch, packs, and shows what would be published. `-- --publish` publishes it.
 * `-- --set 0.2.0` gives every package that version and closes the changelog's section of unreleased changes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { everyPackage, type Manifest, packages, packPackages, ROOT } from './packPackages.ts';
import { run } from './run.ts';

const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const OPEN = '## Unreleased\n';

const { values } = parseArgs({ options: { publish: { type: 'boolean' }, set: { type: 'string' } } });
if (values.set !== undefined) await setVersion(values.set);
else await release(values.publish === true);

async function release(publish: boolean): Promise<void> {
  const version = oneVersion();
  const problems = [
    changelog().includes(`\n## ${version}`) ? '' : `\`CHANGELOG.md\` has no section \`## ${version}\``,
    changelog().includes(OPEN)
      ? `\`CHANGELOG.md\` has unreleased changes: run \`npm run release -- --set VERSION\``
      : '',
    (await git('status', '--porcelain')) === '' ? '' : 'there are changes that are not committed',
  ].filter((problem) => problem !== '');
  for (const problem of problems) console.error(problem);
  if (publish && problems.length > 0) process.exit(1);
  for (const { folder } of packages()) rmSync(join(folder, 'dist'), { recursive: true, force: true });
  await run('npm', ['run', '--silent', 'build'], { cwd: ROOT });
  const place = mkdtempSync(join(tmpdir(), 'phasegate-release-'));
  try {
    for (const { name, path, published } of await packPackages(place)) {
      if (!published) continue;
      const args = ['publish', path, '--access', 'public', ...(publish ? [] : ['--dry-run'])];
      await run('npm', args, { cwd: ROOT });
      console.log(`${publish ? 'published' : 'would publish'} ${name} ${version}`);
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function setVersion(version: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) throw new Error(`\`${version}\` is not a version`);
  const ours = new Set(packages().map(({ manifest }) => manifest.name));
  for (const folder of [ROOT, ...everyPackage().map((found) => found.folder)]) {
    const path = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, wanted]) => [
      name,
      ours.has(name) ? version : wanted,
    ]);
    const changed = {
      ...manifest,
      version,
      ...(dependencies.length === 0 ? {} : { dependencies: Object.fromEntries(dependencies) }),
    };
    writeFileSync(path, `${JSON.stringify(changed, null, 2)}\n`);
  }
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, changelog().replace(OPEN, `## ${version} (${today})\n`));
  await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: ROOT,
  });
  console.log(`every package is ${version}; look at the changes, commit them, and run \`npm run release\``);
}

/** The version all packages share. */
function oneVersion(): string {
  const versions = new Set(everyPackage().map(({ manifest }) => manifest.version));
  const [version] = versions;
  if (version === undefined || versions.size > 1)
    throw new Error(`the packages have different versions: ${[...versions].join(', ')}`);
  return version;
}

function changelog(): string {
  return readFileSync(CHANGELOG, 'utf8');
}

async function git(...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: ROOT })).trim();
}
