import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import type { AskedCode, CodeGate, FunctionAnswer, FunctionCall, Functions } from '../../runtime/ports.ts';
import { hashOfFile } from '../readSource.ts';
import { type ClosureFile, closureOf } from './closureOf.ts';
import { workflowIdIn } from './findWorkflow.ts';
import { HostProcess } from './hostProcess.ts';

const MAX_HOSTS = 8;

/** Where modules are, and how long one may take to load. */
export interface FunctionHostOptions {
  /** Absolute path of the project's root. */
  readonly root: string;
  /** Asked before a module is loaded, and before each further call. */
  readonly gate: Pick<CodeGate, 'refusal'>;
  readonly loadTimeoutMs?: number;
}

/** A module that is loaded in a process of its own. */
interface OpenHost {
  readonly process: HostProcess;
  readonly files: readonly ClosureFile[];
  readonly code: AskedCode;
}

/**
 * Runs the code of TypeScript workflows, in processes of their own that have no keys. A process is kept for the next
 * call; it answers only while every file of the module is still the one that was accepted.
 */
export function createFunctions({ root, gate, loadTimeoutMs = 10_000 }: FunctionHostOptions): Functions {
  const hosts = new Map<string, Promise<OpenHost | FunctionAnswer>>();

  return {
    async call(request: FunctionCall): Promise<FunctionAnswer> {
      const file = isAbsolute(request.file)
        ? relative(root, request.file).split(sep).join('/')
        : request.file;
      const key = `${file}\0${request.code}`;
      const host = await find(key, file, request.code);
      if (!('process' in host)) return host;
      if (!unchanged(host.files)) {
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

  async function find(key: string, file: string, code: string): Promise<OpenHost | FunctionAnswer> {
    const known = hosts.get(key);
    if (known !== undefined) {
      const opened = await known;
      if (!('process' in opened) || opened.process.alive) return opened;
      // Someone else who found it dead may be loading it anew already.
      if (hosts.get(key) !== known) return find(key, file, code);
    }
    const host = openHost({ root, gate, loadTimeoutMs }, file, code).catch(broken);
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

/** Loads a module, if it is still the code it is asked for by. */
async function openHost(
  { root, gate, loadTimeoutMs }: Required<FunctionHostOptions>,
  file: string,
  code: string,
): Promise<OpenHost | FunctionAnswer> {
  const closure = await closureOf(root, file);
  const module = closure.files.find((candidate) => candidate.path === file);
  if (closure.code !== code || module === undefined) return changed(file);
  const asked: AskedCode = {
    workflow: closure.module === null ? file : workflowIdIn(file, closure.module.program),
    files: Object.fromEntries(closure.files.map(({ path, sha256 }) => [path, sha256])),
  };
  const refusal = await gate.refusal(asked);
  if (refusal !== null) return untrusted(file, refusal);
  const process = new HostProcess(root);
  const opening = {
    root: await realpath(root),
    module: module.real,
    modules: closure.sealed,
  };
  const result = await process.open(opening, loadTimeoutMs);
  if (result.ok) return { process, files: closure.files, code: asked };
  process.kill('its process was ended because its module cannot be loaded');
  return { ok: false, ...result.failure };
}

function untrusted(file: string, refusal: string): FunctionAnswer {
  return { ok: false, kind: 'untrusted', reason: `the code of \`${file}\`: ${refusal}` };
}

function broken(error: unknown): FunctionAnswer {
  return { ok: false, kind: 'threw', reason: error instanceof Error ? error.message : String(error) };
}

function unchanged(files: readonly ClosureFile[]): boolean {
  return files.every(({ real, sha256 }) => hashOfFile(real) === sha256);
}

function changed(file: string): FunctionAnswer {
  return { ok: false, kind: 'code_changed', reason: `the code of \`${file}\` has changed` };
}
