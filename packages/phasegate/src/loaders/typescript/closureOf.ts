import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson, type Problem } from '@phasegate/core';
import type { DefinitionSource } from '../../runtime/ports.ts';
import { readResolved, readSource, resolveInside } from '../readSource.ts';
import type { SealedModule } from './hostProtocol.ts';
import { ImportResolver, type Place } from './importResolver.ts';
import { type FoundImport, importsOf } from './importsOf.ts';
import { type ParsedModule, parseModule } from './parseModule.ts';

/** One file of a closure. */
export interface ClosureFile {
  /** Relative to the project, with forward slashes; of a package, from `node_modules` on, wherever that is. */
  readonly path: string;
  /** Where it really is. */
  readonly real: string;
  readonly sha256: string;
}

/** A module and every file it imports, directly or not: of the project, and of packages. */
export interface Closure {
  readonly files: readonly ClosureFile[];
  /** SHA-256 over the sorted list of paths and hashes. */
  readonly code: string;
  /** The module itself, where its syntax is right. */
  readonly module: (ParsedModule & { readonly ok: true }) | null;
  readonly problems: readonly Problem[];
  /** What is run: made from the very bytes that were hashed, by real path. */
  readonly sealed: Readonly<Record<string, SealedModule>>;
}

const MAX_FILES = 500;
const MAX_SIZE = 16_777_216;
const CODE = /\.[mc]?[jt]s$/i;

/**
 * Finds a module's closure by reading, never by running. Every file is read and hashed each time. What is in `known` is
 * not parsed again; afterwards it holds what this closure is made of, and nothing else.
 */
export async function closureOf(
  root: string,
  path: string,
  known: KnownModules = new Map(),
): Promise<Closure> {
  const files: ClosureFile[] = [];
  const problems: Problem[] = [];
  const sealed: Record<string, SealedModule> = {};
  const made: KnownModules = new Map();
  const reading: Reading = {
    resolver: new ImportResolver(),
    async read(name, source) {
      const key = `${source.sha256} ${name}`;
      const kept = known.get(key);
      // Others get their turn: a large package has many files, and parsing one takes a while.
      if (kept === undefined) await setImmediate();
      const module = kept ?? readModule(name, source.text, name === path);
      made.set(key, module);
      return module;
    },
  };
  let module: Closure['module'] = null;
  let size = 0;
  const open: Place[] = [{ base: root, within: path, path, folder: null }];
  const seen = new Set([path]);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const read = await readPlace(next, reading);
    problems.push(...read.problems);
    if (read.file !== undefined) files.push(read.file);
    if (read.file !== undefined && read.sealed !== undefined) sealed[read.file.real] = read.sealed;
    if (next.path === path) module = read.parsed ?? null;
    size += read.sealed?.source.length ?? 0;
    for (const place of read.imports) {
      if (seen.has(place.path) || seen.size >= MAX_FILES) continue;
      seen.add(place.path);
      open.push(place);
    }
  }
  if (seen.size >= MAX_FILES || size > MAX_SIZE) {
    const message = `\`${path}\` imports more than ${MAX_FILES} files or ${MAX_SIZE} characters, those of packages included`;
    problems.push({ file: path, line: 1, column: 1, code: 'too_large', message, severity: 'error' });
  }
  known.clear();
  for (const [key, read] of made) known.set(key, read);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, code: codeOf(files), module, problems, sealed };
}

/** What was read of modules before, by their name and the hash of their bytes. */
export type KnownModules = Map<string, ReadModule>;

/** What the text of one module says: that needs no reading of any other file, and stays the same with its bytes. */
export interface ReadModule {
  /** Absent where its syntax is wrong. */
  readonly code?: Pick<SealedModule, 'format' | 'source'>;
  readonly imports: readonly (FoundImport & Spot)[];
  readonly problems: readonly Problem[];
  /** Of the workflow's own module alone: the trees of all packages would fill the memory. */
  readonly parsed: Closure['module'];
}

type Spot = Pick<Problem, 'line' | 'column'>;

/** What one file is, what it imports, and what is wrong with it. */
interface ReadPlace {
  readonly file?: ClosureFile;
  readonly sealed?: SealedModule;
  readonly parsed?: Closure['module'];
  readonly imports: readonly Place[];
  readonly problems: readonly Problem[];
}

interface Reading {
  readonly resolver: ImportResolver;
  /** What the text of a file says. */
  read(path: string, source: DefinitionSource & { readonly ok: true }): Promise<ReadModule>;
}

async function readPlace(place: Place, { resolver, read }: Reading): Promise<ReadPlace> {
  const { base, within, path } = place;
  const inside = resolveInside(base, within);
  const source = inside.ok ? readResolved(inside, within) : await readSource(base, within);
  if (!source.ok || !inside.ok) {
    const problem: Problem[] = source.ok ? [] : [{ ...source, file: path, severity: 'error' }];
    return { imports: [], problems: problem };
  }
  const { real } = inside;
  const file = { path, real, sha256: source.sha256 };
  if (!CODE.test(path)) {
    return { file, sealed: { format: 'json', source: source.text, links: {} }, imports: [], problems: [] };
  }
  const module = await read(path, source);
  if (module.code === undefined) return { file, imports: [], problems: module.problems };
  const links: Record<string, string> = {};
  const imports: Place[] = [];
  const problems: Problem[] = [];
  // Looked for each time: another file may be meant now, though this one says the same.
  for (const found of module.imports) {
    const outcome = resolver.resolve({ ...place, real }, found);
    const { line, column } = found;
    if ('code' in outcome) problems.push({ file: path, line, column, ...outcome, severity: 'error' });
    if (!('target' in outcome)) continue;
    links[`${found.kind}:${found.specifier}`] = outcome.target;
    imports.push(...outcome.places);
  }
  return { file, sealed: { ...module.code, links }, parsed: module.parsed, imports, problems };
}

function readModule(path: string, text: string, isMain: boolean): ReadModule {
  const parsed = parseModule(path, text);
  if (!parsed.ok) {
    const { line, column, message } = parsed;
    const problem: Problem = { file: path, line, column, code: 'syntax', message, severity: 'error' };
    return { imports: [], problems: [problem], parsed: null };
  }
  const { program, lines, format, code } = parsed;
  return {
    code: { format, source: code },
    imports: [...importsOf(program)].map((found) => ({ ...found, ...lines.at(found.at) })),
    problems: [],
    parsed: isMain ? parsed : null,
  };
}

/** The hash a run remembers the code by. */
export function codeOf(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const list = files.map((file) => [file.path, file.sha256]);
  return createHash('sha256').update(canonicalJson(list)).digest('hex');
}
