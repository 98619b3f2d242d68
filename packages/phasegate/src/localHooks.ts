import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { CONFIG_FILES, ownStateDir, realpathOfExisting, stateNameOf, worktreeRecordIn } from './config.ts';
import { existingPath } from './files/existingPath.ts';
import { ownFolders } from './ownFolders.ts';
import type { HookSettings } from './runtime/hooks/hooks.ts';
import { readRecord } from './settings/settingsRecord.ts';

/** Where a project is, and what is not to be seen of it. */
export interface HookPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How clients' hooks are answered on this machine; the same from every folder of the project. */
export function hookSettings(
  { root, stateDir, env }: HookPlace,
  hasHuman: () => Promise<boolean>,
): HookSettings {
  const file = ownProgram();
  const here = realpathOfExisting(root);
  const recordOf = (folder: string) => worktreeRecordIn(ownStateDir(folder, env));
  // In whichever of its folders it is served, its hooks are the project's.
  const home = recordOf(here)?.main ?? here;
  const states = dirname(ownStateDir(here, env));
  const workspaceOf = (path: string) => {
    const { real, there } = existingPath(path);
    const names = namesOfStates(states);
    for (let at = there; ; at = dirname(at)) {
      // Only what a human accepted or was made for a run: what `.git` says is the agent's to write.
      if (at === home || (names.has(stateNameOf(at)) && recordOf(at)?.main === home)) return at;
      if (at === dirname(at)) return real === home || real.startsWith(`${home}${sep}`) ? home : null;
    }
  };
  return {
    home,
    workspaceOf,
    madeFor: (workspace) => recordOf(workspace)?.run ?? null,
    closed: ownFolders({ root, stateDir, env }).map(realpathOfExisting),
    program: [process.execPath, file],
    file,
    path: env.PATH ?? '',
    async lookAgain(client, proven, cwd = '') {
      const { lookAgainAt } = await import('./localProofs.ts');
      const workspace = cwd === '' ? home : (workspaceOf(cwd) ?? home);
      return lookAgainAt({ root: workspace, stateDir, home: env.HOME ?? '/' })(client, proven);
    },
    async lookAtSettings(client, cwd) {
      const { examineClient, SETTINGS_OF_ANY_VERSION: version } = await import(
        './settings/examineSettings.ts'
      );
      const workspace = workspaceOf(cwd) ?? home;
      return examineClient(client, { root: workspace, stateDir, home: env.HOME, version });
    },
    // What `init` wrote for clients is on record in the state: a project that lost its config, or was moved, stays set up.
    isSetUp: async () =>
      CONFIG_FILES.some((name) => existsSync(join(home, name))) ||
      readRecord(stateDir) !== null ||
      (await hasHuman()),
  };
}

/** By these it is known of nearly every folder, without a look at its state, that it shares none. */
function namesOfStates(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder).map((name) => name.replace(/-[0-9a-f]{16}$/, '')));
  } catch {
    return new Set();
  }
}

/** The file of this very program, wherever it is installed. */
export function ownProgram(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'bin', 'phasegate.js');
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return process.argv[1] ?? '';
  }
}
