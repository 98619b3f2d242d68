import { hash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  canonicalJson,
  ERROR_CODES,
  type ErrorCode,
  type Json,
  PhasegateError,
  type Problem,
  type Workflow,
} from '@phasegate/core';
import { didYouMean, rulePlaces, shellWord, type Unaccepted } from '@phasegate/core/model';
import { readRegular } from '../files/readRegular.ts';
import { describeWorkflows } from './describeWorkflows.ts';
import { createListing, tooMuch } from './listing/keptListing.ts';
import type { ListingIndex, NamedFile } from './listing/listingIndex.ts';
import { placesBelow } from './listing/places.ts';
import { type Cut, findFiles } from './listing/projectFiles.ts';
import { Shared } from './listing/shared.ts';
import { type NamedPlace, sharedIds, withSharedIds } from './listing/sharedIds.ts';
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
  /** Where it is kept between processes which file defines what. */
  readonly index?: ListingIndex;
}

/** The workflows of a project, found by where they lie. */
export function createCatalog({ root, loaders, globs, index }: CatalogOptions): Catalog {
  const loaderFor = (path: string) => loaders.find((loader) => loader.accepts(path));
  const listing = createListing({ root, loaders, globs, ...(index && { index }) });
  const shared = new Shared<CatalogWorkflow>();
  const list = async () => {
    const { entries, cut } = await listing.entries();
    if (cut !== null) throw tooMuch(cut);
    return withSharedIds(entries);
  };

  let begun = Promise.resolve();
  /** Each load begins in a turn of its own: many may be asked for at once, and others are to be served in between. */
  const loadOf = async (loader: Loader, path: string, starting?: StartingWith) => {
    begun = begun.then(() => new Promise((resume) => setImmediate(resume)));
    await begun;
    return loader.load({ root, path }, starting);
  };

  /** A path means its file whatever else there is, so nothing else is looked at. Null where it is not that of a workflow. */
  async function loadAt(path: string, starting: StartingWith | undefined): Promise<CatalogWorkflow | null> {
    for (let again = false; ; again = true) {
      const listed = await listing.at(path, again);
      const loader = loaderFor(path);
      if (listed === null || listed.line === null || loader === undefined) return null;
      const loaded = await loadOf(loader, path, starting);
      if (isOneReading(listed.sha256, loaded.files[path])) return valid(loaded, listed.line, root);
      if (again) throw changedWhileRead(path);
    }
  }

  /** Null where the file is not what was listed; `sure` where that was read anew. */
  async function loadListed(
    entry: NamedFile,
    { starting, sure }: { readonly starting: StartingWith | undefined; readonly sure: boolean },
  ): Promise<CatalogWorkflow | null> {
    const listed = await listing.read(entry.path);
    const isSame = listed.line?.id === entry.id && listed.line.title === entry.title;
    if (!isSame && (!sure || listed.line !== null)) return null;
    const loaded = await loadOf(loaderFor(entry.path) as Loader, entry.path, starting);
    if (!isOneReading(listed.sha256, loaded.files[entry.path])) return null;
    await listing.keep();
    return valid(loaded, entry, root);
  }

  /**
   * INVARIANT: what is kept only says where to look. The file that is found is read and hashed itself, with all it is
   * made from; if it is not what was listed, or if nothing or too much is found, everything is read again.
   */
  async function find(name: string, starting: StartingWith | undefined): Promise<CatalogWorkflow> {
    for (let again = false; ; again = true) {
      const { files, fresh, cut } = await listing.names();
      if (cut !== null) throw tooMuch(cut);
      const found = named(name, files);
      const [entry] = found;
      const sure = again || fresh;
      if (entry !== undefined && found.length === 1) {
        const loaded = await loadListed(entry, { starting, sure });
        if (loaded !== null) return loaded;
        if (again) throw changedWhileRead(entry.path);
      } else if (sure) throw await whyNone(name, found, files);
      listing.forget();
    }
  }

  /** What is wanted may be in a file whose id cannot be read: it is listed by the name of the file. */
  async function whyNone(
    name: string,
    found: readonly NamedFile[],
    files: readonly NamedFile[],
  ): Promise<PhasegateError> {
    if (found.length > 1) return notOne(name, found, files);
    const { entries } = await listing.entries();
    const unread = entries.filter(
      ({ id, path, problems }) => problems.length > 0 && basename(path).startsWith(`${id}.`),
    );
    for (const { path } of unread) {
      const { problems } = (await loaderFor(path)?.load({ root, path })) ?? { problems: [] };
      const wrong = problems.find(({ severity }) => severity === 'error');
      if (wrong === undefined) continue;
      const place = `${wrong.file}:${wrong.line}:${wrong.column}`;
      return new PhasegateError(
        'workflow_unknown',
        `no workflow \`${name}\` was found; \`${path}\` cannot be read: ${place} ${wrong.message}`,
        { hint: `it may be in that file: \`phasegate validate ${shellWord(path)}\` says all that is wrong` },
      );
    }
    return notOne(name, [], files);
  }

  async function loadNamed(name: string, starting: StartingWith | undefined): Promise<CatalogWorkflow> {
    const path = [name, relativePath(root, name)].find(listing.holds);
    return (path === undefined ? null : await loadAt(path, starting)) ?? find(name, starting);
  }

  const load = (name: string, starting?: StartingWith) =>
    shared.ask(`${name}\0${starting === undefined ? '' : canonicalJson({ ...starting })}`, () =>
      loadNamed(name, starting),
    );

  return {
    list,
    load,
    describe: () => describeWorkflows({ list, load }),
    async validate(paths) {
      const wanted = (path: string) => loaderFor(path) !== undefined;
      const { entries, cut } = await listing.entries();
      if (cut !== null && paths.length === 0) throw tooMuch(cut);
      const checked =
        paths.length === 0
          ? entries.map((entry) => entry.path)
          : (await Promise.all(paths.map((path) => given(root, path, wanted)))).flat();
      const problems: Problem[] = [];
      const unaccepted: Unaccepted[] = [];
      const ids = new Map<string, NamedPlace>();
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
        const loaded = await loadOf(loader, path);
        problems.push(...loaded.problems);
        if (loaded.unaccepted === true) {
          const id = entries.find((entry) => entry.path === path)?.id ?? path;
          unaccepted.push(unacceptedOf(loaded, { id, path }));
        }
        // A file with problems of its own defines an id all the same.
        const id = loaded.workflow?.id ?? entries.find((entry) => entry.path === path)?.id;
        if (id !== undefined) ids.set(path, { id, place: loaded.places?.(['id']) ?? null });
      }
      problems.push(...sharedIds(ids, { entries, isListed: listing.holds }));
      if (cut !== null) problems.push(...checked.slice(0, 1).map((path) => notCompared(path, cut)));
      return { checked, problems, unaccepted };
    },
  };
}

