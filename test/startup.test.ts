import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { makeProject, PROGRAM, phasegate, type TestProject } from './e2e/cli.ts';
import { someOf } from './tier.ts';

const run = promisify(execFile);
const PACKAGE = dirname(dirname(PROGRAM));
const BUILT = join(PACKAGE, 'dist/cli');

/** The files of the command line and how large each may become, in KiB. A process pays for all of each it loads. */
const FAMILIES: Readonly<Record<string, number>> = {
  'acts.js': 166,
  'agents.js': 33,
  'attachedServers.js': 9,
  'audit.js': 70,
  'background.js': 9,
  'checks.js': 166,
  'sandbox.js': 40,
  'code.js': 230,
  'database.js': 43,
  'definitions.js': 510,
  'everyday.js': 637,
  'exampleEvidence.js': 2,
  'fence.js': 81,
  'fenceActs.js': 9,
  'postgres.js': 199,
  'graph.js': 37,
  'help.js': 4,
  'hooks.js': 121,
  'humans.js': 155,
  'import.js': 80,
  'isolation.js': 38,
  'jose.js': 29,
  'localWorker.js': 25,
  'localWorktrees.js': 9,
  'main.js': 63,
  'markdown.js': 188,
  'mcp.js': 64,
  'migrate.js': 6,
  'parseWithPlaces.js': 3,
  'prompts.js': 98,
  'proofs.js': 240,
  'prove.js': 46,
  'range.js': 48,
  'remote.js': 50,
  'rolldown-runtime.js': 3,
  'rules.js': 225,
  'runner.js': 123,
  'sax.js': 39,
  'search.js': 61,
  'server.js': 311,
  'setUp.js': 131,
  'svgPlot.js': 4,
  'tests.js': 115,
  'verify.js': 61,
  'worker.js': 12,
  'worktree.js': 4,
};

test('every family of commands is one file, and none grows unnoticed', () => {
  const files = readdirSync(BUILT).filter((name) => name.endsWith('.js'));
  const tooLarge = files.filter((name) => statSync(join(BUILT, name)).size > (FAMILIES[name] ?? 0) * 1024);

  expect(files.sort()).toEqual(Object.keys(FAMILIES).sort());
  expect(tooLarge).toEqual([]);
});

describe('what a command loads is what it needs', async () => {
  const project = makeProject({
    'a.workflow.yaml': 'workflow: a\nphases:\n  ONE: { instructions: Do it., writes: [], next: null }\n',
  });
  const id = String((await phasegate(project, ['start', 'a', '--json'])).json.run);

  test('`--version` needs neither a stream nor a secret nor a database', async () => {
    const { files, builtins, printed } = await loadedBy(project, ['--version']);

    expect(printed).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(files).toEqual(['phasegate.js', 'main.js']);
    expect(builtins.filter((name) => /^(?:crypto|sqlite|stream|net|tty|fs\/promises)$/.test(name))).toEqual(
      [],
    );
  });

  test('`--help` needs the list of commands and no command', async () => {
    const { files, builtins } = await loadedBy(project, ['--help']);

    expect(files).toEqual(['phasegate.js', 'main.js', 'help.js']);
    expect(builtins.filter((name) => /^(?:crypto|sqlite|fs\/promises)$/.test(name))).toEqual([]);
  });

  test.each([['status'], ['next'], ['done']])('`%s` needs one family and no npm package', async (name) => {
    const { files, builtins } = await loadedBy(project, [name, id]);

    const fence = name === 'done' ? ['fence.js'] : [];
    expect(files).toEqual(['phasegate.js', 'main.js', 'everyday.js', 'rolldown-runtime.js', ...fence]);
    // No stream is made to ask how wide a terminal is that is not there.
    const unwanted = /^(?:fs\/promises|perf_hooks|child_process|net|tty)$/;
    expect(builtins.filter((module) => unwanted.test(module))).toEqual([]);
  });

  test('what only some phases have is loaded for those', async () => {
    const guarded = makeProject({
      'a.workflow.yaml':
        'workflow: a\nphases:\n  ONE: { instructions: Do it., writes: [out/**], next: null }\n',
    });
    const started = await phasegate(guarded, ['start', 'a', '--json']);
    mkdirSync(join(guarded.root, 'out'));
    writeFileSync(join(guarded.root, 'out/made.txt'), 'in its scope');
    const { files } = await loadedBy(guarded, ['done', String(started.json.run)]);

    expect(files.slice(0, 4)).toEqual(['phasegate.js', 'main.js', 'everyday.js', 'rolldown-runtime.js']);
    expect(files).toContain('rules.js');
    expect(files).not.toContain('acts.js');
  });

  test('`done` needs no clock of its own to read settings in the home folder', async () => {
    writeFileSync(join(String(project.env.HOME), '.gitconfig'), '[user]\n\tname = Ada\n');
    const started = await phasegate(project, ['start', 'a', '--target', 'home', '--json']);
    const { builtins } = await loadedBy(project, ['done', String(started.json.run)]);

    expect(builtins).toContain('crypto');
    expect(builtins).not.toContain('perf_hooks');
  });

  test.each(['main', 'everyday', 'fence', 'definitions', 'checks'])(
    '%s.js is plain ASCII, which is read as it is',
    (name) => {
      expect(readFileSync(join(BUILT, `${name}.js`), 'latin1')).not.toMatch(/[\u0080-\u00ff]/);
    },
  );

  test('`start` needs what reads definitions beside it', async () => {
    const { files } = await loadedBy(project, ['start', 'a', '--target', 'another']);

    expect(files).toEqual([
      'phasegate.js',
      'main.js',
      'definitions.js',
      'rolldown-runtime.js',
      'everyday.js',
      'rules.js',
      'acts.js',
      'checks.js',
      'fence.js',
    ]);
  });
});

