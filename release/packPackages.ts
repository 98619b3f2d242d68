import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';

export const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A package of the repository, as far as packing needs it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  /** What it ships; absent where another package carries what is built of it. */
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A packed package. */
export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** Private packages are not published: `phasegate` carries them. */
  readonly published: boolean;
  readonly path: string;
  /** Paths of its files, without those of packages it carries. */
  readonly files: readonly string[];
}

/** Every package of the repository that is packed, those that others depend on first. */
export function packages(): readonly FoundPackage[] {
  return everyPackage().filter(({ manifest }) => manifest.files !== undefined);
}

/** The same with those that ship nothing of their own. */
export function everyPackage(): readonly FoundPackage[] {
  const { workspaces } = readJson<{ readonly workspaces: readonly string[] }>(join(ROOT, 'package.json'));
  return workspaces.map((folder) => ({
    folder: join(ROOT, folder),
    manifest: readJson<Manifest>(join(ROOT, folder, 'package.json')),
  }));
}

/** A package and where it lies. */
export interface FoundPackage {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Packs what the build has made into a folder. The packages `phasegate` depends on lie inside its tarball. */
export async function packPackages(to: string): Promise<readonly Tarball[]> {
  const tarballs: Tarball[] = [];
  for (const { folder, manifest } of packages()) {
    const plain = await pack(folder, to);
    const inner = tarballs.filter(({ name }) => manifest.dependencies?.[name] !== undefined);
    const carries = manifest.name === 'phasegate';
    const path = carries ? await packWith(inner, { tarball: plain.path, to }) : plain.path;
    const { name, version } = manifest;
    tarballs.push({ name, version, published: manifest.private !== true, path, files: plain.files });
  }
  return tarballs;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folder: string, to: string): Promise<Pick<Tarball, 'path' | 'files'>> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', to];
  const answer = JSON.parse(await run('npm', args, { cwd: folder })) as Packed[] | Record<string, Packed>;
  const [packed] = Object.values(answer);
  if (packed === undefined) throw new Error(`npm packed nothing in \`${folder}\``);
  // npm names the file after the package, and spells a scope in it in more than one way.
  const filename = packed.filename.replace('@', '').replaceAll('/', '-');
  return { path: join(to, filename), files: packed.files.map(({ path }) => path) };
}

/** npm bundles what lies in a package's own `node_modules`; in a workspace it lies elsewhere, so it is put there. */
async function packWith(
  inner: readonly Tarball[],
  { tarball, to }: { readonly tarball: string; readonly to: string },
): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'phasegate-pack-'));
  try {
    await unpack(tarball, stage);
    const file = join(stage, 'package.json');
    const outer = readJson<Manifest>(file);
    for (const { name, path } of inner) {
      await unpack(path, join(stage, 'node_modules', name));
      leaveToOuter(join(stage, 'node_modules', name, 'package.json'), outer);
    }
    const manifest = { ...outer, bundleDependencies: inner.map(({ name }) => name) };
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    rmSync(tarball);
    return (await pack(stage, to)).path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * What a carried package needs of the registry is named by the one that carries it. npm takes all that a carried package
 * names for carried too, and for a global install makes its folder and puts nothing in it.
 */
function leaveToOuter(file: string, outer: Manifest): void {
  const manifest = readJson<Manifest>(file);
  const own = Object.entries(manifest.dependencies ?? {});
  const missing = own.filter(([name, version]) => outer.dependencies?.[name] !== version);
  if (missing.length > 0) {
    const names = missing.map(([name, version]) => `${name}@${version}`).join(', ');
    throw new Error(`\`${manifest.name}\` needs ${names}, which \`${outer.name}\` does not name`);
  }
  const kept = own.filter(([name]) => name.startsWith('@phasegate/'));
  writeFileSync(
    file,
    `${JSON.stringify({ ...manifest, dependencies: Object.fromEntries(kept) }, null, 2)}\n`,
  );
}

async function unpack(tarball: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', into, '--strip-components=1'], { cwd: into });
  if (!readdirSync(into).includes('package.json')) throw new Error(`\`${tarball}\` is not a package`);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
