import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@phasegate/core';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';
import { callHere, canCallHere, descriptorOf } from './callHere.ts';

/** The command as it is installed: the built program, not the sources. */
export const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));

/** A project in a folder of its own, with a state directory of its own beside it. */
export interface TestProject {
  /** Holds the project, its state and whatever else a test needs; nothing in it is shared. */
  readonly base: string;
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a file of the project and gives its absolute path. */
  write(path: string, content: string | Uint8Array): string;
}

// Read once: while a command is called here, this process has the command's environment.
const SCRATCH = realpathSync(tmpdir());
// So are programs that tests start from the sources compiled once for all of them.
const { NODE_COMPILE_CACHE = '' } = process.env;

/** The files of a project that says how it is tested, which `init` asks for. */
export const TESTED = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
} as const;

/** Makes a project; it is removed when all tests have finished. */
export function makeProject(files: Readonly<Record<string, string>> = {}): TestProject {
  const base = mkdtempSync(join(SCRATCH, 'phasegate-e2e-'));
  const root = join(base, 'project');
  mkdirSync(root);
  // Nothing of the caller's own environment but the way to programs: no colours, no terminal, no home.
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: base,
    USER: 'maria',
    XDG_STATE_HOME: join(base, 'state'),
    ...(NODE_COMPILE_CACHE === '' ? {} : { NODE_COMPILE_CACHE }),
  };
  const write = (path: string, content: string | Uint8Array) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { base, root, stateDir: stateDirFor(root, env), env, write };
}

/** A project with the same files and the same state, in a place of its own. */
export function copyOf(project: TestProject): TestProject {
  const copy = makeProject();
  cpSync(project.root, copy.root, { recursive: true });
  if (existsSync(project.stateDir)) {
    mkdirSync(dirname(copy.stateDir), { recursive: true, mode: 0o700 });
    cpSync(project.stateDir, copy.stateDir, { recursive: true, preserveTimestamps: true });
  }
  return copy;
}

/** What one call is given beside its words. */
export interface CallOptions {
  readonly stdin?: string;
  /** Given on file descriptor 3, with `--passphrase-fd 3`. */
  readonly passphrase?: string;
  /** Given on file descriptor 4, with `--new-passphrase-fd 4`. */
  readonly newPassphrase?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Words to run the program by, such as `['prlimit', '--fsize=1000']`. */
  readonly by?: readonly string[];
  readonly cwd?: string;
}

/** What a call came to. */
export interface Called {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Stdout as the one JSON value it must be. */
  readonly json: JsonObject;
}

/** A call under way. */
export interface Call {
  readonly pid: number;
  readonly result: Promise<Called>;
  /** Gives the program its stdin and closes it. */
  feed(text: string): void;
  /** Waits until the text stands on its stderr. */
  says(text: string): Promise<void>;
  kill(): void;
}

/**
 * Calls the command as a shell without a terminal would, and waits for its end. In this process where it can be, which
 * takes a tenth of the time; what is about processes, their start and their end calls `asProcess`.
 */
export async function phasegate(
  project: TestProject,
  words: readonly string[],
  options: CallOptions = {},
): Promise<Called> {
  const cwd = options.cwd ?? project.root;
  const env = { ...project.env, ...options.env };
  if (options.by !== undefined || !canCallHere(words, { cwd, env }))
    return asProcess(project, words, options);
  const secrets = Object.entries({
    '--passphrase-fd': options.passphrase,
    '--new-passphrase-fd': options.newPassphrase,
  }).flatMap(([option, text]) =>
    text === undefined ? [] : [option, String(descriptorOf(text, project.base))],
  );
  const stdin = options.stdin ?? '';
  const { code, stdout, stderr } = await callHere({ words: [...words, ...secrets], cwd, env, stdin });
  return called(code, null, [stdout, stderr]);
}

/** Calls the command as it is installed, in a process of its own. */
export function asProcess(
  project: TestProject,
  words: readonly string[],
  options: CallOptions = {},
): Promise<Called> {
  const call = begin(project, words, options);
  call.feed(options.stdin ?? '');
  return call.result;
}

/** Begins a call whose stdin stays open until it is fed. */
export function begin(project: TestProject, words: readonly string[], options: CallOptions = {}): Call {
  const secrets = [
    ...(options.passphrase === undefined ? [] : ['--passphrase-fd', '3']),
    ...(options.newPassphrase === undefined ? [] : ['--new-passphrase-fd', '4']),
  ];
  const [file, ...rest] = [...(options.by ?? []), process.execPath, PROGRAM, ...words, ...secrets] as [
    string,
    ...string[],
  ];
  const child = spawn(file, rest, {
    cwd: options.cwd ?? project.root,
    env: { ...project.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe', ...(secrets.length === 0 ? [] : (['pipe', 'pipe'] as const))],
  });
  if (secrets.length > 0) {
    giveTo(child.stdio[3], options.passphrase);
    giveTo(child.stdio[4], options.newPassphrase);
  }
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  let heard = () => {};
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr.push(chunk);
    heard();
  });
  const result = new Promise<Called>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve(called(code, signal, [Buffer.concat(stdout).toString(), Buffer.concat(stderr).toString()])),
    );
  });
  return {
    pid: child.pid as number,
    result,
    feed: (text) => giveTo(child.stdin, text),
    says: (text) =>
      new Promise((resolve, reject) => {
        heard = () => {
          if (Buffer.concat(stderr).includes(text)) resolve();
        };
        child.on('close', () => reject(new Error(`it ended before it said \`${text}\``)));
        heard();
      }),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Starts a run and gives its id; fails where none was made. */
export async function startRun(
  project: TestProject,
  workflow: string,
  words: readonly string[] = [],
): Promise<string> {
  const started = await phasegate(project, ['start', workflow, ...words, '--json']);
  if (started.code !== 0) throw new Error(`no run was made: ${started.stdout}${started.stderr}`);
  return String(started.json.run);
}

/** The words of a decision with the hash of what `status` shows now; without a terminal they are nothing without it. */
export async function withShown(project: TestProject, words: readonly string[]): Promise<readonly string[]> {
  const { json } = await phasegate(project, ['status', String(words[1]), '--json']);
  return [...words, '--shown', String(Object(json.gate).shown)];
}

/** `fence RUN …` with the hash of what the fence lists now, as one who has read the list gives it. */
export async function withListed(project: TestProject, words: readonly string[]): Promise<readonly string[]> {
  const { json } = await phasegate(project, ['fence', String(words[1]), '--json']);
  return [...words, '--shown', String(json.shown)];
}

/** Completes a phase with evidence on stdin. */
export function complete(
  project: TestProject,
  run: string,
  { phase, evidence = {} }: { readonly phase: string; readonly evidence?: object },
): Promise<Called> {
  return phasegate(project, ['done', run, '--phase', phase, '--evidence', '-', '--json'], {
    stdin: JSON.stringify(evidence),
  });
}

function called(
  code: number | null,
  signal: NodeJS.Signals | null,
  [stdout, stderr]: readonly [string, string],
): Called {
  return {
    code,
    signal,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout) as JsonObject;
    },
  };
}

function giveTo(stream: unknown, text: string | undefined): void {
  const sink = stream as Writable;
  // A program that ends without reading breaks the pipe: its own business.
  sink.on('error', () => undefined);
  sink.end(text ?? '');
}