test('the licence of every npm package whose code is carried is carried too', () => {
  const notices = readFileSync(join(BUILT, 'THIRD_PARTY_NOTICES.txt'), 'utf8');
  const named = [...notices.matchAll(/^(\S+) [\d.]+ \([^)]+\)$/gm)].map(([, name]) => name);

  expect(named).toEqual(expect.arrayContaining(['@clack/prompts', 'acorn', 'jose', 'yaml', 'zod']));
  expect(notices.match(/permission/gi)?.length).toBeGreaterThanOrEqual(named.length);
});

test.each([
  [
    'an older Node',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.15.1' } })`,
    'phasegate needs Node 22.16 or newer, and this is 22.15.1; install a newer Node and try again\n',
  ],
  [
    'another system',
    `Object.defineProperty(process, 'platform', { value: 'win32' })`,
    'phasegate runs on Linux and macOS, and this is win32; on Windows install it inside WSL and start it there\n',
  ],
])('on %s the command says so in one sentence with what to do, and loads nothing', async (_, there, said) => {
  const pretended = `data:text/javascript,${encodeURIComponent(there)}`;
  const call = run(process.execPath, ['--import', pretended, PROGRAM, '--version']);

  await expect(call).rejects.toMatchObject({ code: 2, stdout: '', stderr: said });
});

