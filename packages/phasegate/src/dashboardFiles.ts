import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { PageFile, PageFiles } from './surfaces/rest/pageFiles.ts';

/** The built pages, read once; undefined where they were not built. They lie in this package, beside its code. */
export function dashboardFiles(): PageFiles | undefined {
  const folder = folderOfPages();
  if (folder === undefined) return undefined;
  const assets = join(folder, 'assets');
  const files = readdirSync(assets).flatMap((name): [string, PageFile][] => {
    const type = TYPES[extname(name)];
    return type === undefined ? [] : [[name, fileOf(readFileSync(join(assets, name)), type)]];
  });
  return { index: readFileSync(join(folder, 'index.html'), 'utf8'), files: new Map(files) };
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Beside the sources, the compiled files and the bundle alike. */
function folderOfPages(): string | undefined {
  return ['./dashboard/', '../dashboard/', '../dist/dashboard/']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((folder) => existsSync(join(folder, 'index.html')));
}

function fileOf(read: Buffer, type: string): PageFile {
  const body = new Uint8Array(read);
  const gzipped = new Uint8Array(gzipSync(read));
  return { type, body, gzipped: gzipped.length < body.length ? gzipped : null };
}