/** INVARIANT: what a human is shown and accepts, and what is started, is called by what its own file says, and not by what it said before. */
function isOneReading(listed: string | null, loaded: string | undefined): boolean {
  return listed === null || loaded === undefined || listed === loaded;
}

function changedWhileRead(path: string): PhasegateError {
  return new PhasegateError('file_unreadable', `\`${path}\` changed each time it was read`, {
    hint: 'end what writes to it, and try again',
  });
}

/** The files a name means that is not a path: by id, else by title. */
function named(name: string, files: readonly NamedFile[]): readonly NamedFile[] {
  const found = files.filter(({ id }) => id === name);
  return found.length > 0 ? found : files.filter(({ title }) => title === name);
}

function notOne(name: string, found: readonly NamedFile[], files: readonly NamedFile[]): PhasegateError {
  if (found.length > 1) {
    const [first] = found;
    const paths = found.map((one) => `\`${one.path}\``).join(' and ');
    return new PhasegateError('workflow_ambiguous', `${paths} both define \`${name}\`; name the file`, {
      hint: `phasegate start ${shellWord(first?.path ?? 'PATH')}`,
    });
  }
  const names = files.map((one) => one.id);
  return new PhasegateError(
    'workflow_unknown',
    `there is no workflow \`${name}\`${didYouMean(name, names)}`,
    {
      hint: names.length === 0 ? 'phasegate init' : `phasegate list shows ${names.join(', ')}`,
    },
  );
}

