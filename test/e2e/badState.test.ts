import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '@phasegate/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Called, complete, copyOf, makeProject, phasegate, startRun, type TestProject } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };
const PROPOSAL = { proposal: { summary: 'Paint it blue', steps: ['paint'] } };

// Each of these is undone by hand afterwards, and then everything must be as it was.
describe('a state that cannot be used is refused with exit 1, and nothing of it is lost, where', () => {
  test('a newer version wrote it', async () => {
    await expectRefusedUntilFixed('store_newer', (project) => {
      const version = asNumber(sql(project, 'PRAGMA user_version'));
      sql(project, 'PRAGMA user_version = 999');
      return () => sql(project, `PRAGMA user_version = ${version}`);
    });
  });

  test('a folder stands in place of the database', async () => {
    await expectRefusedUntilFixed('store_unavailable', (project) => {
      const file = databaseOf(project);
      renameSync(file, `${file}.away`);
      mkdirSync(file);
      return () => {
        rmSync(file, { recursive: true });
        renameSync(`${file}.away`, file);
      };
    });
  });

  test('a file stands in place of the state directory', async () => {
    await expectRefusedUntilFixed('store_unavailable', (project) => {
      renameSync(project.stateDir, `${project.stateDir}.away`);
      writeFileSync(project.stateDir, '');
      return () => {
        rmSync(project.stateDir);
        renameSync(`${project.stateDir}.away`, project.stateDir);
      };
    });
  });

  test('the header of the database is garbage', async () => {
    await expectRefusedUntilFixed('store_corrupt', (project) =>
      overwrite(databaseOf(project), 0, Buffer.from('garbage, '.repeat(8))),
    );
  });

  test('half of the database is missing', async () => {
    await expectRefusedUntilFixed('store_corrupt', (project) => {
      const file = databaseOf(project);
      const bytes = readFileSync(file);
      truncateSync(file, Math.floor(bytes.length / 2));
      return () => writeFileSync(file, bytes);
    });
  });

  test('the database is of another program', async () => {
    await expectRefusedUntilFixed('store_corrupt', (project) => {
      const file = databaseOf(project);
      renameSync(file, `${file}.away`);
      const other = new DatabaseSync(file);
      other.exec('CREATE TABLE recipes (name TEXT)');
      other.close();
      return () => renameSync(`${file}.away`, file);
    });
  });

  test.each([
    ['are not JSON', '{ "audit":'],
    ['are incomplete', '{ "version": 1 }'],
    ['are empty', ''],
  ])('the keys %s', async (_, text) => {
    await expectRefusedUntilFixed('store_corrupt', (project) => {
      const file = join(project.stateDir, 'keys.json');
      const before = readFileSync(file);
      writeFileSync(file, text);
      return () => writeFileSync(file, before);
    });
  });

  test('the keys are gone', async () => {
    await expectRefusedUntilFixed('store_corrupt', (project) => {
      const file = join(project.stateDir, 'keys.json');
      renameSync(file, `${file}.away`);
      return () => renameSync(`${file}.away`, file);
    });
  });

  // Root may write anywhere, so this one is for everybody else; root has the read-only mount below.
  test.runIf(process.getuid?.() !== 0)('the state directory may not be written', async () => {
    await expectRefusedUntilFixed('store_unavailable', (project) => {
      for (const name of readdirSync(project.stateDir)) chmodSync(join(project.stateDir, name), 0o400);
      chmodSync(project.stateDir, 0o500);
      return () => {
        chmodSync(project.stateDir, 0o700);
        for (const name of readdirSync(project.stateDir)) chmodSync(join(project.stateDir, name), 0o700);
      };
    });
  });
});

test('a damaged page stops what needs it, and nothing is lost when it is fixed', async () => {
  const { project, run, status } = prepared();
  const page = asNumber(sql(project, `SELECT rootpage FROM sqlite_schema WHERE name = 'runs'`));
  const size = asNumber(sql(project, 'PRAGMA page_size'));

  const fix = overwrite(databaseOf(project), (page - 1) * size, Buffer.from([0xff]));

  for (const words of [['status', run], ['done', run], ['runs'], ['start', 'minimal'], ['audit', 'verify']]) {
    expectClear(await phasegate(project, [...words, '--json']), 'store_corrupt');
  }
  fix();
  await expectUnharmed(project, run, status);
});

