/**
 * `npm run pack:check`: packs the packages, lints the tarballs, installs them into an empty project under the oldest
 * Node they support, and uses them there.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackages, ROOT, type Tarball } from './packPackages.ts';
import { run } from './run.ts';

const OLDEST_NODE = '22.16.0';
const BIN = join(ROOT, 'node_modules/.bin');

const WORKFLOW = `import { defineWorkflow } from '@phasegate/sdk';

export default defineWorkflow({
  type: 'notes',
  name: 'Notes',
  steps: [{ name: 'draft', instructions: 'Write the notes.', next: null }],
});
`;

const USES = `import { openLocalProject, createMemoryStore } from 'phasegate';
import { connect } from '@phasegate/sdk';
import { type Run, defineWorkflow } from '@phasegate/core';
import { graphOf } from '@phasegate/core/model';
import { viewFor } from '@phasegate/core/engine';
import type { Store } from '@phasegate/core/ports';
import { storeContract } from '@phasegate/core/store-contract';

export const store: (seal: never) => Store = createMemoryStore;
export const parts = { openLocalProject, connect, defineWorkflow, graphOf, viewFor, storeContract };
export const idOf = (run: Run): string => run.id;
// @ts-expect-error a client without an address
connect({ key: 'k' });
`;

const place = mkdtempSync(join(tmpdir(), 'phasegate-pack-check-'));
try {
  const tarballs = await packPackages(place);
  for (const tarball of tarballs) await lint(tarball);
  const published = tarballs.filter((tarball) => tarball.published);
  await useAlone(tarballs.filter(({ name }) => name === 'phasegate'));
  await useGlobally(tarballs.filter(({ name }) => name === 'phasegate'));
  await useTogether(published);
  for (const { name, files } of tarballs) console.log(`${name}: ${files.length} files`);
  console.log('the packages install and work');
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** What a tarball must not hold, must hold, and must not get wrong in its manifest and types. */
async function lint({ name, path, files }: Tarball): Promise<void> {
  const wrong = files.filter((file) => /\.test\.|(?:^|\/)fixtures\/|(?:^|\/)src\/|\.tsbuildinfo$/.test(file));
  if (wrong.length > 0) throw new Error(`\`${name}\` holds what no user needs: ${wrong.join(', ')}`);
  const notices = name === 'phasegate' ? ['dist/cli/THIRD_PARTY_NOTICES.txt'] : [];
  for (const needed of ['README.md', 'LICENSE', 'package.json', ...notices]) {
    if (!files.includes(needed)) throw new Error(`\`${name}\` has no \`${needed}\``);
  }
  console.log(await run(join(BIN, 'publint'), [path, '--strict'], { cwd: ROOT }));
  const typed = [
    '--profile',
    'esm-only',
    '--format',
    'ascii',
    '--exclude-entrypoints',
    'schemas/workflow.json',
  ];
  console.log(await run(join(BIN, 'attw'), [path, ...typed], { cwd: ROOT }));
}

/** `npm install phasegate-X.tgz` and nothing else: the command works. */
async function useAlone(tarballs: readonly Tarball[]): Promise<void> {
  const project = await emptyProject('alone', tarballs);
  await phasegate(project, ['init', '--yes']);
  await phasegate(project, ['validate']);
  await phasegate(project, ['check', 'tdd']);
  await phasegate(project, ['list', '--json']);
}

/** `npm install --global phasegate-X.tgz`: npm puts the same files elsewhere, and has left folders empty there. */
async function useGlobally(tarballs: readonly Tarball[]): Promise<void> {
  const prefix = join(place, 'global');
  const args = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', [...args, ...tarballs.map(({ path }) => path)], { cwd: place });
  const installed = join(prefix, 'lib/node_modules/phasegate');
  const project = join(place, 'globally');
  mkdirSync(project);
  const node = nodeOf(join(place, 'alone'));
  for (const words of [['init', '--template', 'minimal', '--yes'], ['validate'], ['completion', 'bash']])
    await phasegate(project, words, { node, installed });
  // What serves loads the most; without a client it ends at once.
  await phasegate(project, ['mcp'], { node, installed });
}

/** With the SDK: a workflow in code is loaded (in JavaScript: this Node is too old for types), and its types are right. */
async function useTogether(tarballs: readonly Tarball[]): Promise<void> {
  const project = await emptyProject('together', tarballs);
  writeFileSync(join(project, 'notes.workflow.mjs'), WORKFLOW);
  writeFileSync(join(project, 'uses.ts'), USES);
  const compilerOptions = { module: 'nodenext', strict: true, noEmit: true, skipLibCheck: false, types: [] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['uses.ts'] }));
  await run(join(BIN, 'tsc'), ['-p', '.'], { cwd: project });
  await run(
    nodeOf(project),
    ['--input-type=module', '-e', "await import('phasegate'); await import('@phasegate/sdk')"],
    {
      cwd: project,
    },
  );
  await phasegate(project, ['init', '--yes']);
  await phasegate(project, ['validate', 'notes.workflow.mjs']);
}

async function emptyProject(name: string, tarballs: readonly Tarball[]): Promise<string> {
  const project = join(place, name);
  mkdirSync(project);
  const scripts = { test: 'node --test' };
  const described = { name: 'empty', private: true, type: 'module', scripts };
  writeFileSync(join(project, 'package.json'), `${JSON.stringify(described)}\n`);
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', [...args, `node@${OLDEST_NODE}`], { cwd: project });
  await run('npm', [...args, ...tarballs.map(({ path }) => path)], { cwd: project });
  const version = (await run(nodeOf(project), ['--version'], { cwd: project })).trim();
  if (version !== `v${OLDEST_NODE}`) throw new Error(`Node ${version} was installed, not ${OLDEST_NODE}`);
  return project;
}

function nodeOf(project: string): string {
  return join(project, 'node_modules/node/bin/node');
}

async function phasegate(
  project: string,
  args: readonly string[],
  { node = nodeOf(project), installed = join(project, 'node_modules/phasegate') } = {},
): Promise<void> {
  const command = join(installed, 'bin/phasegate.js');
  // State in the workspace would be in an agent's reach, and is refused.
  const home = `${project}-home`;
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const printed = await run(node, [command, ...args], { cwd: project, env });
  console.log(`phasegate ${args.join(' ')}: ${printed.trim().split('\n').at(-1)}`);
}
