import { hash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  canonicalJson,
  ERROR_CODES,
  type ErrorCode,
  type Json,
  PhasegateError,
  type Problem,
  type Workflow,
} from '@phasegate/core';
import { compileGlob, didYouMean, type Unaccepted } from '@phasegate/core/model';
import { describeWorkflows } from './describeWorkflows.ts';
import type {
  Catalog,
  CatalogEntry,
  CatalogWorkflow,
  Loaded,
  Loader,
  StartingWith,
  WorkflowPart,
} from './ports.ts';
import { closureHash } from './trust/acceptance.ts';

/** What a catalog is made of. */
export interface CatalogOptions {
  /** Absolute path of the project's root. */
  readonly root: string;
  readonly loaders: readonly Loader[];
  /** Further places, as globs relative to the root. */
  readonly globs: readonly string[];
}

/** Folders that hold workflows at any depth; at the root itself only files count. */
const FOLDERS = ['workflows', '.phasegate/workflows', '.praxis-os/workflows'];
const SKIPPED = new Set(['node_modules', '.git', 'dist']);
const MOST_FILES = 2000;
const DEEPEST = 6;

/** The workflows of a project, found by where they lie. */
export function createCatalog({ root, loaders, globs }: CatalogOptions): Catalog {
  const loaderFor = (path: string) => loaders.find((loader) => loader.accepts(path));

  async function list(): Promise<readonly CatalogEntry[]> {
    const entries: CatalogEntry[] = [];
    for (const path of findFiles(root, globs)) {
      const loader = loaderFor(path);
      const peeked = await loader?.peek({ root, path });
      if (loader && peeked) entries.push({ ...peeked, path, format: loader.format });
    }
    return entries;
  }

  async function load(name: string, starting?: StartingWith): Promise<CatalogWorkflow> {
    const entries = await list();
    const byPath = entries.filter((entry) => entry.path === name || entry.path === relativePath(root, name));
    const byId = entries.filter((entry) => entry.id === name);
    const found =
      [byPath, byId, entries.filter((entry) => entry.title === name)].find((some) => some.length > 0) ?? [];
    const [entry, second] = found;
    if (entry === undefined) {
      const names = entries.map((one) => one.id);
      throw new PhasegateError(
        'workflow_unknown',
        `there is no workflow \`${name}\`${didYouMean(name, names)}`,
        {
          hint: names.length === 0 ? 'phasegate init' : `phasegate list shows ${names.join(', ')}`,
        },
      );
    }
    if (second !== undefined) {
      const paths = found.map((one) => `\`${one.path}\``).join(' and ');
      throw new PhasegateError('workflow_ambiguous', `${paths} both define \`${name}\`; name the file`);
    }
    const loader = loaderFor(entry.path) as Loader;
    return valid(await loader.load({ root, path: entry.path }, starting), entry, root);
  }

  return {
    list,
    load,
    describe: () => describeWorkflows({ list, load }),
    async validate(paths) {
      const wanted = (path: string) => loaderFor(path) !== undefined;
      const entries = await list();
      const checked =
        paths.length === 0
          ? entries.map((entry) => entry.path)
          : paths.flatMap((path) => given(root, path, wanted));
      const problems: Problem[] = [];
      const unaccepted: Unaccepted[] = [];
      const ids = new Map<string, string>();
      for (const path of checked) {
        const loader = loaderFor(path) ?? loaders.find((one) => one.format === guessFormat(path));
        if (loader === undefined) {
          problems.push({
            file: path,
            line: 1,
            column: 1,
            code: 'unknown_format',
            message: `\`${path}\` is not a workflow file`,
            severity: 'error',
          });
          continue;
        }
        const loaded = await loader.load({ root, path });
        problems.push(...loaded.problems);
        if (loaded.unaccepted === true) {
          const id = entries.find((entry) => entry.path === path)?.id ?? path;
          unaccepted.push(unacceptedOf(loaded, { id, path }));
        }
        if (loaded.workflow !== null) ids.set(path, loaded.workflow.id);
      }
      return { checked, problems: [...problems, ...sharedIds(ids, entries)], unaccepted };
    },
  };
}