describe('what V8 made of the code', () => {
  test('is kept beside the code, closed to others, and never among temporary files', async () => {
    const { folder, temporary, call } = installed();

    await call();

    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).toEqual([`other-${process.version}-${process.arch}.code`]);
    expect(statSync(keptIn(folder)).mode & 0o777).toBe(0o600);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('is made a few times, until it has what the command runs', async () => {
    const { folder, call } = installed();
    const makings: number[] = [];

    for (let round = 0; round < 6; round++) {
      await call();
      makings.push(madeIn(folder));
    }

    expect(makings).toEqual([1, 2, 3, 4, 4, 4]);
  });

  test('is not kept of a command that failed', async () => {
    const { folder, call } = installed();

    await expect(call('valdate')).rejects.toMatchObject({ code: 2 });

    expect(readdirSync(folder)).toEqual([]);
  });

  test('is not run where the source is another, though it is as long', async () => {
    const { folder, built, call } = installed();
    await call();
    const file = join(built, 'definitions.js');
    const source = readFileSync(file, 'latin1');
    writeFileSync(file, source.replace(', "file")} valid', ', "file")} VALID'), 'latin1');

    const { stdout } = await call();

    expect(stdout).toBe('1 file VALID\n');
    expect(madeIn(folder)).toBe(1);
  });

  const SPOILT: readonly (readonly [string, (bytes: Buffer) => Uint8Array])[] = [
    ['with one bit changed', (bytes: Buffer) => bytes.with(bytes.length - 1000, (bytes.at(-1000) ?? 0) ^ 1)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    [
      'of another Node',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(process.version, 'v22.0.0'), 'latin1'),
    ],
  ];
  test.each(someOf(SPOILT, { quick: 2, full: SPOILT.length }))('is not run %s', async (_, spoil) => {
    const { folder, call } = installed();
    const { stdout } = await call();
    await call();
    expect(madeIn(folder)).toBe(2);
    writeFileSync(keptIn(folder), spoil(readFileSync(keptIn(folder))));

    expect((await call()).stdout).toBe(stdout);

    expect(madeIn(folder)).toBe(1);
  });

  test('is neither read nor written where others can write', async () => {
    const { folder, call } = installed();
    mkdirSync(folder);
    chmodSync(folder, 0o770);

    await call();

    expect(readdirSync(folder)).toEqual([]);
  });

  test('is neither read nor written where a link leads', async () => {
    const { folder, temporary, call } = installed();
    chmodSync(temporary, 0o700);
    symlinkSync(temporary, folder);

    await call();

    expect(readdirSync(temporary)).toEqual([]);
  });

  test('is kept where npm installs for the whole machine', async () => {
    const { folder, call } = installed('lib/node_modules/phasegate');

    await call();

    expect(readdirSync(folder)).toEqual([`other-${process.version}-${process.arch}.code`]);
  });

  test.each([
    ['a package that names it', 'package.json', 'node_modules/phasegate'],
    ['a folder that npm alone knows of', 'node_modules/.package-lock.json', 'node_modules/phasegate'],
    ['a package, stored as pnpm does', 'package.json', 'node_modules/.pnpm/p@1/node_modules/phasegate'],
    ['a project of Phasegate', 'phasegate.config.yaml', 'tools/phasegate'],
  ])('is neither read nor written in %s', async (_, mark, place) => {
    const { base, folder, call } = installed(place);
    writeFileSync(join(base, mark), '{}');

    const { stdout } = await call();

    expect(stdout).toBe('1 file valid\n');
    expect(existsSync(folder)).toBe(false);
  });

  test('is no change of a project that has Phasegate in its folder and does not ignore it', async () => {
    const { base, callIn } = installed('project/node_modules/phasegate');
    writeFileSync(join(base, 'project/package.json'), '{}');
    await run('git', ['init', '--quiet'], { cwd: join(base, 'project') });
    const { run: id } = JSON.parse((await callIn('start', 'a', '--json')).stdout) as { run: string };
    await callIn('status', id);

    const { stdout } = await callIn('done', id, '--json');

    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
  });

  test('is not kept where the code belongs to somebody else', async (context) => {
    if (process.getuid?.() !== 0) context.skip();
    const { folder, call, give } = installed();
    await give(12_345);

    await call();

    expect(existsSync(folder)).toBe(false);
  });
});

/** The command in a folder of its own, as npm installs it, with a workflow to validate. */
function installed(place = 'phasegate') {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-installed-'));
  const home = join(base, place);
  const temporary = join(base, 'tmp');
  mkdirSync(temporary);
  mkdirSync(join(home, 'dist'), { recursive: true });
  for (const part of ['bin', 'dist/cli', 'package.json']) {
    cpSync(join(PACKAGE, part), join(home, part), { recursive: true });
  }
  const project = join(base, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'agent_workflow.yaml'), 'workflow: a\nphases: { ONE: { writes: [] } }\n');
  const program = join(home, 'bin/phasegate.js');
  const env = { PATH: process.env.PATH ?? '', HOME: base, TMPDIR: temporary };
  const callIn = (...words: readonly string[]) =>
    run(process.execPath, [program, ...words], { env, cwd: project });
  return {
    base,
    folder: join(home, 'dist/compiled'),
    built: join(home, 'dist/cli'),
    temporary,
    call: (command = 'validate') => callIn(command),
    callIn,
    give: (user: number) => run('chown', ['-R', String(user), join(home, 'dist')]),
  };
}

/** The one file of kept code. */
function keptIn(folder: string): string {
  return join(folder, `other-${process.version}-${process.arch}.code`);
}

/** How often the kept code was made, as its first line says. */
function madeIn(folder: string): number {
  const [line = ''] = readFileSync(keptIn(folder), 'latin1').split('\n', 1);
  return (JSON.parse(line) as { readonly made: number }).made;
}

/** What a command prints, the files it loads in their order, and the modules of Node it loads. */
async function loadedBy({ root, env }: TestProject, words: readonly string[]) {
  const told = `data:text/javascript,${encodeURIComponent(TOLD)}`;
  const { stdout, stderr } = await run(process.execPath, ['--import', told, PROGRAM, ...words], {
    cwd: root,
    env,
  });
  const lines = (kind: string) =>
    stderr
      .split('\n')
      .filter((line) => line.startsWith(`${kind} `))
      .map((line) => line.slice(kind.length + 1));
  return { printed: stdout, files: lines('file').map((url) => basename(url)), builtins: lines('builtin') };
}

/**
 * Says every file that is loaded, by Node or as a family, and at the end the modules of Node, in a way that loads none.
 */
const TOLD = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) process._rawDebug('file ' + url);
    return nextLoad(url, context);
  },
});
const fs = process.getBuiltinModule('node:fs');
const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
  if (/\\/dist\\/cli\\/[^/]+$/.test(path)) process._rawDebug('file ' + path);
  return readFileSync(path, ...rest);
};
const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  for (const name of process.moduleLoadList) {
    if (!before.has(name)) process._rawDebug('builtin ' + name.replace('NativeModule ', ''));
  }
});`;
