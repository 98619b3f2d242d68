import { createHash } from 'node:crypto';
import { canonicalJson, type Problem } from '@phasegate/core';
import { readSource, resolveInside } from '../readSource.ts';
import type { SealedModule } from './hostProtocol.ts';
import { ImportResolver, type Place } from './importResolver.ts';
import { importsOf } from './importsOf.ts';
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

/** Finds a module's closure by reading, never by running. */
export async function closureOf(root: string, path: string): Promise<Closure> {
  const files: ClosureFile[] = [];
  const problems: Problem[] = [];
  const sealed: Record<string, SealedModule> = {};
  const resolver = new ImportResolver();
  let module: Closure['module'] = null;
  let size = 0;
  const open: Place[] = [{ base: root, within: path, path, folder: null }];
  const seen = new Set([path]);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const read = await readPlace(next, resolver);
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
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, code: codeOf(files), module, problems, sealed };
}

/** What one file is, what it imports, and what is wrong with it. */
interface ReadPlace {
  readonly file?: ClosureFile;
  readonly sealed?: SealedModule;
  readonly parsed?: ParsedModule & { readonly ok: true };
  readonly imports: readonly Place[];
  readonly problems: readonly Problem[];
}

async function readPlace(place: Place, resolver: ImportResolver): Promise<ReadPlace> {
  const { base, within, path } = place;
  const source = await readSource(base, within);
  const inside = await resolveInside(base, within);
  if (!source.ok || !inside.ok) {
    const problem: Problem[] = source.ok ? [] : [{ ...source, file: path, severity: 'error' }];
    return { imports: [], problems: problem };
  }
  const { real } = inside;
  const file = { path, real, sha256: source.sha256 };
  if (!CODE.test(path)) {
    return { file, sealed: { format: 'json', source: source.text, links: {} }, imports: [], problems: [] };
  }
  const parsed = parseModule(path, source.text);
  if (!parsed.ok) {
    const { line, column, message } = parsed;
    const problem: Problem = { file: path, line, column, code: 'syntax', message, severity: 'error' };
    return { file, imports: [], problems: [problem] };
  }
  const links: Record<string, string> = {};
  const imports: Place[] = [];
  const problems: Problem[] = [];
  for (const found of importsOf(parsed.program)) {
    const outcome = resolver.resolve({ ...place, real }, found);
    if ('code' in outcome)
      problems.push({ file: path, ...parsed.lines.at(found.at), ...outcome, severity: 'error' });
    if (!('target' in outcome)) continue;
    links[`${found.kind}:${found.specifier}`] = outcome.target;
    imports.push(...outcome.places);
  }
  return { file, sealed: { format: parsed.format, source: parsed.code, links }, parsed, imports, problems };
}

/** The hash a run remembers the code by. */
export function codeOf(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const list = files.map((file) => [file.path, file.sha256]);
  return createHash('sha256').update(canonicalJson(list)).digest('hex');
}