function valid(loaded: Loaded, entry: NamedFile, root: string): CatalogWorkflow {
  const { workflow, problems } = loaded;
  if (loaded.unaccepted === true) {
    throw new PhasegateError('untrusted_workflow', `no human has accepted \`${entry.path}\` as it is now`, {
      hint: `phasegate trust ${shellWord(entry.id)}; \`--as NAME\` lets this one command load it, where it takes that`,
      unaccepted: unacceptedOf(loaded, entry),
    });
  }
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (workflow === null || errors.length > 0) {
    const [only] = errors;
    // A single fault that knows its own name and cure (a source, a template) is said as itself.
    if (errors.length === 1 && only?.hint !== undefined && isErrorCode(only.code))
      throw new PhasegateError(only.code, only.message, { problems: errors, hint: only.hint });
    const isMore = errors.at(-1)?.code === 'more_problems';
    const many = isMore ? `more than ${errors.length - 1}` : errors.length;
    const count = errors.length === 1 ? 'a problem' : `${many} problems`;
    throw new PhasegateError('workflow_invalid', `\`${entry.path}\` has ${count}`, {
      problems: errors,
      hint: `correct the file; \`phasegate validate ${shellWord(entry.path)}\` shows each line`,
    });
  }
  const migrations = migrationHashes(workflow.database?.migrations ?? null, root);
  const files = { ...loaded.files, ...filesIn(workflow.database?.migrations ?? '', migrations) };
  const { accepted, hash: digest } = judgedWith(workflow, migrations);
  const places = loaded.places === undefined ? undefined : rulePlaces(accepted, loaded.places);
  return {
    workflow: accepted,
    path: entry.path,
    format: entry.format,
    hash: digest,
    closure: closureHash(files),
    files,
    notes: problems,
    placeOf: (part) => loaded.places?.(draftPath(accepted, part)) ?? null,
    ...(places === undefined ? {} : { rulePlaces: places }),
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

const MIGRATION = { most: 64 * 1024 * 1024, links: 'follow' } as const;

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
    .map((name) => [name, hash('sha256', readRegular(join(place, name), MIGRATION), 'hex')] as const);
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

/** What was found out is true of the files that were named, and not of their ids. */
function notCompared(file: string, cut: Cut): Problem {
  const message = `its id was not compared with those of all other files: ${tooMuch(cut).message}`;
  return { file, line: 1, column: 1, code: 'too_large', message, severity: 'note' };
}

/** The files a path on the command line stands for. */
async function given(
  root: string,
  path: string,
  wanted: (path: string) => boolean,
): Promise<readonly string[]> {
  // As the shell sees it; else as the project does, so that `--project DIR` works from anywhere.
  const inside = relativePath(root, existsSync(resolve(path)) ? path : resolve(root, path));
  let isFolder: boolean;
  try {
    isFolder = statSync(resolve(root, inside)).isDirectory();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new PhasegateError('file_unreadable', `\`${path}\` ${reason}`, {
      cause: error,
      hint: 'name a file or folder of the project; `phasegate list` shows where its workflows are',
    });
  }
  if (inside === '..' || inside.startsWith('../') || isAbsolute(inside)) {
    throw new PhasegateError('path_outside', `\`${path}\` is outside the project \`${root}\``, {
      hint: '--project DIR',
    });
  }
  if (!isFolder) return [inside];
  // A folder stands for the workflows in it; only a file that was named must be one.
  const { files, cut } = await findFiles(root, placesBelow(inside), { accepts: wanted });
  if (cut !== null) throw tooMuch(cut);
  return files;
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
