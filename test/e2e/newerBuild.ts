import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM, type TestProject } from './cli.ts';

/** A build of this program as its next version will be: another number, and one more format of PostgreSQL. */
export interface NewerBuild {
  readonly program: string;
  readonly version: string;
  /** Calls a command of it. */
  call(
    project: TestProject,
    words: readonly string[],
    env: Readonly<Record<string, string>>,
  ): { readonly code: number | null; readonly json: Record<string, unknown> };
}

/** Copies what is built and stamps the copy. It adds to the tables, as every migration must. */
export function newerBuild(): NewerBuild {
  const package_ = dirname(dirname(PROGRAM));
  const base = mkdtempSync(join(tmpdir(), 'phasegate-newer-'));
  const copy = join(base, 'packages/phasegate');
  mkdirSync(join(copy, 'dist'), { recursive: true });
  for (const part of ['bin', 'package.json', 'dist/cli', 'dist/dashboard'])
    cpSync(join(package_, part), join(copy, part), { recursive: true });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(base, 'node_modules'));
  const { version } = JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const cli = join(copy, 'dist/cli');
  stamp(
    join(cli, 'main.js'),
    new RegExp(`(VERSION = ")${version.replaceAll('.', '\\.')}(")`),
    `$1${NEWER}$2`,
  );
  stamp(join(cli, 'postgres.js'), /(MIGRATIONS = \[`[^`]*`)(\])/, `$1, \`${LATER}\`$2`);
  const program = join(copy, 'bin/phasegate.js');
  return {
    program,
    version: NEWER,
    call(project, words, env) {
      const { status, stdout } = spawnSync(process.execPath, [program, ...words], {
        cwd: project.root,
        env: { ...project.env, ...env },
        encoding: 'utf8',
      });
      return { code: status, json: stdout.startsWith('{') ? JSON.parse(stdout) : { printed: stdout.trim() } };
    },
  };
}

const NEWER = '99.0.0';
const LATER = `ALTER TABLE runs ADD COLUMN later text;
  ALTER TABLE leases ADD COLUMN later text DEFAULT 'x'; CREATE TABLE later (one boolean)`;

function stamp(file: string, found: RegExp, put: string): void {
  const text = readFileSync(file, 'utf8');
  const stamped = text.replace(found, put);
  if (stamped === text) throw new Error(`${file} has nothing that looks like ${found}`);
  writeFileSync(file, stamped);
}
