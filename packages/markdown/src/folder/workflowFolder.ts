import { lstatSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { frontMatterOf, type Readings, reasonOf } from '@phasegate/core/model';
import type { DefinitionReader, DefinitionSource, SourceFile } from '@phasegate/core/ports';
import type { Reading } from './jsonTree.ts';
import { linesOf, type MarkdownLine } from './markdownText.ts';
import { type Place, type Remark, type Report, topOf } from './report.ts';

/** A Markdown file of the workflow. */
export interface MarkdownFile {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly MarkdownLine[];
}

/** The folder of one workflow: reads its files, keeps their hashes and reports what is not available. */
export class WorkflowFolder {
  readonly root: string;
  /** Relative to the project. */
  readonly path: string;
  readonly report: Report;
  readonly reader: DefinitionReader;
  /** Everything that was read, to be read again when the workflow is next asked for. */
  readonly readings: Readings;
  readonly files: Record<string, string> = {};

  constructor({ root, path }: SourceFile, { reader, report, readings }: Reading & { readings: Readings }) {
    this.root = root;
    this.path = path;
    this.report = report;
    this.reader = reader;
    this.readings = readings;
  }

  /** The path of a file of the folder, relative to the project. */
  pathOf(name: string): string {
    return posix.join(this.path, name);
  }

  /** A file's text, or null after it was reported. `missing` says what is reported where it is not there. */
  async read(
    name: string,
    missing?: { readonly at: Place; readonly remark: Remark },
  ): Promise<string | null> {
    const path = this.pathOf(name);
    const found = await this.readings.take(() => this.#look(path), markOf);
    if ('link' in found) {
      this.report.error(topOf(path), {
        code: 'path_outside',
        message: `\`${found.link}\` is a symlink, which is not followed`,
      });
      return null;
    }
    const { source } = found;
    if (source.ok) {
      this.files[source.path] = source.sha256;
      return source.text;
    }
    if (source.sha256 !== undefined) this.files[path] = source.sha256;
    if (
      missing !== undefined &&
      source.code === 'file_unreadable' &&
      source.message.endsWith('does not exist')
    )
      this.report.error(missing.at, missing.remark);
    else this.report.error({ file: path, line: source.line, column: source.column }, source);
    return null;
  }

  /** A Markdown file that says something, or null after it was reported. */
  async readMarkdown(
    name: string,
    missing?: { readonly at: Place; readonly remark: Remark },
  ): Promise<MarkdownFile | null> {
    const text = await this.read(name, missing);
    if (text === null) return null;
    const path = this.pathOf(name);
    if (text.trim() === '') {
      this.report.error(topOf(path), { code: 'empty_file', message: `\`${path}\` is empty` });
      return null;
    }
    if (!frontMatterOf(text.split(/\r?\n/)).closed) {
      const message = `the front matter of \`${path}\` has no end: a line \`---\` closes it`;
      this.report.error(topOf(path), { code: 'front_matter_open', message });
      return null;
    }
    return { path, text, lines: linesOf(text) };
  }

  /** What lies in a folder, by name, files and folders apart; null where there is no such folder. */
  async list(
    name: string,
  ): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] } | null> {
    const path = this.pathOf(name);
    const listed = await this.readings.take(async () => listFolder(this.root, path), JSON.stringify);
    if ('names' in listed) return listed.names;
    if (listed.problem !== null) this.report.error(topOf(path), listed.problem);
    return null;
  }

  async #look(path: string): Promise<Looked> {
    const link = linkOn(this.root, path);
    return link === null ? { source: await this.reader.source(this.root, path) } : { link };
  }
}

type Looked = { readonly link: string } | { readonly source: DefinitionSource };

/** The hash stands for the text, which need not be kept a second time. */
function markOf(found: Looked): string {
  if ('link' in found || !found.source.ok) return JSON.stringify(found);
  return `${found.source.sha256} ${found.source.path}`;
}

type Listed =
  | { readonly names: { readonly files: readonly string[]; readonly folders: readonly string[] } }
  | { readonly problem: Remark | null };

function listFolder(root: string, path: string): Listed {
  if (linkOn(root, path) !== null)
    return { problem: { code: 'path_outside', message: `\`${path}\` is a symlink, which is not followed` } };
  try {
    const entries = readdirSync(join(root, path), { withFileTypes: true });
    // A folder named like a file counts as one, so that reading it says what is wrong.
    const isFolder = (entry: (typeof entries)[number]) =>
      entry.isDirectory() && !/\.(?:md|ya?ml)$/.test(entry.name);
    const names = (folders: boolean) =>
      entries.filter((entry) => isFolder(entry) === folders).map((entry) => entry.name);
    return { names: { files: names(false), folders: names(true) } };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { problem: null };
    return {
      problem: { code: 'file_unreadable', message: `\`${path}\` cannot be read: ${reasonOf(error)}` },
    };
  }
}

/** The first symlink on a way through the project, or null. A way that leaves the project is refused by who reads. */
export function linkOn(root: string, path: string): string | null {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count++) {
    const way = names.slice(0, count).join('/');
    try {
      if (lstatSync(join(root, way)).isSymbolicLink()) return way;
    } catch {
      return null;
    }
  }
  return null;
}
