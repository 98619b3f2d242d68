import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, PhasegateError } from '@phasegate/core';
import { compileGlob, globProblem, guardOf } from '@phasegate/core/model';
import { bytesAt, MAX_DOCUMENT_BYTES } from './readText.ts';

/** A file the index is about. */
export interface FoundDocument {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly mtime: number;
  readonly size: number;
}

/** Where documentation is looked for unless the config says otherwise. */
export const DEFAULT_DOCS: readonly string[] = [
  'docs/**/*.md',
  'standards/**/*.md',
  '.praxis-os/standards/**/*.md',
  'README.md',
];

/**
 * Every file the globs name, without following links. Workflows are left out: their phases are served by the engine,
 * one at a time, and a search over them would show the later ones.
 */
export function findDocuments(root: string, globs: readonly string[]): readonly FoundDocument[] {
  const wanted = globs.map(compile);
  const found: FoundDocument[] = [];
  const visit = (folder: string) => {
    const entries = entriesOf(join(root, folder));
    if (folder !== '' && holdsWorkflow(join(root, folder), entries)) return;
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && !WORKFLOWS.has(path)) {
        if (wanted.some(({ prefix }) => meets(prefix, path))) visit(path);
      } else if (
        entry.isFile() &&
        !isServedByEngine(path, entry.name) &&
        wanted.some(({ matches }) => matches(path))
      ) {
        const stats = lstatIfThere(join(root, path));
        if (stats?.isFile()) found.push({ path, mtime: stats.mtimeMs, size: stats.size });
      }
    }
  };
  visit('');
  return found;
}

/** Definitions, and the sources of dynamic ones: what is in them is served phase by phase. */
function isServedByEngine(path: string, name: string): boolean {
  return name.toLowerCase() === 'tasks.md' || guardOf(path) !== null;
}

const SKIPPED = new Set(['node_modules', '.git', 'dist']);
/** Folders that hold workflows, as the catalog knows them. */
const WORKFLOWS = new Set(['workflows', '.phasegate', '.praxis-os/workflows']);
const WORKFLOW_KEYS = ['workflow_type', 'phases', 'total_phases', 'dynamic_phases'];

function compile(glob: string): { matches(path: string): boolean; readonly prefix: string } {
  try {
    const parts = glob.replace(/^\.\//, '').split('/');
    const wild = parts.findIndex((part) => /[*?{[]/.test(part));
    return {
      matches: simply(glob) ?? compileGlob(glob),
      prefix: parts.slice(0, wild === -1 ? parts.length - 1 : wild).join('/'),
    };
  } catch (cause) {
    throw new PhasegateError('config_invalid', `\`docs\`: ${(cause as Error).message}`, { cause });
  }
}

// The usual form, every file with one ending below a folder, is asked for each file before each search.
function simply(glob: string): ((path: string) => boolean) | null {
  const [, folder, ending] = /^((?:[\w.-]+\/)+)\*\*\/\*(\.\w+)$/.exec(glob) ?? [];
  if (folder === undefined || ending === undefined || globProblem(glob) !== null) return null;
  const start = folder.replace(/^\.\//, '');
  return (path) => path.startsWith(start) && path.endsWith(ending);
}

/** Whether a folder lies on the way to where a glob begins, or below it. */
function meets(prefix: string, folder: string): boolean {
  return prefix === '' || `${folder}/`.startsWith(`${prefix}/`) || `${prefix}/`.startsWith(`${folder}/`);
}

type Entries = ReturnType<typeof entriesOf>;

/** A folder with a `metadata.json` of a workflow. Other tools have files of that name too, so it is looked into. */
function holdsWorkflow(folder: string, entries: Entries): boolean {
  if (!entries.some((entry) => entry.name === 'metadata.json' && entry.isFile())) return false;
  if (entries.some((entry) => entry.name === 'phases' && entry.isDirectory())) return true;
  try {
    const bytes = bytesAt(join(folder, 'metadata.json'), MAX_DOCUMENT_BYTES);
    const value = JSON.parse(String(bytes)) as Json;
    return isJsonObject(value) && WORKFLOW_KEYS.some((key) => key in value);
  } catch {
    // In doubt it is a workflow: leaving out a document is better than showing a later phase.
    return true;
  }
}

function entriesOf(folder: string) {
  try {
    // A folder that became a link would lead out of the project.
    if (realpathSync.native(folder) !== folder) return [];
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function lstatIfThere(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
