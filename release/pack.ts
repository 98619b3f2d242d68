/**
 * `npm run pack`: writes `phasegate-VERSION.tgz` into the root of the repository. It is one file that installs with all
 * it needs: plain `npm pack` in the package's folder leaves out the packages that lie beside it.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packPackages, ROOT } from './packPackages.ts';

const place = mkdtempSync(join(tmpdir(), 'phasegate-pack-'));
try {
  for (const { name, path } of await packPackages(place)) {
    if (name !== 'phasegate') continue;
    copyFileSync(path, join(ROOT, basename(path)));
    console.log(`wrote ${basename(path)}; install it with`);
    console.log(`  npm install --global ./${basename(path)}`);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
