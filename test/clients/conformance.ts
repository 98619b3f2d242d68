/**
 * `npm run conformance:clients [-- NAME…]`: proves real clients with `phasegate doctor --prove --json`, each attached to a project
 * of its own, and renews docs/reference/conformance.md. Those that are not named stay as they were.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENT_NAMES, type ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { type ConformanceClient, type ConformanceWall, conformancePage } from '../docs/conformancePage.ts';
import { installClients } from './installClients.ts';

interface Proven {
  readonly status: string;
  readonly title: string;
  readonly reason?: string;
  readonly proof?: Omit<ConformanceClient, 'client' | 'day'> & {
    readonly at: string;
    readonly walls: readonly ConformanceWall[];
  };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(root, 'packages/phasegate/bin/phasegate.js');
const RECORD = join(root, 'test/docs/conformance.json');
const asked = process.argv.slice(2);
const names = CLIENT_NAMES.filter((name) => asked.length === 0 || asked.includes(name));
const { bin, there, missing } = installClients(names);
for (const { name, why } of missing) console.error(`${name} cannot be installed: ${why}`);

for (const name of names.filter((one) => there.includes(one))) {
  const found = prove(name);
  if (found === null) process.exitCode = 1;
  else renew(found);
}
if (missing.length > 0) process.exitCode ??= 3;

/** Puts one client in its place, in the record and on the page. */
function renew(found: ConformanceClient): void {
  const known = JSON.parse(readFileSync(RECORD, 'utf8')) as readonly ConformanceClient[];
  const all = CLIENT_NAMES.flatMap((name) => [found, ...known].find(({ client }) => client === name) ?? []);
  writeFileSync(RECORD, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(root, 'docs/reference/conformance.md'), conformancePage(all));
}

/** Null where it came to nothing; why is on stderr. */
function prove(name: ClientName): ConformanceClient | null {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-conformance-'));
  const project = join(base, 'project');
  mkdirSync(project);
  const env = {
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(':'),
    HOME: base,
    USER: 'maria',
    LANG: 'C.UTF-8',
  };
  const secret = join(base, 'secret');
  writeFileSync(secret, 'open sesame\n', { mode: 0o600 });
  const call = (words: string) =>
    spawnSync('sh', ['-c', `exec "$0" "$1" ${words} 3<"$2"`, process.execPath, PROGRAM, secret], {
      cwd: project,
      env,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
  try {
    const secretly = '--passphrase-fd 3';
    const set = call(`init --name maria --template minimal --client ${name} --yes ${secretly}`);
    if (set.status !== 0) throw new Error(set.stderr);
    const { stdout, stderr } = call(`doctor --prove --client ${name} --json`);
    const last = stdout.trim().split('\n').at(-1) ?? '';
    const [only] = (JSON.parse(last) as { readonly clients: readonly Proven[] }).clients;
    if (only?.proof === undefined) throw new Error(only?.reason ?? stderr);
    const { title, version, ring, kernel, walls, at } = only.proof;
    console.log(`${title} ${version}: ${ring}`);
    for (const wall of walls) console.log(`  ${wall.outcome}  ${wall.name}  ${wall.note ?? ''}`);
    // Of the kernel, what it is and not who built it.
    const system = kernel.replace(/^(\w+ [\d.]+)[^,]*/, '$1');
    return { client: name, title, version, ring, day: at.slice(0, 10), kernel: system, walls };
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
