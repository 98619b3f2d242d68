import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONFIG_FILES, claimedMain, realpathOfExisting } from './config.ts';
import type { HookSettings } from './runtime/hooks/hooks.ts';
import { isWithin } from './runtime/hooks/placePaths.ts';

/** Where a project is, and what is not to be seen of it. */
export interface HookPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How clients' hooks are answered on this machine. */
export function hookSettings(
  { root, stateDir, env }: HookPlace,
  hasHuman: () => Promise<boolean>,
): HookSettings {
  const file = ownProgram();
  return {
    workspaceOf(cwd) {
      const folder = realpathOfExisting(cwd);
      const home = realpathOfExisting(root);
      if (isWithin(folder, home)) return home;
      return worktreeOf(folder, home);
    },
    // The folder around it: there the state of other projects is too.
    closed: [realpathOfExisting(dirname(stateDir)), realpathOfExisting(stateDir)],
    program: [process.execPath, file],
    file,
    path: env.PATH ?? '',
    lookAgain: async (client, proven) =>
      (await import('./localProofs.ts')).lookAgainAt({ root, stateDir, home: env.HOME ?? '/' })(
        client,
        proven,
      ),
    async lookAtSettings(client) {
      const { examineSettings, SETTINGS_OF_ANY_VERSION: version } = await import(
        './settings/examineSettings.ts'
      );
      const problems = (home: string | undefined) =>
        examineSettings({ root, stateDir, home, version }).find((one) => one.client === client)?.problems;
      const ours = problems(undefined);
      if (ours === undefined) return null;
      return { ours, others: (problems(env.HOME) ?? []).filter((problem) => !ours.includes(problem)) };
    },
    isSetUp: async () => CONFIG_FILES.some((name) => existsSync(join(root, name))) || hasHuman(),
  };
}

/** The worktree of the project that holds a folder, where `.git` says that it is one. */
function worktreeOf(folder: string, root: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return claimedMain(at) === root ? at : null;
    if (at === dirname(at)) return null;
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
