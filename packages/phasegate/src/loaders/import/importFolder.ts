import { readdir } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { PhasegateError, type Problem } from '@phasegate/core';
import type { Imported, ImportedKey, Loaded } from '../../runtime/ports.ts';

/** A folder, and how it is named in the report. */
export interface NamedFolder {
  readonly folder: string;
  readonly namedFolder: string;
}

/** Imports a folder of phases in Markdown. Our own loader reads it as it is; what it does not obey is in the report. */
export async function importFolder(
  { folder, namedFolder }: NamedFolder,
  { loadFolder }: { loadFolder(root: string, path: string): Promise<Loaded> },
): Promise<Imported> {
  const name = basename(folder);
  const { workflow, problems, files } = await loadFolder(dirname(folder), `${name}/metadata.json`);
  const inReport = (file: string) => posix.join(namedFolder, posix.relative(name, file));
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (workflow === null || errors.length > 0) {
    throw new PhasegateError('workflow_invalid', `\`${namedFolder}\` cannot be read as it is`, {
      problems: errors.map((problem) => ({ ...problem, file: inReport(problem.file) })),
      hint: 'each line says what is in the way: correct it there, and import the folder again',
    });
  }
  const read = Object.keys(files).filter((file) => file.startsWith(`${name}/`));
  const keys: ImportedKey[] = read.map((file) => ({
    file: inReport(file),
    line: 1,
    column: 1,
    key: posix.relative(name, file),
    became: 'mapped',
    text: 'read as it is',
  }));
  const there = await readdir(folder, { recursive: true, withFileTypes: true });
  const unread = there
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !read.includes(`${name}/${file}`))
    .toSorted();
  for (const file of unread) {
    const text = 'not read: no phase uses it';
    keys.push({
      file: posix.join(namedFolder, file),
      line: 1,
      column: 1,
      key: file,
      became: 'left_out',
      text,
    });
  }
  return {
    kind: 'praxis-folder',
    workflow: workflow.id,
    phases: workflow.phases.map(({ id }) => String(id)),
    gates: workflow.phases.filter(({ humanGate }) => humanGate !== null).map(({ id }) => String(id)),
    text: null,
    files: read.map((file) => posix.relative(name, file)),
    keys: [...keys, ...problems.map((note) => noted({ ...note, file: inReport(note.file) }))],
    added: [],
  };
}

function noted({ file, line, column, code, message }: Problem): ImportedKey {
  return { file, line, column, key: code, became: 'left_out', text: message };
}