test('one flipped byte of a run stops that run and no other', async () => {
  const { run, project } = prepared();
  const other = await startRun(project, 'minimal');
  const file = databaseOf(project);
  const database = new DatabaseSync(file, { readOnly: true });
  const state = String(database.prepare('SELECT state FROM runs WHERE id = ?').get(run)?.state);
  database.close();
  const offset = readFileSync(file).indexOf(Buffer.from(state));
  expect(offset).toBeGreaterThan(0);

  overwrite(file, offset + 2, Buffer.from('j'));

  const called = await phasegate(project, ['status', run, '--json']);
  expectClear(called, 'state_tampered');
  expect((await phasegate(project, ['status', other, '--json'])).json).toMatchObject({ status: 'queued' });
  const verified = await phasegate(project, ['audit', 'verify', '--json']);
  expect(verified).toMatchObject({ code: 1, json: { findings: [{ kind: 'state_edited', run }] } });
});

test('a damaged database is replaced by its backup, and the run is back', async () => {
  const { project, run, status } = prepared();
  const backup = join(project.base, 'backup.db');
  expect(await phasegate(project, ['backup', backup])).toMatchObject({ code: 0 });
  overwrite(databaseOf(project), 0, Buffer.from('garbage, '.repeat(8)));
  expectClear(await phasegate(project, ['status', run, '--json']), 'store_corrupt');

  const nobody = await phasegate(project, ['restore', backup, '--json'], { passphrase: 'open barley' });
  const restored = await phasegate(project, ['restore', backup, '--json'], SECRET);

  expect(nobody).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
  expect(restored).toMatchObject({ code: 0 });
  expect((await phasegate(project, ['status', run, '--json'])).json).toEqual(status);
  expect(await phasegate(project, ['audit', 'verify'])).toMatchObject({ code: 0 });
  // The damaged one is kept, for the one who wants to look.
  expect(readdirSync(project.stateDir).some((name) => name.startsWith('state.db.before-restore'))).toBe(true);
});

test('a disk that takes no more refuses the transition, and the run is where it was', async () => {
  const { project, run, status } = prepared();
  // No file may grow over 768 KB: the write fails in the midst of the transaction.
  const limit = { by: ['bash', '-c', 'ulimit -f 768; exec "$0" "$@"'] };

  const called = await phasegate(project, ['done', run, '--evidence', '-', '--json'], {
    ...limit,
    stdin: JSON.stringify(LARGE),
  });

  expectClear(called, 'store_unavailable');
  await expectUnharmed(project, run, status);
  expect(await complete(project, run, { phase: 'PROPOSE', evidence: PROPOSAL })).toMatchObject({ code: 0 });
});

describe.runIf(canMount())('on a file system of its own', () => {
  test('a full disk refuses the transition, and the run is where it was', async () => {
    const { project, run, status } = prepared();
    const by = await mounted(
      project,
      (at, copy) => `mount -t tmpfs -o size=1m tmpfs ${at} && cp -a ${copy}/. ${at}/`,
    );
    const call = (words: readonly string[], stdin = '') =>
      phasegate(project, ['--project', project.root, ...words, '--json'], { by, stdin });

    const called = await call(['done', run, '--evidence', '-'], JSON.stringify(LARGE));

    expectClear(called, 'store_unavailable');
    expect((await call(['status', run])).json).toEqual(status);
    expect((await call(['audit', 'verify'])).json).toMatchObject({ ok: true });
    expect(await call(['done', run, '--evidence', '-'], JSON.stringify(PROPOSAL))).toMatchObject({ code: 0 });
  });

  test('a full disk refuses to make a state, and leaves none behind that cannot be opened', async () => {
    const project = makeProject({ 'one.workflow.yaml': 'workflow: one\nphases:\n  ONLY: { writes: [] }\n' });
    mkdirSync(project.stateDir, { recursive: true, mode: 0o700 });
    const filler = join(project.stateDir, 'filler');
    // All but a few pages are taken by something else.
    const by = await mounted(
      project,
      (at) => `mount -t tmpfs -o size=4m,mode=700 tmpfs ${at} && head -c 4176000 /dev/zero > '${filler}'`,
    );
    const call = (words: readonly string[]) =>
      phasegate(project, ['--project', project.root, ...words, '--json'], { by });

    expectClear(await call(['start', 'one']), 'store_unavailable');

    const freed = spawnSync(by[0] as string, [...by.slice(1), 'rm', filler]);
    expect(freed.status).toBe(0);
    expect(await call(['start', 'one'])).toMatchObject({ code: 0 });
    expect((await call(['audit', 'verify'])).json).toMatchObject({ ok: true, runs: 1 });
  });

  test('a read-only disk refuses every command that needs the state', async () => {
    const { project, run, status } = prepared();
    const by = await mounted(project, (at) => `mount --bind ${at} ${at} && mount -o remount,bind,ro ${at}`);

    for (const words of commandsOn(run)) {
      const called = await phasegate(project, ['--project', project.root, ...words, '--json'], { by });
      expectClear(called, 'store_unavailable');
    }
    await expectUnharmed(project, run, status);
  });
});

