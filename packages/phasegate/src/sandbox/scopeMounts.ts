import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { guardOf, isGuardedFolder } from '@phasegate/core/model';
import type { SandboxScope } from '@phasegate/core/ports';
import { type OpenFolder, openFolderBeneath } from '../workspace/openFolderBeneath.ts';
import { lies, type ScopeRoots, scopeRoots } from './scopeRoots.ts';

/** Something of the workspace to be shown in a sandbox, held open so that nothing can be put in its place. */
export interface ScopeMount {
  readonly descriptor: number;
  /** Absolute. */
  readonly place: string;
  readonly writable: boolean;
}

/** The workspace as one scope shows it. */
export interface ScopeMounts {
  /** In the order they are mounted: later ones stand on earlier ones. */
  readonly mounts: readonly ScopeMount[];
  /** Those that are writable, by their paths in the workspace; `place` is absolute. */
  readonly writable: readonly {
    readonly path: string;
    readonly place: string;
    readonly descriptor: number;
  }[];
  /** What may be written beyond the scope, in words. */
  readonly loose: readonly string[];
  close(): Promise<void>;
}

/**
 * Opens what a sandbox of this scope is made of: the workspace to read, folders of the scope to write. In a folder that
 * is in the scope only in part, everything that is there and outside the scope is held read-only, name by name.
 * Throws where a folder of the scope is a link.
 */
export async function openScope(scope: SandboxScope): Promise<ScopeMounts> {
  const opening = new Opening(scope);
  try {
    await opening.all();
    return opening;
  } catch (error) {
    await opening.close();
    throw error;
  }
}

/** So many names are held read-only one by one. */
const MOST_PINNED = 256;
/** Only a place in the tree: nothing is read or waited for. Node does not name it. */
const O_PATH = 0o10000000;

class Opening implements ScopeMounts {
  readonly mounts: ScopeMount[] = [];
  readonly writable: { path: string; place: string; descriptor: number }[] = [];
  readonly loose: string[] = [];
  readonly #scope: SandboxScope;
  readonly #roots: ScopeRoots;
  readonly #folders: OpenFolder[] = [];
  readonly #entries: number[] = [];
  readonly #made: string[] = [];
  #pinned = 0;

  constructor(scope: SandboxScope) {
    this.#scope = scope;
    this.#roots = scopeRoots(scope.writes);
  }

  async all(): Promise<void> {
    const { whole, partly } = this.#roots;
    await this.#mount('', false);
    for (const folder of partly) await this.#mountPartly(folder);
    for (const folder of whole) await this.#mountWhole(folder);
    if (this.#scope.commits) await this.#mountRepository();
  }

  async close(): Promise<void> {
    for (const folder of this.#folders) await folder.close();
    for (const descriptor of this.#entries) closeSync(descriptor);
    // What was made to be written in and was not is nobody's work.
    for (const place of this.#made.reverse()) {
      try {
        rmdirSync(place);
      } catch {
        // Something is in it now.
      }
    }
  }

  async #mount(path: string, writable: boolean): Promise<OpenFolder> {
    const { workspace } = this.#scope;
    if (writable) this.#noteMissing(path);
    const folder = await this.#open(path, writable);
    const place = path === '' ? workspace : join(workspace, path);
    this.mounts.push({ descriptor: folder.descriptor, place, writable });
    if (writable) this.writable.push({ path, place, descriptor: folder.descriptor });
    return folder;
  }

  async #open(path: string, make: boolean): Promise<OpenFolder> {
    const folder = await openFolderBeneath(this.#scope.workspace, path, { make });
    this.#folders.push(folder);
    return folder;
  }

  #noteMissing(path: string): void {
    const names = path === '' ? [] : path.split('/');
    for (const [index] of names.entries()) {
      const place = join(this.#scope.workspace, ...names.slice(0, index + 1));
      if (lstatSync(place, { throwIfNoEntry: false }) === undefined) this.#made.push(place);
    }
  }

  async #mountWhole(path: string): Promise<void> {
    await this.#pinGuarded(path, await this.#mount(path, true));
  }

  async #mountPartly(path: string): Promise<void> {
    const folder = await this.#mount(path, true);
    this.loose.push(path === '' ? 'new names in the workspace itself' : `new names in \`${path}\``);
    await this.#pin({ path, folder }, (entry) => (this.#scope.mayWrite(entry) ? 'leave' : 'pin'));
  }

  /** The guard's own files, and protected databases: never written whatever the globs say. */
  async #pinGuarded(path: string, folder: OpenFolder): Promise<void> {
    await this.#pin({ path, folder }, (entry, isFolder) => {
      if (isFolder && isGuardedFolder(entry)) return 'enter';
      return this.#scope.mayWrite(entry) ? 'leave' : 'pin';
    });
  }

  async #pin(
    { path, folder }: { readonly path: string; readonly folder: OpenFolder },
    judge: (entry: string, isFolder: boolean) => 'leave' | 'pin' | 'enter',
  ): Promise<void> {
    for (const dirent of readdirSync(`/proc/self/fd/${folder.descriptor}`, { withFileTypes: true })) {
      const { name } = dirent;
      const entry = path === '' ? name : `${path}/${name}`;
      const isFolder = dirent.isDirectory();
      let act = dirent.isSymbolicLink() ? 'leave' : judge(entry, isFolder);
      const isWhole = () => this.#roots.whole.some((root) => lies(entry, root));
      if (act === 'pin' && isFolder && !isWhole() && guardOf(entry) === null && this.#holdsScope(entry))
        act = 'enter';
      if (act === 'enter') await this.#pin({ path: entry, folder: await this.#open(entry, false) }, judge);
      else if (act === 'pin') this.#pinOne(entry, this.#openEntry(folder.at(name)));
    }
  }

  #holdsScope(folder: string): boolean {
    return this.#roots.mayHold(folder) || this.#roots.whole.some((root) => lies(root, folder));
  }

  #pinOne(path: string, descriptor: number | null): void {
    if (descriptor === null) return;
    this.#pinned++;
    if (this.#pinned === MOST_PINNED + 1) this.loose.push(`names beyond the first ${MOST_PINNED} outside it`);
    if (this.#pinned > MOST_PINNED) return;
    this.mounts.push({ descriptor, place: join(this.#scope.workspace, path), writable: false });
  }

  /** The name itself and not where it leads. Null for a link, which cannot be mounted on, and for what is gone. */
  #openEntry(place: string): number | null {
    let descriptor: number;
    try {
      descriptor = openSync(place, O_PATH | constants.O_NOFOLLOW);
    } catch {
      return null;
    }
    this.#entries.push(descriptor);
    return fstatSync(descriptor).isSymbolicLink() ? null : descriptor;
  }

  /** What a commit writes, and nothing that git starts or is told by. */
  async #mountRepository(): Promise<void> {
    const stats = lstatSync(join(this.#scope.workspace, '.git'), { throwIfNoEntry: false });
    if (stats === undefined || !stats.isDirectory()) return;
    const folder = await this.#mount('.git', true);
    this.writable.pop();
    for (const name of NOT_FOR_COMMITS) {
      const descriptor = this.#openEntry(folder.at(name));
      if (descriptor === null) continue;
      const place = join(this.#scope.workspace, '.git', name);
      this.mounts.push({ descriptor, place, writable: false });
    }
  }
}

const NOT_FOR_COMMITS = ['config', 'config.worktree', 'hooks', 'info', 'modules', 'worktrees'] as const;