/** Files that define one workflow: none of them can be started by its name. A file of elsewhere is only a draft. */
function sharedIds(
  checked: ReadonlyMap<string, string>,
  entries: readonly CatalogEntry[],
): readonly Problem[] {
  return [...checked].flatMap(([file, id]): readonly Problem[] => {
    const found = entries.some((entry) => entry.path === file) ? entries : [];
    const same = [...found.map((entry) => [entry.path, entry.id] as const), ...checked]
      .filter(([path, other]) => other === id && path !== file)
      .map(([path]) => `\`${path}\``);
    if (same.length === 0) return [];
    const message = `the workflow id \`${id}\` is also that of ${[...new Set(same)].join(', ')}: give each its own`;
    return [{ file, line: 1, column: 1, code: 'duplicate_workflow', message, severity: 'error' }];
  });
}

function valid(loaded: Loaded, entry: CatalogEntry, root: string): CatalogWorkflow {
  const { workflow, problems } = loaded;
  if (loaded.unaccepted === true) {
    throw new PhasegateError('untrusted_workflow', `no human has accepted \`${entry.path}\` as it is now`, {
      hint: `phasegate trust ${entry.id}; \`--as NAME\` lets this one command load it, where it takes that`,
      unaccepted: unacceptedOf(loaded, entry),
    });
  }
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (workflow === null || errors.length > 0) {
    const [only] = errors;
    // A single fault that knows its own name and cure (a source, a template) is said as itself.
    if (errors.length === 1 && only?.hint !== undefined && isErrorCode(only.code))
      throw new PhasegateError(only.code, only.message, { problems: errors, hint: only.hint });
    const count = errors.length === 1 ? 'a problem' : `${errors.length} problems`;
    throw new PhasegateError('workflow_invalid', `\`${entry.path}\` has ${count}`, { problems: errors });
  }
  const migrations = migrationHashes(workflow.database?.migrations ?? null, root);
  const files = { ...loaded.files, ...filesIn(workflow.database?.migrations ?? '', migrations) };
  const { accepted, hash: digest } = judgedWith(workflow, migrations);
  return {
    workflow: accepted,
    path: entry.path,
    format: entry.format,
    hash: digest,
    closure: closureHash(files),
    files,
    notes: problems,
    placeOf: (part) => loaded.places?.(draftPath(accepted, part)) ?? null,
  };
}

/** Loaders know places by their path in the draft, where phases and properties have a number. */
function draftPath(
  { phases, properties }: Workflow,
  { kind, name }: WorkflowPart,
): readonly (string | number)[] {
  if (kind === 'param') return ['params', name];
  if (kind === 'phase') return ['phases', phases.findIndex(({ id }) => String(id) === String(name))];
  return ['properties', (properties ?? []).findIndex((property) => property.name === name)];
}

function unacceptedOf({ files }: Loaded, { id, path }: Pick<CatalogEntry, 'id' | 'path'>): Unaccepted {
  return { workflow: id, path, closure: closureHash(files), files };
}

/** Migrations run with the workflow, so what a human accepts covers them. */
function migrationHashes(folder: string | null, root: string): Readonly<Record<string, string>> {
  if (folder === null) return {};
  const place = join(root, folder);
  // Pipes and devices are not migrations, and reading one could take for ever.
  const isFile = (name: string) => statSync(join(place, name), { throwIfNoEntry: false })?.isFile() === true;
  const found = existsSync(place) ? readdirSync(place).filter((name) => name.endsWith('.sql')) : [];
  const names = found.filter(isFile);
  const hashes = names
    .sort()
    .map((name) => [name, hash('sha256', readFileSync(join(place, name)), 'hex')] as const);
  return Object.fromEntries(hashes);
}

function filesIn(folder: string, hashes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(hashes).map(([name, sha]) => [`${folder}/${name}`, sha]));
}

/** A workflow with the migrations it is judged with, and its hash: made once, so that its runs share one value. */
interface Judged {
  readonly migrations: string;
  readonly accepted: Workflow;
  readonly hash: string;
}

