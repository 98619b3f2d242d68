import { lstat, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { frontMatterOf } from '@phasegate/core/model';
import type { DefinitionReader, SourceFile } from '@phasegate/core/ports';
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
  readonly files: Record<string, string> = {};

  constructor({ root, path }: SourceFile, { reader, report }: Reading) {
    this.root = root;
    this.path = path;
    this.report = report;
    this.reader = reader;
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
    const link = await linkOn(this.root, path);
    if (link !== null) {
      this.report.error(topOf(path), {
        code: 'path_outside',
        message: `\`${link}\` is a symlink, which is not followed`,
      });
      return null;
    }
    const source = await this.reader.source(this.root, path);
    if (source.ok) {
      this.files[source.path] = source.sha256;
      return source.text;
    }
    if (source.sha256 !== undefined) this.files[path] = source.sha256;
    if (missing !== undefined && source.code === 'file_unreadable' && source.message.endsWith('is not there'))
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
    if ((await linkOn(this.root, path)) !== null) {
      this.report.error(topOf(path), {
        code: 'path_outside',
        message: `\`${path}\` is a symlink, which is not followed`,
      });
      return null;
    }
    try {
      const entries = await readdir(join(this.root, path), { withFileTypes: true });
      // A folder named like a file counts as one, so that reading it says what is wrong.
      const isFolder = (entry: (typeof entries)[number]) =>
        entry.isDirectory() && !/\.(?:md|ya?ml)$/.test(entry.name);
      const names = (folders: boolean) =>
        entries.filter((entry) => isFolder(entry) === folders).map((entry) => entry.name);
      return { files: names(false), folders: names(true) };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        this.report.error(topOf(path), {
          code: 'file_unreadable',
          message: `\`${path}\` cannot be read (${code})`,
        });
      return null;
    }
  }
}

/** The first symlink on a way through the project, or null. A way that leaves the project is refused by who reads. */
export async function linkOn(root: string, path: string): Promise<string | null> {
  const names = path.split('/');
  for (let count = 1; count <= names.length; count++) {
    const way = names.slice(0, count).join('/');
    try {
      if ((await lstat(join(root, way))).isSymbolicLink()) return way;
    } catch {
      return null;
    }
  }
  return null;
}
