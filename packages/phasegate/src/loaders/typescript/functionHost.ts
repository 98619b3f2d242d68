import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import type {
  AskedCode,
  CodeGate,
  EnclosedProgram,
  FunctionAnswer,
  FunctionCall,
  Functions,
  Sandbox,
} from '../../runtime/ports.ts';
import { closureOf, type KnownModules } from './closureOf.ts';
import { workflowIdIn } from './findWorkflow.ts';
import { HostProcess, hostProgram } from './hostProcess.ts';

const MAX_HOSTS = 8;

/** Where modules are, and how long one may take to load. */
export interface FunctionHostOptions {
  /** Absolute path of the project's root. */
  readonly root: string;
  /** Asked before a module is loaded, and before each further call. */
  readonly gate: Pick<CodeGate, 'refusal'>;
  readonly loadTimeoutMs?: number;
  /** Holds the processes; absent where there can be no sandbox, and then nothing that must be held is called. */
  readonly sandboxing?: FunctionSandbox;
}

/** What holds the processes of functions. */
export interface FunctionSandbox {
  readonly sandbox: Pick<Sandbox, 'enclose'>;
  /** Whether the project has every program in a sandbox. */
  always(): Promise<boolean>;
}

/** A module that is loaded in a process of its own. */
interface OpenHost {
  readonly process: HostProcess;
  readonly code: AskedCode;
  /** What was read of its files, so that they need not be parsed to be looked at again. */
  readonly known: KnownModules;
}

/**
 * Runs the code of TypeScript workflows, in processes of their own that have no keys. A process is kept for the next
 * call; it answers only while every file of the module, and every import in it, is still the one that was accepted.
 */
export function createFunctions({
  root,
  gate,
  loadTimeoutMs = 10_000,
  sandboxing,
}: FunctionHostOptions): Functions {
  const hosts = new Map<string, Promise<OpenHost | FunctionAnswer>>();

  return {
    async call(request: FunctionCall): Promise<FunctionAnswer> {
      const file = isAbsolute(request.file)
        ? relative(root, request.file).split(sep).join('/')
        : request.file;
      const held = request.held === true || ((await sandboxing?.always()) ?? false);
      const written = held ? writtenBy(root, request) : [];
      const key = [file, request.code, held, ...written].join('\0');
      const host = await find(key, { file, code: request.code, held, written });
      if (!('process' in host)) return host;
      if (!(await isStill(root, { file, code: request.code }, host.known))) {
        drop(key, 'its process was ended because its code changed');
        return changed(file);
      }
      // A process may have been opened before a human was set up.
      const refusal = await gate.refusal(host.code);
      if (refusal !== null) {
        drop(key, 'its process was ended because nobody accepted its code');
        return untrusted(file, refusal);
      }
      const result = await host.process.call(request);
      if (result.ok) return result;
      // A call that waited behind one that hung has done nothing wrong.
      return result.unsent === true ? this.call(request) : { ok: false, ...result.failure };
    },

    async close() {
      const ended = [...hosts.keys()].map((key) => drop(key, 'its process was closed'));
      await Promise.all(ended);
    },
  };

  async function find(key: string, wanted: Wanted): Promise<OpenHost | FunctionAnswer> {
    const known = hosts.get(key);
    if (known !== undefined) {
      const opened = await known;
      if (!('process' in opened) || opened.process.alive) return opened;
      // Someone else who found it dead may be loading it anew already.
      if (hosts.get(key) !== known) return find(key, wanted);
    }
    const host = openHost({ root, gate, loadTimeoutMs, sandboxing }, wanted).catch(broken);
    hosts.set(key, host);
    const opened = await host;
    if (!('process' in opened)) hosts.delete(key);
    const oldest = hosts.keys().next().value;
    if (hosts.size > MAX_HOSTS && oldest !== undefined)
      await drop(oldest, 'its process made room for another');
    return opened;
  }

  async function drop(key: string, reason: string): Promise<void> {
    const host = hosts.get(key);
    hosts.delete(key);
    const opened = await host;
    if (opened !== undefined && 'process' in opened) opened.process.kill(reason);
  }
}

/** A module as it is asked for. */
interface Wanted {
  readonly file: string;
  readonly code: string;
  /** Whether its process is to be in a sandbox. */
  readonly held: boolean;
  /** Folders that it may write there. */
  readonly written: readonly string[];
}

/** The copy of the database that a handler writes lies outside the workspace; one inside is read there. */
function writtenBy(root: string, { database }: FunctionCall): readonly string[] {
  if (database === undefined || !database.writable) return [];
  const folder = dirname(database.file);
  return `${folder}${sep}`.startsWith(`${root}${sep}`) ? [] : [folder];
}

type Opened = Pick<FunctionHostOptions, 'root' | 'gate'> & {
  readonly loadTimeoutMs: number;
  readonly sandboxing: FunctionSandbox | undefined;
};

/** Its process in a sandbox that reads the workspace and writes nothing of it; null where it is to be in none. */
async function enclosedFor(
  { root, sandboxing }: Opened,
  { held, written }: Wanted,
): Promise<EnclosedProgram | null> {
  if (!held) return null;
  if (sandboxing === undefined)
    throw new Error('its process must be held by a sandbox, and there is none here');
  const scope = { workspace: await realpath(root), writes: [], mayWrite: () => false, commits: false };
  const { places, ...program } = hostProgram(root);
  return sandboxing.sandbox.enclose({ ...program, read: places, write: written, given: 1 }, scope);
}

/** Loads a module, if it is still the code it is asked for by. */
async function openHost(opened: Opened, wanted: Wanted): Promise<OpenHost | FunctionAnswer> {
  const { root, gate, loadTimeoutMs } = opened;
  const { file, code } = wanted;
  const known: KnownModules = new Map();
  const closure = await closureOf(root, file, known);
  if (closure.code !== code) return changed(file);
  const asked: AskedCode = {
    workflow: closure.module === null ? file : workflowIdIn(file, closure.module.program),
    files: Object.fromEntries(closure.files.map(({ path, sha256 }) => [path, sha256])),
  };
  const refusal = await gate.refusal(asked);
  if (refusal !== null) return untrusted(file, refusal);
  const process = new HostProcess(root, await enclosedFor(opened, wanted));
  const opening = {
    root: await realpath(root),
    module: closure.location,
    modules: closure.sealed,
  };
  const result = await process.open(opening, loadTimeoutMs);
  if (result.ok) return { process, code: asked, known };
  process.kill('its process was ended because its module cannot be loaded');
  return { ok: false, ...result.failure };
}

function untrusted(file: string, refusal: string): FunctionAnswer {
  return { ok: false, kind: 'untrusted', reason: `the code of \`${file}\`: ${refusal}` };
}

function broken(error: unknown): FunctionAnswer {
  return { ok: false, kind: 'threw', reason: error instanceof Error ? error.message : String(error) };
}

/** Whether what would be loaded now is the code that is asked for: the same bytes, and imports that lead to the same. */
async function isStill(
  root: string,
  { file, code }: Pick<Wanted, 'file' | 'code'>,
  known: KnownModules,
): Promise<boolean> {
  try {
    return (await closureOf(root, file, known)).code === code;
  } catch {
    return false;
  }
}

function changed(file: string): FunctionAnswer {
  return { ok: false, kind: 'code_changed', reason: `the code of \`${file}\` has changed` };
}
