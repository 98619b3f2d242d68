import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { makeProject, PROGRAM, phasegate, type TestProject } from './cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

const WORKFLOW = `
workflow: note
phases:
  WRITE:
    instructions: Write a note
    allowed_tools: [read_files, write_files]
    writes: ["notes/**"]
    required_artifacts: [{ type: file, schema: { type: string } }]
    next: null
`;

// As an agent's author would write it: JavaScript, with nothing but the installed package.
const AGENT = `
import { connectFromEnvironment, PhasegateClientError } from '@phasegate/sdk';

const client = connectFromEnvironment();
const { task } = await client.claimTask('packed');
const refusal = await client.writeFile('elsewhere.txt', 'x').catch((error) => error);
await client.writeFile('notes/a.txt', 'hello');
const read = await client.readFile('notes/a.txt');
const { status } = await client.requestTransition(null, { file: 'notes/a.txt' });
const thrown = refusal instanceof PhasegateClientError;
console.log(JSON.stringify({ phase: task.phase, refused: refusal.code, thrown, read, status }));
`;

const TYPED = `
import { connect, defineWorkflow, PhasegateClientError } from '@phasegate/sdk';
import type { Claim, EventRecord, PhasegateClient, Transition, WireBlocker } from '@phasegate/sdk';

export async function work(client: PhasegateClient): Promise<number> {
  const claim: Claim | null = await client.claimTask('a', { capabilities: ['typescript'] });
  if (claim === null) return 0;
  const text: string = await client.readFile('brief.md');
  const moved: Transition = await client.requestTransition('TDD', { plan: { text } });
  switch (moved.status) {
    case 'active': return moved.task?.tasks?.length ?? 0;
    case 'waiting': return moved.gate?.options.length ?? 0;
    case 'completed': return Number(moved.phase satisfies null);
  }
}

export function explain(error: unknown): readonly WireBlocker[] {
  if (!(error instanceof PhasegateClientError)) throw error;
  return error.code === 'token_dead' ? [] : error.blockers;
}

export async function follow(client: PhasegateClient, signal: AbortSignal): Promise<EventRecord | undefined> {
  for await (const record of client.events({ after: 0, signal })) return record;
  return undefined;
}

// @ts-expect-error a client without an address
connect({ key: 'k' });
// @ts-expect-error an option that is not there
connect({ url: 'http://127.0.0.1:8000', retries: 3 });

export default defineWorkflow({ type: 'a', steps: [{ name: 'one', instructions: 'do it', next: null }] });
`;

let user: string;

beforeAll(async () => {
  user = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-packed-'));
  const packed = join(user, 'packed');
  await npm(ROOT, [
    'pack',
    '--ignore-scripts',
    '--pack-destination',
    user,
    '-w',
    '@phasegate/core',
    '-w',
    '@phasegate/sdk',
  ]);
  const tarballs = readdirSync(user).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);
  writeFileSync(join(user, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }');
  await npm(user, [
    'install',
    '--offline',
    '--ignore-scripts',
    '--cache',
    packed,
    ...tarballs.map((name) => `./${name}`),
  ]);
});
afterAll(() => rmSync(user, { recursive: true, force: true }));

test('the SDK is installed in an empty project with core and nothing else [S2.95]', () => {
  const installed = readdirSync(join(user, 'node_modules'), { recursive: true, encoding: 'utf8' });
  const manifests = installed.filter((name) => /^(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(name));
  const shipped = readdirSync(join(user, 'node_modules/@phasegate/sdk'));

  expect(manifests.toSorted()).toEqual(['@phasegate/core/package.json', '@phasegate/sdk/package.json']);
  expect(shipped).toContain('README.md');
});

test.runIf(FULL)('its types stand on their own and say what is meant', async () => {
  const index = readFileSync(join(user, 'node_modules/@phasegate/sdk/dist/index.d.ts'), 'utf8');
  const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/gs)]
    .flatMap(([, list = '']) => list.split(','))
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');
  expect(names).toEqual(
    expect.arrayContaining(['Claim', 'Transition', 'ToolAnswer', 'Receipt', 'AuditPage']),
  );
  writeFileSync(join(user, 'typed.ts'), TYPED);
  writeFileSync(
    join(user, 'all.ts'),
    `import type { ${names.join(', ')} } from '@phasegate/sdk';\nexport {};\n`,
  );
  writeFileSync(
    join(user, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        target: 'es2024',
        lib: ['es2024', 'dom'],
        module: 'nodenext',
        types: [],
        noEmit: true,
        // What we publish is looked at too, not only what is written with it.
        skipLibCheck: false,
      },
      files: ['typed.ts', 'all.ts'],
    }),
  );

  const checked = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', user], { cwd: user }).catch(
    (error: { readonly stdout: string }) => error,
  );

  expect(checked.stdout).toBe('');
});

test.runIf(FULL)(
  'a program that has only the package works through a served phase [S2.95 S2.24]',
  async () => {
    const project = makeProject({ 'note.workflow.yaml': WORKFLOW });
    const added = await phasegate(project, ['agents', 'add', 'packed', '--json']);
    expect(added.code).toBe(0);
    expect((await phasegate(project, ['start', 'note', '--queue', '--json'])).code).toBe(0);
    const server = await serve(project);
    writeFileSync(join(user, 'agent.js'), AGENT);

    const worked = await run(process.execPath, ['agent.js'], {
      cwd: user,
      env: { ...project.env, PHASEGATE_URL: server.url, PHASEGATE_KEY: String(added.json.key) },
    }).finally(server.stop);

    expect(JSON.parse(worked.stdout)).toEqual({
      phase: 'WRITE',
      refused: 'outside_write_scope',
      thrown: true,
      read: 'hello',
      status: 'completed',
    });
    expect(readFileSync(join(project.root, 'notes/a.txt'), 'utf8')).toBe('hello');
  },
);

function npm(cwd: string, words: readonly string[]): Promise<unknown> {
  // The registry is a port nobody listens on: what needed it would fail.
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--registry', 'http://127.0.0.1:9'];
  return run('npm', [...words, ...quiet], { cwd });
}

/** The real command, serving. */
async function serve(project: TestProject): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--json'], {
    cwd: project.root,
    env: project.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    let line = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      line += text;
      if (line.includes('\n')) resolve(String((JSON.parse(line) as { readonly url: string }).url));
    });
    void ended.then(() => reject(new Error(`the server ended: ${told}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, stop };
}
