import { isJsonObject, type Json, own } from '@phasegate/core';
import type { Loader } from '../ports.ts';

/** What is known of a file that may define a workflow, without reading it again. */
export interface KnownFile {
  /** As they were before it was read; null where another change could have the same. */
  readonly facts: string | null;
  /** SHA-256 of what was read; null where the loader did not say. */
  readonly sha256: string | null;
  /** Whether something lay at other paths that the answer depends on. */
  readonly looked: Readonly<Record<string, boolean>>;
  /** What the file defines; null for none. */
  readonly line: NamedFile | null;
}

/** By what names a workflow is found. */
export interface NamedFile {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  readonly format: Loader['format'];
}

/** Where the text of an index is kept between processes. It is a help to find files, and never believed alone. */
export interface ListingIndex {
  /** Null where there is none, or none that this project wrote. */
  read(): Promise<string | null>;
  /** Keeps nothing where the project has no state. */
  write(text: string): Promise<void>;
}

/** The text of what is known, of files found under these globs. */
export function indexText(globs: readonly string[], files: ReadonlyMap<string, KnownFile>): string {
  const rows = [...files].map(([path, { facts, sha256, looked, line }]) => ({
    path,
    facts,
    sha256,
    looked,
    line: line && { id: line.id, title: line.title, format: line.format },
  }));
  return JSON.stringify({ form: FORM, globs, files: rows });
}

/** What a text says; empty for a text of another form, of other globs, or with anything in it that is not understood. */
export function readIndex(text: string | null, globs: readonly string[]): Map<string, KnownFile> {
  const files = new Map<string, KnownFile>();
  const value = parsed(text);
  const rows = own(value, 'files');
  const ours = own(value, 'form') === FORM && JSON.stringify(own(value, 'globs')) === JSON.stringify(globs);
  if (!ours || !Array.isArray(rows)) return files;
  for (const row of rows as readonly Json[]) {
    const path = own(row, 'path');
    const known = typeof path === 'string' ? fileOf(row, path) : null;
    if (typeof path !== 'string' || known === null) return new Map();
    files.set(path, known);
  }
  return files;
}

function fileOf(row: Json, path: string): KnownFile | null {
  const [facts, sha256, looked] = [own(row, 'facts'), own(row, 'sha256'), own(row, 'looked')];
  const line = lineOf(own(row, 'line'), path);
  if (!isTextOrNull(facts) || !isTextOrNull(sha256) || !isJsonObject(looked) || line === undefined)
    return null;
  if (!Object.values(looked).every((there) => typeof there === 'boolean')) return null;
  return { facts, sha256, looked: looked as Readonly<Record<string, boolean>>, line };
}

function lineOf(value: unknown, path: string): NamedFile | null | undefined {
  if (value === null) return null;
  const [id, title, format] = [own(value, 'id'), own(value, 'title'), own(value, 'format')];
  if (typeof id !== 'string' || typeof title !== 'string') return undefined;
  const known = FORMATS.find((one) => one === format);
  return known === undefined ? undefined : { id, title, path, format: known };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

const FORMATS: readonly Loader['format'][] = ['yaml', 'typescript', 'markdown'];
/** Raised when what a listing is made from changes. */
const FORM = 1;
