import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';

/** One command line, and the process it would be. */
export interface HereCall {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

/** What it came to. */
export interface HereCalled {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a process has only one of, while calls use it. */
interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

let current: (Surroundings & { readonly restore: () => void }) | null = null;
let underWay = 0;

/** These start processes that look for the one above them, take signals, or own the standard streams. */
const OWN_PROCESS = new Set(['run', 'agent', 'serve', 'mcp', 'test', 'watch']);

/** Whether these words can be called here: not while a call with another folder or environment is under way. */
export function canCallHere(words: readonly string[], surroundings: Surroundings): boolean {
  if (OWN_PROCESS.has(words[0] ?? '')) return false;
  return current === null || isSame(current, surroundings);
}

/** Calls the command in this process, as a process of its own would: its folder, its environment, no terminal. */
export async function callHere({ words, cwd, env, stdin }: HereCall): Promise<HereCalled> {
  current ??= enter({ cwd, env });
  underWay += 1;
  const stdout = new Collector();
  const stderr = new Collector();
  try {
    const code = await runCli({
      argv: words,
      env,
      stdin: Readable.from([Buffer.from(stdin)]),
      stdout,
      stderr,
      isTty: false,
      openProject: openTestProject,
      openRemote: async (options) => {
        const { openRemoteProject } = await import('../../packages/phasegate/src/remoteProject.ts');
        return openRemoteProject(options);
      },
    });
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    underWay -= 1;
    if (underWay === 0) {
      current?.restore();
      current = null;
    }
  }
}

/** A file descriptor on a file that holds this text; the command that reads it closes it. */
export function descriptorOf(text: string, folder: string): number {
  const file = join(mkdtempSync(join(folder, 'descriptor-')), 'text');
  writeFileSync(file, text, { mode: 0o600 });
  return openSync(file, 'r');
}

function enter(surroundings: Surroundings): NonNullable<typeof current> {
  const [cwd, env] = [process.cwd(), { ...process.env }];
  process.chdir(surroundings.cwd);
  // Where Node keeps what it compiled is none of the command's, but of what it starts from the sources.
  const { NODE_COMPILE_CACHE } = env;
  replaceEnvironment({ ...surroundings.env, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) });
  return {
    ...surroundings,
    restore: () => {
      process.chdir(cwd);
      replaceEnvironment(env);
    },
  };
}

function replaceEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

function isSame(one: Surroundings, other: Surroundings): boolean {
  return one.cwd === other.cwd && isDeepStrictEqual({ ...one.env }, { ...other.env });
}

/** Keeps what is written to it, and tells of it. */
export class Collector extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    this.emit('written');
    done();
  }
}
