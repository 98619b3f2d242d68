import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { own } from '@phasegate/core';
import { unloadable } from '@phasegate/core/model';
import type { Loader, Peeked, SourceFile } from '@phasegate/core/ports';
import type { MarkdownLoaderOptions } from './loadMarkdown.ts';

/** Loads folders with a `metadata.json`: static, dynamic, or looked up in the documentation. */
export function createMarkdownLoader(options: MarkdownLoaderOptions): Loader {
  return {
    format: 'markdown',
    accepts: (path) => METADATA.test(path),
    peek: (file) => peek(file, options),
    load: async (file, starting) => {
      // Loaded late: reading a folder takes the YAML library, and most processes never do it.
      const { loadMarkdown } = await import('./loadMarkdown.ts');
      try {
        return await loadMarkdown(file, options, starting);
      } catch (error) {
        return unloadable(file.path, 'the folder cannot be read', error);
      }
    },
  };
}

/** In a folder of its own: a `metadata.json` in the project's root is somebody else's. */
const METADATA = /[^/]\/metadata\.json$/;

async function peek(file: SourceFile, options: MarkdownLoaderOptions): Promise<Peeked | null> {
  if (isNested(file)) return null;
  const [reader, { readJsonTree }, { peekMetadata }, { Report }] = await Promise.all([
    options.reader(),
    import('./jsonTree.ts'),
    import('./metadata.ts'),
    import('./report.ts'),
  ]);
  const folder = posix.dirname(file.path);
  const report = new Report();
  const source = await reader.source(file.root, file.path);
  if (!source.ok) report.error({ file: file.path, line: source.line, column: source.column }, source);
  const tree = source.ok ? readJsonTree(file.path, source.text, { reader, report }) : null;
  const hasPhases = existsSync(join(file.root, folder, 'phases'));
  const claims = tree !== null && KEYS.some((key) => own(tree.value, key) !== undefined);
  // Many things have a metadata.json; what neither says it is a workflow nor has phases is none.
  if (tree !== null && !claims && !hasPhases) return null;
  return { ...peekMetadata(tree?.value, posix.basename(folder)), problems: report.inOrder(file.path) };
}

const KEYS = ['workflow_type', 'dynamic_phases', 'total_phases'];

/** A `metadata.json` somewhere inside a workflow's folder belongs to that workflow. */
function isNested({ root, path }: SourceFile): boolean {
  const names = posix.dirname(path).split('/').slice(0, -1);
  return names.some((_, index) => {
    const above = join(root, ...names.slice(0, index + 1));
    return existsSync(join(above, 'metadata.json'));
  });
}
