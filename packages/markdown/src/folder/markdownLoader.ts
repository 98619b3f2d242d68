import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { canonicalJson, own } from '@phasegate/core';
import { KeptValues, unloadable } from '@phasegate/core/model';
import type { Loader, Peeked, Peeking, SourceFile } from '@phasegate/core/ports';
import type { LoadedMarkdown, MarkdownLoaderOptions } from './loadMarkdown.ts';

/** Loads folders with a `metadata.json`: static, dynamic, or looked up in the documentation. */
export function createMarkdownLoader(options: MarkdownLoaderOptions): Loader {
  const loaded = new KeptValues<LoadedMarkdown>(MOST_KEPT);
  const ofStarts = new KeptValues<LoadedMarkdown>(MOST_OF_STARTS);
  /** Workflows that are made for the params of a start: each such making is kept by itself. */
  const made = new Set<string>();
  return {
    format: 'markdown',
    accepts: (path) => METADATA.test(path),
    peek: (file, peeking) => peek(file, options, peeking),
    load: async (file, starting) => {
      // Loaded late: reading a folder takes the YAML library, and most processes never do it.
      const { loadMarkdown } = await import('./loadMarkdown.ts');
      try {
        const key = `${file.root}\0${file.path}\0${starting === undefined ? '' : 'start'}`;
        const byParams = starting !== undefined && made.has(key);
        const { dynamic, ...found } = await (byParams ? ofStarts : loaded).get(
          byParams ? `${key}\0${canonicalJson(starting.params)}` : key,
          async (readings) => {
            const one = await loadMarkdown(file, options, { starting, readings });
            if (one.dynamic && starting !== undefined && !byParams) readings.neverStand();
            return one;
          },
        );
        if (dynamic) made.add(key);
        else made.delete(key);
        return found;
      } catch (error) {
        return unloadable(file.path, 'the folder cannot be read', error);
      }
    },
  };
}

/** More workflows than a project has, as a rule. */
const MOST_KEPT = 128;

/** These hold the text of a whole specification each. */
const MOST_OF_STARTS = 8;

/** In a folder of its own: a `metadata.json` in the project's root is somebody else's. */
const METADATA = /[^/]\/metadata\.json$/;

async function peek(
  file: SourceFile,
  options: MarkdownLoaderOptions,
  peeking?: Peeking,
): Promise<Peeked | null> {
  const isThere = peeking?.isThere ?? ((path: string) => existsSync(join(file.root, path)));
  if (isNested(file, isThere)) return null;
  const [reader, { readJsonTree }, { peekMetadata }, { Report }] = await Promise.all([
    options.reader(),
    import('./jsonTree.ts'),
    import('./metadata.ts'),
    import('./report.ts'),
  ]);
  const folder = posix.dirname(file.path);
  const report = new Report();
  const source = await reader.source(file.root, file.path);
  if (source.sha256 !== undefined) peeking?.read(source.sha256);
  if (!source.ok) report.error({ file: file.path, line: source.line, column: source.column }, source);
  const tree = source.ok ? readJsonTree(file.path, source.text, { reader, report }) : null;
  const hasPhases = isThere(`${folder}/phases`);
  const claims = tree !== null && KEYS.some((key) => own(tree.value, key) !== undefined);
  // Many things have a metadata.json; what neither says it is a workflow nor has phases is none.
  if (tree !== null && !claims && !hasPhases) return null;
  return { ...peekMetadata(tree?.value, posix.basename(folder)), problems: report.inOrder(file.path) };
}

const KEYS = ['workflow_type', 'dynamic_phases', 'total_phases'];

/** A `metadata.json` somewhere inside a workflow's folder belongs to that workflow. */
function isNested({ path }: SourceFile, isThere: (path: string) => boolean): boolean {
  const names = posix.dirname(path).split('/').slice(0, -1);
  return names.some((_, index) => isThere(`${names.slice(0, index + 1).join('/')}/metadata.json`));
}