const judged = new WeakMap<Workflow, Judged>();

function judgedWith(workflow: Workflow, hashes: Readonly<Record<string, string>>): Judged {
  const migrations = canonicalJson(hashes);
  const known = judged.get(workflow);
  if (known?.migrations === migrations) return known;
  const accepted = withAccepted(workflow, hashes);
  const made = { migrations, accepted, hash: sha256(canonicalJson(accepted as unknown as Json)) };
  judged.set(workflow, made);
  return made;
}

/** INVARIANT: a run keeps the migrations that were there when its workflow was judged, and no others are applied for it. */
function withAccepted(workflow: Workflow, accepted: Readonly<Record<string, string>>): Workflow {
  const { database } = workflow;
  if (database === undefined || database.migrations === null) return workflow;
  const judgedBy = Object.freeze({ ...database, accepted: Object.freeze({ ...accepted }) });
  return Object.freeze({ ...workflow, database: judgedBy });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

function findFiles(root: string, globs: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const add = (folder: string, depth: number, wanted: (path: string) => boolean) => {
    for (const entry of entriesOf(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (SKIPPED.has(entry.name) || found.size >= MOST_FILES || leaves(root, path)) continue;
      if (entry.isDirectory() && depth > 0) add(path, depth - 1, wanted);
      else if (entry.isFile() && wanted(path)) found.add(path);
    }
  };
  add('', 0, () => true);
  for (const folder of FOLDERS) if (isInside(root, folder)) add(folder, DEEPEST, () => true);
  for (const glob of globs) {
    const matches = compileGlob(glob);
    const folder = literalPrefix(glob);
    if (isInside(root, folder)) add(folder, DEEPEST, (path) => matches(path));
  }
  return [...found].sort();
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

/** The folder a glob starts in, so that a search need not walk the whole project. */
function literalPrefix(glob: string): string {
  const parts = glob.split('/');
  const wild = parts.findIndex((part) => /[*?{[]/.test(part));
  return parts.slice(0, wild === -1 ? parts.length - 1 : wild).join('/');
}

/** A link that leads out of the project is not the project's. */
function leaves(root: string, path: string): boolean {
  const there = lstatSync(join(root, path), { throwIfNoEntry: false });
  return there?.isSymbolicLink() === true && !isInside(root, path);
}

/** Whether a path is there and, with every link followed, still in the project. */
function isInside(root: string, path: string): boolean {
  try {
    return `${realpathSync(join(root, path))}${sep}`.startsWith(`${realpathSync(root)}${sep}`);
  } catch {
    return false;
  }
}

/** The files a path on the command line stands for. */
function given(root: string, path: string, wanted: (path: string) => boolean): readonly string[] {
  // As the shell sees it; else as the project does, so that `--project DIR` works from anywhere.
  const inside = existsSync(resolve(path)) ? relativePath(root, path) : path;
  let isFolder: boolean;
  try {
    isFolder = statSync(resolve(root, inside)).isDirectory();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : 'cannot be read';
    throw new PhasegateError('file_unreadable', `\`${path}\` ${reason}`, { cause: error });
  }
  if (inside === '..' || inside.startsWith('../') || isAbsolute(inside)) {
    throw new PhasegateError('path_outside', `\`${path}\` is outside the project \`${root}\``, {
      hint: '--project DIR',
    });
  }
  if (!isFolder) return [inside];
  return findFiles(root, [inside === '' ? '**' : `${inside}/**`]).filter(
    // A folder stands for the workflows in it; only a file that was named must be one.
    (file) => wanted(file) && (inside === '' || file.startsWith(`${inside}/`)),
  );
}

function relativePath(root: string, path: string): string {
  return relative(root, resolve(process.cwd(), path)).split(sep).join('/');
}

function guessFormat(path: string): Loader['format'] | null {
  if (/\.ya?ml$/.test(path)) return 'yaml';
  return /\.m?[jt]s$/.test(path) ? 'typescript' : null;
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
