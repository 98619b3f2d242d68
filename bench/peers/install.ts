import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs what the benchmarks are compared with, where `name` is missing, and gives the folder. Versions are exact in
 * `package.json` here. Install scripts are off: the peers' native parts are not used.
 */
export function installPeers(name: string): string {
  const folder = import.meta.dirname;
  if (!existsSync(join(folder, 'node_modules', name))) {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return folder;
}
