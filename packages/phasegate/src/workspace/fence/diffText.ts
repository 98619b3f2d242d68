import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSecondName } from '../../files/secondName.ts';
import { findBeneath } from '../openBeneath.ts';
import { PathRefused } from '../pathRefused.ts';
import { readBeneath } from '../readBeneath.ts';
import { type Contents, LARGEST } from './contents.ts';
import type { Manifest } from './manifest.ts';

/** Where contents for a comparison come from. */
export interface Differing {
  readonly root: string;
  readonly contents: Contents;
  readonly paths: readonly string[];
  readonly before: Manifest;
  /** Where copies may be made for a moment, outside of the workspace. */
  readonly folder: string;
  /** Folders of which nothing is shown, by whatever name. */
  readonly own: readonly string[];
}

/**
 * How files differ from what they were, as `git diff` writes it. Git compares two folders of copies, outside of the
 * workspace and of every repository, so that no config, attribute or filter of the workspace has a say.
 */
export async function diffText(differing: Differing): Promise<string> {
  const { contents, paths, before, folder } = differing;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(folder, 'diff-'));
  try {
    const missing: string[] = [];
    const unread: string[] = [];
    for (const path of paths) {
      const was = before.entries.get(path);
      const old =
        was === undefined
          ? undefined
          : was.type === 'link'
            ? Buffer.from(was.content)
            : contents.read(was.content);
      if (old === null) missing.push(path);
      else if (old !== undefined) write(join(place, 'before', path), old);
      const now = await contentNow(differing, path).catch((error: unknown) => {
        if (!(error instanceof PathRefused)) throw error;
        unread.push(error.message);
        return null;
      });
      if (now !== null) write(join(place, 'after', path), now);
    }
    mkdirSync(join(place, 'before'), { recursive: true });
    mkdirSync(join(place, 'after'), { recursive: true });
    const notes = missing.map(
      (path) => `the content of \`${path}\` was not kept, so only what it is now is shown\n`,
    );
    const unshown = unread.map((reason) => `${reason}, so what it is now is not shown\n`);
    return `${[...notes, ...unshown].join('')}${await runDiff(place)}`;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function write(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, bytes, { mode: 0o600 });
}

/** What stands there now; null where it is nothing that can be compared. Nothing is read through a link. */
async function contentNow(
  { root, own }: Pick<Differing, 'root' | 'own'>,
  path: string,
): Promise<Buffer | null> {
  if (isSecondName(join(root, path), own))
    throw new PathRefused('path_outside', `\`${path}\` is a file of Phasegate's own by another name`);
  const found = await findBeneath(root, path);
  if (found.kind === 'link') return found.at === path ? Buffer.from(readlinkSync(join(root, path))) : null;
  return found.kind === 'file' ? (await readBeneath(root, path, LARGEST)).content : null;
}

/** In a process beside this one, which may be a server. */
async function runDiff(place: string): Promise<string> {
  const env = {
    PATH: process.env.PATH ?? '',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: dirname(place),
  };
  const words = [
    '--no-pager',
    '-c',
    'core.quotePath=false',
    'diff',
    '--no-index',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--no-prefix',
    'before',
    'after',
  ];
  return new Promise((resolve, reject) => {
    execFile('git', words, { cwd: place, env, encoding: 'utf8', maxBuffer: MOST_TEXT }, (error, stdout) => {
      // Git ends with 1 where there is a difference.
      if (error === null || error.code === 1) resolve(stdout);
      else if (error.code === 'ENOENT') resolve('git is not installed, so differences are not shown\n');
      else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        resolve(`${stdout}\nthe rest is not shown: name a folder or a path\n`);
      else reject(error);
    });
  });
}

/** So much is read of a difference. */
const MOST_TEXT = 16 * 1024 * 1024;
