/**
 * `npm run test:clients [-- NAME…]`: installs real clients from the npm registry, once, outside the repository, and lets
 * them work with Phasegate against scripted models on this machine. What cannot be installed is named and counted, and
 * ends it with 3 where everything else is well.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CLIENT_PACKAGES, type Installable, installClients } from './installClients.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const all = Object.keys(CLIENT_PACKAGES).filter((name) => name !== 'tdd-guard') as Installable[];
const asked = process.argv.slice(2);
const names = asked.length === 0 ? all : all.filter((name) => asked.includes(name));
const { bin, there, missing } = installClients(names);

const vitest = fileURLToPath(new URL('vitest.mjs', import.meta.resolve('vitest/package.json')));
// One file after the other: each starts programs that take a core for themselves.
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/clients', '--no-file-parallelism'], {
  cwd: root,
  env: { ...process.env, PHASEGATE_CLIENTS_BIN: bin, PHASEGATE_CLIENTS_THERE: there.join(',') },
  stdio: 'inherit',
});
for (const { name, why } of missing) console.error(`${CLIENT_PACKAGES[name]} cannot be installed: ${why}`);
console.error(`${there.length} of ${names.length} clients were there`);
process.exitCode = status === 0 ? (missing.length === 0 ? 0 : 3) : (status ?? 1);
