import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson, type Problem } from '@phasegate/core';
import type { DefinitionSource } from '../../runtime/ports.ts';
import { readResolved, readSource, resolveInside } from '../readSource.ts';
import { type ClosureFile, ClosureParts, type ReadFile, wrongIn } from './closureParts.ts';
import type { LinkedFile } from './freeImports.ts';
import type { SealedModule } from './hostProtocol.ts';
import { ImportResolver, locationOf, type Place } from './importResolver.ts';
import { type FoundImport, importsOf } from './importsOf.ts';
import { type ParsedModule, parseModule } from './parseModule.ts';

/** A module and every file it imports, directly or not: of the project, and of packages. */
export interface Closure {
  readonly files: readonly ClosureFile[];
  /** SHA-256 over the sorted list of paths and hashes. */
  readonly code: string;
  /** The module itself, where its syntax is right. */
  readonly module: (ParsedModule & { readonly ok: true }) | null;
  readonly problems: readonly Problem[];
  /** What is run: made from the very bytes that were hashed, by where each file is under the name it was imported by. */
  readonly sealed: Readonly<Record<string, SealedModule>>;
  /** Where the module itself is among those. */
  readonly location: string;
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
  const problems: Problem[] = [];
  const parts = new ClosureParts();
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
  const main: Place = { base: realRoot(root), within: path, path, folder: null };
  const open: Place[] = [main];
  const seen = new Map([[path, locationOf(main)]]);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const read = await readPlace(next, reading);
    problems.push(...read.problems, ...parts.add(next, read));
    if (next.path === path) module = read.parsed ?? null;
    size += read.sealed?.source.length ?? 0;
    for (const place of read.imports) {
      const known = seen.get(place.path);
      if (known !== undefined && known !== locationOf(place)) problems.push(parts.clash(place.path));
      if (known !== undefined || seen.size >= MAX_FILES) continue;
      seen.set(place.path, locationOf(place));
      open.push(place);
    }
  }
  if (seen.size >= MAX_FILES || size > MAX_SIZE) {
    const message = `\`${path}\` imports more than ${MAX_FILES} files or ${MAX_SIZE} characters, those of packages included`;
    problems.push(wrongIn(path, 'too_large', message));
  }
  known.clear();
  for (const [key, read] of made) known.set(key, read);
  const files = parts.files().sort((a, b) => (a.path < b.path ? -1 : 1));
  const { sealed } = parts;
  return { files, code: codeOf(files), module, problems, sealed, location: locationOf(main) };
}

/** A folder that is not there is reported by who reads in it. */
function realRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch {
    return root;
  }
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
interface ReadPlace extends ReadFile {
  readonly parsed?: Closure['module'];
  /** The files to be read for it. */
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
    return { imports: [], linked: [], problems: problem };
  }
  const { real } = inside;
  const file = { path, sha256: source.sha256 };
  if (!CODE.test(path)) {
    const sealed = { format: 'json', source: source.text, links: {} } as const;
    return { file, sealed, imports: [], linked: [], problems: [] };
  }
  const module = await read(path, source);
  if (module.code === undefined) return { file, imports: [], linked: [], problems: module.problems };
  const links: Record<string, string> = {};
  const imports: Place[] = [];
  const linked: LinkedFile['imports'][number][] = [];
  const problems: Problem[] = [];
  // Looked for each time: another file may be meant now, though this one says the same.
  for (const found of module.imports) {
    const outcome = resolver.resolve({ ...place, real }, found);
    const { line, column } = found;
    if ('code' in outcome) problems.push({ file: path, line, column, ...outcome, severity: 'error' });
    const target = 'target' in outcome ? outcome.target : null;
    linked.push({ found, target: target?.path ?? null });
    if (!('target' in outcome)) continue;
    links[`${found.kind}:${found.specifier}`] = locationOf(outcome.target);
    imports.push(outcome.target, ...outcome.manifests);
  }
  return { file, sealed: { ...module.code, links }, parsed: module.parsed, imports, linked, problems };
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
  return hash('sha256', canonicalJson(list), 'hex');
}
