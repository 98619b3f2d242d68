import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs what the benchmarks are compared with, where `name` is missing, and gives the folder. Every version is in the
 * lockfile here: left to choose, npm once searched without end among versions whose peers contradict each other. Install
 * scripts are off: the peers' native parts are not used.
 */
export function installPeers(name: string): string {
  const folder = import.meta.dirname;
  if (!existsSync(join(folder, 'node_modules', name))) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return folder;
}
