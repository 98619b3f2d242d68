import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** What one process of the command line printed, and how it ended. */
export interface Called {
  /** Null where it was killed. */
  readonly code: number | null;
  readonly json: Readonly<Record<string, unknown>>;
  /** All it printed, on both streams. */
  readonly text: string;
}

/** How a process is called. */
export interface Calling {
  readonly evidence?: object;
  readonly passphrase?: string;
  /** Hash of the gate card that was read. */
  readonly shown?: string;
  /** SIGKILL after this many milliseconds. */
  readonly killAfter?: number;
}

/** A copy of this example in a folder of its own, with a home of its own. */
export interface DemoProject {
  readonly root: string;
  /** What its processes are given. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs the real command line in a process of its own, with `--json` and without a terminal. */
  phasegate(words: readonly string[], calling?: Calling): Promise<Called>;
  /** Runs the project's tests, as an agent would, and gives the counts. */
  runTests(): Promise<TestRun>;
  /** Puts a file of `agent/` where the agent would write it. */
  place(file: string, path: string): void;
  read(path: string): string;
  write(path: string, text: string): void;
  remove(): void;
}

/** The counts of a test run, as the workflow wants them. */
export interface TestRun {
  readonly command: string;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = join(HERE, '../../packages/phasegate/bin/phasegate.js');

/** Makes a project in the system's place for temporary files. */
export function makeDemoProject(): DemoProject {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-tdd-'));
  const root = join(base, 'project');
  for (const path of ['agent_workflow.yaml', 'package.json', 'schemas', 'src']) {
    cpSync(join(HERE, path), join(root, path), { recursive: true });
  }
  const env = {
    // The workflow's checks run `node`; it must be the one that runs this.
    PATH: [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
    HOME: base,
    XDG_STATE_HOME: join(base, 'state'),
  };
  const run = (words: readonly string[], calling: Calling = {}, cwd = root) =>
    runNode(words, calling, { cwd, env });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return {
    root,
    env,
    async phasegate(words, calling = {}) {
      const secret = calling.passphrase === undefined ? [] : ['--passphrase-fd', '3'];
      const evidence = calling.evidence === undefined ? [] : ['--evidence', '-'];
      const shown = calling.shown === undefined ? [] : ['--shown', calling.shown];
      const { code, stdout, text } = await run(
        [PROGRAM, ...words, ...evidence, ...shown, ...secret, '--json'],
        calling,
      );
      return { code, text, json: stdout === '' ? {} : JSON.parse(stdout) };
    },
    async runTests() {
      const { stdout } = await run(
        ['--test', '--test-isolation=none', '--test-reporter=tap'],
        {},
        join(root, 'test'),
      );
      const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1]);
      return {
        command: 'npm test',
        total: count('tests'),
        passed: count('pass'),
        failed: count('fail'),
        skipped: count('skipped'),
      };
    },
    place: (file, path) => write(path, readFileSync(join(HERE, 'agent', file), 'utf8')),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    write,
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly text: string;
}

function runNode(
  words: readonly string[],
  { evidence, passphrase, killAfter }: Calling,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { ...place, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout: code === null ? '' : stdout, text: stdout + stderr });
    });
    feed(child.stdin, evidence === undefined ? '' : JSON.stringify(evidence));
    feed(child.stdio[3] as Writable | null, passphrase === undefined ? '' : `${passphrase}\n`);
  });
}

/** Writes and closes a pipe; its reader may be gone already. */
function feed(pipe: Writable | null, text: string): void {
  pipe?.on('error', () => {});
  pipe?.end(text);
}
