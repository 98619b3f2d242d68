import { spawn, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { afterAll, describe, expect, test } from 'vitest';
import { makeProject, phasegate, startRun, type TestProject, withListed } from '../e2e/cli.ts';
import { FULL, someOf } from '../tier.ts';
import { type Language, NAMES, PROJECTS } from './projects.ts';
import { READING, type Row } from './rows.ts';
import { ANYWHERE, DOCUMENTING, GENERATING, TESTING, WRITING } from './writingRows.ts';

// Ordinary work, done past Phasegate by the programs people use, in every kind of phase: none of it is refused, and
// nothing of the user's repository is touched by the looking.

/** A kind of phase: what it may write, where its files are, and what is done in it. */
interface Kind {
  readonly writes: readonly string[];
  /** The folder `$S`. */
  readonly folder: string;
  /** Rows, and how often those that are quick are done in a full run. */
  readonly rows: readonly (readonly [readonly Row[], times: number])[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  reading: { writes: [], folder: 'src', rows: [[READING, 2]] },
  testing: {
    writes: ['tests/**'],
    folder: 'tests',
    rows: [
      [READING, 1],
      [WRITING, 2],
      [TESTING, 1],
    ],
  },
  implementing: {
    writes: ['src/**'],
    folder: 'src',
    rows: [
      [READING, 1],
      [WRITING, 2],
      [GENERATING, 1],
    ],
  },
  documenting: {
    writes: ['docs/**'],
    folder: 'docs',
    rows: [
      [READING, 1],
      [WRITING, 2],
      [DOCUMENTING, 1],
    ],
  },
  anything: {
    writes: ['**'],
    folder: '.',
    rows: [
      [READING, 1],
      [WRITING, 2],
      [ANYWHERE, 1],
    ],
  },
};

/** One row in one project. */
interface Instance {
  readonly row: Row;
  readonly language: Language;
  readonly number: number;
}

/** Whether a program is installed, as far as it was asked. */
const found = new Map<string, boolean>();
const PASSPHRASE = 'correct horse battery';
/** In a quick run one project is enough: what differs is what is written there. */
const LANGUAGES: readonly Language[] = FULL
  ? (Object.keys(PROJECTS) as Language[]).filter((language) => hasAll([PROJECTS[language].needs ?? 'git']))
  : ['node'];
const HOME = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-benign-'));
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME,
  LANG: 'C.UTF-8',
  CARGO_HOME: process.env.CARGO_HOME ?? join(homedir(), '.cargo'),
  RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
  GIT_AUTHOR_NAME: 'ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_update_notifier: 'false',
};

const counts = new Map<string, number>();
const denials = new Map<string, number>();
const programs = new Map<string, Set<string>>();
const missing = new Map<string, number>();

describe.each(Object.entries(KINDS))(
  'ordinary work in a phase of the kind %s is not refused',
  (name, kind) => {
    const instances = instancesOf(name, kind);
    test.each(LANGUAGES.filter((language) => instances.some((one) => one.language === language)))(
      'in a project of the kind %s [adv.L4]',
      async (language) => {
        const project = await begun(language, name);
        const run = await startRun(project, name);
        const refused: unknown[] = [];
        const broken: string[] = [];
        for (const instance of instances.filter((one) => one.language === language)) {
          const end = await act(project, kind, instance).catch((error: Error) => {
            broken.push(error.message);
            return () => undefined;
          });
          const before = gitStates(project.root);
          const answer = await done(project, run, 'yes');
          end();
          if (answer.checkpoint_passed !== true) {
            refused.push([instance.row.shell, instance.number, answer.error, answer.blockers]);
            denials.set(name, (denials.get(name) ?? 0) + 1);
            await settle(project, run);
          }
          expect([instance.row.shell, changed(before, gitStates(project.root))]).toEqual([
            instance.row.shell,
            [],
          ]);
          counts.set(name, (counts.get(name) ?? 0) + 1);
          programs.set(name, (programs.get(name) ?? new Set()).add(instance.row.program));
        }
        expect({ refused, broken }).toEqual({ refused: [], broken: [] });
        expect(await done(project, run, 'no')).toMatchObject({ status: 'completed' });
      },
    );
  },
);

test.each(Object.entries(KINDS))(
  'of the kind %s there are 300 commands and edits by 60 programs',
  (_, kind) => {
    const all = kind.rows.flatMap(([rows, times]) =>
      rows.map((row) => ({ row, times: timesOf(row, times) })),
    );

    expect(all.reduce((sum, { times }) => sum + times, 0)).toBeGreaterThanOrEqual(300);
    expect(new Set(all.map(({ row }) => row.program)).size).toBeGreaterThanOrEqual(60);
  },
);

afterAll(() => {
  for (const [name, count] of counts)
    console.log(
      `${name}: ${count} commands and edits by ${programs.get(name)?.size} programs, ${denials.get(name) ?? 0} refused`,
    );
  const left = [...missing].map(([program, count]) => `${program} (${count})`);
  if (left.length > 0) console.log(`left out, as the program is not installed: ${left.join(', ')}`);
});

/** What is done in one kind of phase, each with a project of its own turn. */
function instancesOf(name: string, { rows }: Kind): readonly Instance[] {
  const there = rows.flatMap(([some, times]) =>
    some.filter(isThere).map((row) => ({ row, times: timesOf(row, times) })),
  );
  const all = there.flatMap(({ row, times }, index) => {
    const languages = LANGUAGES.filter((language) => (row.in ?? LANGUAGES).includes(language));
    if (languages.length === 0) return [];
    return Array.from({ length: times }, (_, time): Instance => {
      const language = languages[(index + time) % languages.length] as Language;
      return { row, language, number: index * 10 + time };
    });
  });
  const quick = all.filter(({ row }) => !row.heavy && !row.live);
  expect(quick.length, name).toBeGreaterThan(8);
  return FULL ? all : someOf(quick, { quick: 8, full: 8 });
}

/** What takes long is done once. */
function timesOf(row: Row, times: number): number {
  return row.heavy ? 1 : times;
}

function isThere({ program }: Row): boolean {
  if (hasAll([program])) return true;
  missing.set(program, (missing.get(program) ?? 0) + 1);
  return false;
}

function hasAll(names: readonly string[]): boolean {
  return names.every((name) => {
    const known = found.get(name) ?? spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
    found.set(name, known);
    return known;
  });
}

/** A project of that language, under version control, whose humans know the workflow of that kind. */
async function begun(language: Language, kind: string): Promise<TestProject> {
  const { files, ignores, before } = PROJECTS[language];
  const project = makeProject({ ...files, [`${kind}.workflow.yaml`]: workflowOf(kind) });
  if (ignores !== null) {
    project.write('.gitignore', `${ignores.join('\n')}\n`);
    sh(project.root, before ?? 'true');
    sh(project.root, 'git init -q -b main && git add -A && git commit -qm first');
  }
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE });
  await phasegate(project, ['trust', kind, '--yes'], { passphrase: PASSPHRASE });
  return project;
}

