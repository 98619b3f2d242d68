// Runs the official MCP conformance suite against our HTTP stack: `npm run conformance`, which needs the npm registry.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFixtureServer } from './fixtureServer.ts';

const NAME = '@modelcontextprotocol/conformance';

/** Which version of the suite is asked for what. Each has a baseline that says why for every line in it. */
const RUNS: readonly {
  readonly version: string;
  readonly words: readonly string[];
  readonly about: string;
}[] = [
  { version: '0.1.16', words: ['--suite', 'all'], about: 'protocols to 2025-11-25' },
  {
    version: '0.2.0-alpha.12',
    words: ['--suite', 'all', '--spec-version', '2025-11-25'],
    about: 'protocol 2025-11-25',
  },
  { version: '0.2.0-alpha.12', words: ['--requirements', '2026-07-28'], about: 'protocol 2026-07-28' },
];

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'phasegate-suite-'));
const server = await startFixtureServer();
try {
  for (const { version, words, about } of RUNS) {
    const program = install(version);
    const baseline = join(here, `baseline-${version}.yml`);
    console.log(`\n== ${NAME} ${version}, ${about}`);
    const code = await run([
      program,
      'server',
      '--url',
      server.url,
      ...words,
      '--expected-failures',
      baseline,
    ]);
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}

/** The suite is not a dependency: it brings a hundred packages that nothing else needs. */
function install(version: string): string {
  const place = join(folder, version);
  const program = join(place, 'node_modules', NAME, 'dist', 'index.js');
  if (existsSync(program)) return program;
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${NAME}@${version}`];
  const { status } = spawnSync('npm', words, { cwd: place, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${NAME} ${version} could not be installed`);
  return program;
}

/** Runs the suite with the Node this runs with, and not the system's; prints its summary. */
function run(words: readonly string[]): Promise<number> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: folder,
    env: { ...process.env, PATH },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const summary = output.indexOf('=== SUMMARY');
      console.log(summary === -1 ? output : output.slice(summary));
      resolve(code ?? 1);
    });
  });
}