interface Prepared {
  readonly project: TestProject;
  readonly run: string;
  readonly status: JsonObject;
}

let original: Prepared;
const holders: ChildProcess[] = [];

beforeAll(async () => {
  const project = makeProject();
  await phasegate(project, ['init', '--template', 'minimal'], SECRET);
  const run = await startRun(project, 'minimal');
  const { json: status } = await phasegate(project, ['status', run, '--json']);
  original = { project, run, status };
});

afterAll(() => {
  for (const holder of holders) holder.kill('SIGKILL');
});

/** A project with a human and a run in its first phase; every test harms a copy of its own. */
function prepared(): Prepared {
  return { ...original, project: copyOf(original.project) };
}

const LARGE = { proposal: { ...PROPOSAL.proposal, summary: 'Paint it blue. '.repeat(65_000) } };

function commandsOn(run: string): readonly (readonly string[])[] {
  return [
    ['status', run],
    ['next', run],
    ['done', run],
    ['runs'],
    ['start', 'minimal'],
    ['audit', 'verify'],
    ['humans', 'list'],
  ];
}

async function expectRefusedUntilFixed(
  code: string,
  harm: (project: TestProject) => () => void,
): Promise<void> {
  const { project, run, status } = prepared();
  const fix = harm(project);

  for (const words of commandsOn(run)) {
    expectClear(await phasegate(project, [...words, '--json']), code);
  }
  const inWords = await phasegate(project, ['status', run]);
  expect(inWords).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`[${code}]`) });
  expect(inWords.stderr).not.toMatch(/\n\s+at /);
  const doctor = await phasegate(project, ['doctor', '--json']);
  expect(doctor).toMatchObject({ code: 1, json: { ok: false } });

  fix();
  await expectUnharmed(project, run, status);
}

async function expectUnharmed(project: TestProject, run: string, status: JsonObject): Promise<void> {
  expect((await phasegate(project, ['status', run, '--json'])).json).toEqual(status);
  const verified = await phasegate(project, ['audit', 'verify', '--json']);
  expect(verified).toMatchObject({ code: 0, json: { ok: true } });
}

/** One JSON value that says what is wrong in the user's words: no stack, no fault of ours. */
function expectClear({ code, stdout, stderr, json }: Called, error: string): void {
  expect({ code, error: json.error, stderr }).toEqual({ code: 1, error, stderr: '' });
  expect(String(json.message).length).toBeGreaterThan(10);
  expect(stdout).not.toMatch(/\\n\s+at /);
}

function databaseOf(project: TestProject): string {
  return join(project.stateDir, 'state.db');
}

function sql(project: TestProject, text: string): unknown {
  const database = new DatabaseSync(databaseOf(project));
  try {
    return Object.values(database.prepare(text).get() ?? {})[0];
  } finally {
    database.close();
  }
}

function asNumber(value: unknown): number {
  expect(value).toBeTypeOf('number');
  return value as number;
}

/** Writes bytes over those of a file; gives what puts the old ones back. */
function overwrite(file: string, offset: number, bytes: Buffer): () => void {
  const before = readFileSync(file);
  const after = Buffer.from(before);
  bytes.copy(after, offset);
  writeFileSync(file, after);
  return () => writeFileSync(file, before);
}

/** Whether this machine lets us mount in a name space of our own, which leaves nothing behind. */
function canMount(): boolean {
  const script = 'mount -t tmpfs tmpfs /tmp && nsenter --version';
  return spawnSync('unshare', ['-rm', 'sh', '-c', script]).status === 0;
}

/** Mounts over the state directory in a name space of its own; gives the words that run a program in there. */
async function mounted(
  project: TestProject,
  script: (stateDir: string, copy: string) => string,
): Promise<readonly string[]> {
  const copy = join(project.base, 'state-copy');
  cpSync(project.stateDir, copy, { recursive: true });
  const commands = `${script(`'${project.stateDir}'`, `'${copy}'`)} && echo ready && exec sleep 600`;
  const holder = spawn('unshare', ['-rm', 'sh', '-c', commands], { stdio: ['ignore', 'pipe', 'inherit'] });
  holders.push(holder);
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve());
    holder.once('exit', (code) => reject(new Error(`nothing was mounted (${code})`)));
  });
  return ['nsenter', '-U', '-m', '--preserve-credentials', '-t', String(holder.pid)];
}
