import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, constants, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ClientKind } from './clientKind.ts';
import { recordOf } from './protocol.ts';

/** A client that is installed here. */
export interface InstalledClient {
  /** As it was found. */
  readonly program: string;
  readonly version: string;
  /** Every file that is the client: the one that is started, and those of its npm packages that a start leads to. */
  readonly files: readonly string[];
  /** SHA-256 over the names and contents of these files. */
  readonly sha256: string;
}

/** Finds the client by the PATH that is given; null where it is not installed. */
export async function findClient(kind: ClientKind, path: string): Promise<InstalledClient | null> {
  const program = await onPath(kind.name, path);
  if (program === null) return null;
  const files = await filesOfClient(program, kind.package);
  const [version, sha256] = await Promise.all([versionOf(program, path), sumOf(files)]);
  return { program, version, files, sha256 };
}

async function onPath(name: string, path: string): Promise<string | null> {
  // An empty or relative part of a PATH means another folder at each start.
  for (const folder of path.split(delimiter).filter((part) => part.startsWith('/'))) {
    const program = join(folder, name);
    const found = await access(program, constants.X_OK).then(
      () => stat(program),
      () => null,
    );
    if (found?.isFile()) return program;
  }
  return null;
}

/** Every file that is the client, by the program that starts it. */
export async function filesOfClient(program: string, packageName: string): Promise<readonly string[]> {
  return filesOf(await realpath(program), packageName);
}

/**
 * Some packages hold a small file that starts the real program out of a package for one system, which npm puts beside
 * them or below them. All that such packages hold is the client.
 */
async function filesOf(entry: string, packageName: string): Promise<readonly string[]> {
  const home = entry.lastIndexOf(`/node_modules/${packageName}/`);
  if (home < 0) return [entry];
  const modules = join(entry.slice(0, home), 'node_modules');
  const root = join(modules, packageName);
  const { optionalDependencies } = recordOf(
    JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as unknown,
  );
  const roots = [root];
  for (const name of Object.keys(recordOf(optionalDependencies))) {
    for (const place of [join(modules, name), join(root, 'node_modules', name)]) {
      if ((await stat(place).catch(() => null))?.isDirectory()) roots.push(place);
    }
  }
  const found = new Set([entry]);
  for (const folder of roots) {
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) found.add(join(file.parentPath, file.name));
    }
  }
  return [...found].sort();
}

async function sumOf(files: readonly string[]): Promise<string> {
  const all = createHash('sha256');
  const base = dirname(files[0] ?? '/');
  for (const file of files) {
    const sum = createHash('sha256');
    for await (const chunk of createReadStream(file)) sum.update(chunk as Buffer);
    const name = file.startsWith(base) ? file.slice(base.length) : basename(file);
    all.update(`${sum.digest('hex')} ${name}\n`);
  }
  return all.digest('hex');
}

const VERSION_MS = 60_000;

async function versionOf(program: string, path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ['--version'], {
    env: { PATH: path, HOME: '/nonexistent', LANG: 'C.UTF-8' },
    timeout: VERSION_MS,
  }).catch(() => ({ stdout: '' }));
  return /\d+\.\d+\.\d+(?:-[\w.]*\w)?/.exec(stdout)?.[0] ?? 'unknown';
}