/** One phase that is done again and again. */
function workflowOf(kind: string): string {
  const writes = JSON.stringify(KINDS[kind]?.writes);
  return `workflow: ${kind}
phases:
  WORK:
    instructions: Work.
    writes: ${writes}
    next: { condition: result.more === "yes", on_true: WORK, on_false: null, max_iterations: 1000 }
`;
}

/** Does what the row says, as an agent would; gives what ends that which is still running. */
async function act({ root }: TestProject, kind: Kind, { row, number }: Instance): Promise<() => void> {
  const name = NAMES[number % NAMES.length] as string;
  const env = {
    ...ENV,
    F: join(kind.folder, name),
    S: kind.folder,
    T: join(HOME, `outside-${root.replaceAll('/', '-')}`),
    N: String(number),
  };
  mkdirSync(env.T, { recursive: true });
  if (!row.live) {
    sh(root, row.shell, env);
    return () => undefined;
  }
  const child = spawn('sh', ['-c', `exec ${row.shell}`], { cwd: root, env, detached: true });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => chunk.includes('ready') && resolve());
    child.on('exit', (code) => reject(new Error(`\`${row.shell}\` ended with ${code}`)));
  });
  return () => process.kill(-(child.pid as number), 'SIGKILL');
}

function sh(cwd: string, line: string, env: Readonly<Record<string, string>> = ENV): void {
  const { status, stderr, stdout } = spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`\`${line}\` ended with ${status}: ${stdout.slice(-500)}${stderr.slice(-500)}`);
}

async function done(project: TestProject, run: string, more: 'yes' | 'no'): Promise<JsonObject> {
  const words = ['done', run, '--phase', 'WORK', '--evidence', '-', '--json'];
  return (await phasegate(project, words, { stdin: JSON.stringify({ more }) })).json;
}

/** After a refusal that should not be: all is accepted, so that the next row is judged by itself. */
async function settle(project: TestProject, run: string): Promise<void> {
  const accept = ['fence', run, 'accept', '--all', '--reason', 'it is ordinary work'];
  await phasegate(project, await withListed(project, accept), { passphrase: PASSPHRASE });
  await done(project, run, 'yes');
}

/** Every file of the repository by what changes whenever it is written: even the same bytes show. */
function gitStates(root: string): ReadonlyMap<string, string> {
  const git = join(root, '.git');
  const paths =
    lstatSync(git, { throwIfNoEntry: false }) === undefined
      ? []
      : readdirSync(git, { recursive: true, encoding: 'utf8' });
  return new Map(
    paths.map((path) => {
      const { ino, size, mode, mtimeNs, ctimeNs } = lstatSync(join(git, path), { bigint: true });
      return [path, `${ino} ${size} ${mode} ${mtimeNs} ${ctimeNs}`];
    }),
  );
}

function changed(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path));
}
