import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Json, PhasegateError } from '@phasegate/core';
import type { EnclosedProgram, FreeProgram, FunctionCall } from '../../runtime/ports.ts';
import type { HostAnswer, HostFailure, HostRequest, Opening } from './hostProtocol.ts';

/** An answer, or why there is none. */
export type HostResult =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly failure: HostFailure;
      /** The process had ended before the request could be sent, so asking another is no repetition. */
      readonly unsent?: true;
    };

/** What a workflow's code may know of the machine. Names are listed, never excluded: a new secret has a new name. */
const ENVIRONMENT = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_ENV',
  'SystemRoot',
  'PHASEGATE_DRIVER',
  // Of this repository's sources alone, which take longer to compile than to run. What is installed reads no cache here:
  // an agent could have written it, and a human accepted only what the code says.
  ...(import.meta.url.endsWith('.ts') ? ['NODE_COMPILE_CACHE'] : []),
];
const KEPT_OUTPUT = 2000;

/**
 * One child process that runs one module. Requests are answered one after another, so that a call that hangs takes
 * no other with it. It never keeps this process alive by itself.
 */
export class HostProcess {
  readonly #child: ChildProcess;
  #queue: Promise<unknown> = Promise.resolve();
  #ended: string | null = null;
  #errors = '';
  #nextId = 1;

  constructor(root: string, enclosed: EnclosedProgram | null = null) {
    this.#child = enclosed === null ? startFree(root) : startEnclosed(enclosed);
    this.#child.once('exit', (code, signal) => {
      this.#ended ??=
        signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`;
    });
    this.#child.once('error', (error) => {
      this.#ended ??= `its process cannot be used: ${error.message}`;
    });
    this.#child.stdout?.resume();
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk}`.slice(-KEPT_OUTPUT);
    });
    this.#hold(false);
  }

  get alive(): boolean {
    return this.#ended === null;
  }

  /** Loads the module. */
  open(opening: Opening, timeoutMs: number): Promise<HostResult> {
    return this.#ask((id) => ({ id, kind: 'open', opening }), timeoutMs);
  }

  /** Calls one of its functions. */
  call(call: Omit<FunctionCall, 'file' | 'code'>): Promise<HostResult> {
    const { ref, context, timeoutMs, database, known } = call;
    const given = { ...(known && { known }), ...(database && { database }) };
    return this.#ask((id) => ({ id, kind: 'call', ref, context, ...given }), timeoutMs);
  }

  kill(reason: string): void {
    this.#ended ??= reason;
    this.#child.kill('SIGKILL');
  }

  #ask(request: (id: number) => HostRequest, timeoutMs: number): Promise<HostResult> {
    const turn = this.#queue.then(() => this.#exchange(request(this.#nextId++), timeoutMs));
    this.#queue = turn;
    return turn;
  }

  #exchange(request: HostRequest, timeoutMs: number): Promise<HostResult> {
    if (this.#ended !== null) return Promise.resolve({ ...this.#broken(), unsent: true });
    this.#hold(true);
    return new Promise<HostResult>((resolve) => {
      const child = this.#child;
      const finish = (result: HostResult) => {
        clearTimeout(timer);
        child.off('message', onMessage);
        child.off('exit', onExit);
        child.off('error', onExit);
        this.#hold(false);
        resolve(result);
      };
      const onMessage = (answer: HostAnswer) => {
        if (answer?.id !== request.id) return;
        finish(answer.ok ? { ok: true, value: answer.value } : { ok: false, failure: answer.failure });
      };
      // What it wrote last says why it ended, and may still be on its way.
      const onExit = () => setImmediate(() => finish(this.#broken()));
      const timer = setTimeout(() => {
        this.kill('its process was ended because a call took too long');
        const reason = `did not answer within ${timeoutMs} ms`;
        finish({ ok: false, failure: { kind: 'timed_out', reason } });
      }, timeoutMs);
      child.on('message', onMessage);
      child.once('exit', onExit);
      child.once('error', onExit);
      child.send(request, (error) => {
        if (error !== null) this.kill(`its process cannot be reached: ${error.message}`);
      });
    });
  }

  #broken(): HostResult & { readonly ok: false } {
    const said = /^\w*Error: .*$/m.exec(this.#errors)?.[0];
    const reason = `${this.#ended ?? 'its process ended'}${said === undefined ? '' : ` (${said})`}`;
    return { ok: false, failure: { kind: 'threw', reason } };
  }

  /** While a request is open this process must wait for it; otherwise the child must not keep it alive. */
  #hold(waiting: boolean): void {
    const act = waiting ? 'ref' : 'unref';
    this.#child[act]();
    this.#child.channel?.[act]();
    for (const stream of [this.#child.stdout, this.#child.stderr]) (stream as Socket | null)?.[act]();
  }
}

const OPTIONS = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=512'] as const;

function startFree(root: string): ChildProcess {
  return fork(childFile(), [], {
    cwd: root,
    env: keptEnvironment(),
    execArgv: [...OPTIONS],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'json',
  });
}

/** The same program for a sandbox, and where its own files are. The first descriptor it is given is its channel. */
export function hostProgram(root: string): FreeProgram & { readonly places: readonly string[] } {
  return {
    argv: [process.execPath, ...OPTIONS, childFile()],
    cwd: realpathSync(root),
    environment: { ...keptEnvironment(), NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
    places: ownPlaces(),
  };
}

function startEnclosed({ argv, cwd, environment, descriptors, close }: EnclosedProgram): ChildProcess {
  const [file, ...words] = argv;
  const given = descriptors.map((descriptor) => descriptor ?? 'ignore');
  const child = spawn(file, words, {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...given],
    serialization: 'json',
  });
  // It has its own by now.
  void close();
  return child;
}

function keptEnvironment(): Record<string, string> {
  const kept = ENVIRONMENT.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(
    kept.filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  );
}

/** The packages this program is one of, or the checkout it lies in. */
function ownPlaces(): readonly string[] {
  const file = realpathSync(childFile());
  const packages = file.indexOf('/node_modules/');
  if (packages >= 0) return [file.slice(0, packages + '/node_modules'.length)];
  const folders = file.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
  return folders.filter((folder) => folder !== '' && existsSync(`${folder}/node_modules`)).slice(0, 1);
}

/** The program the child runs: beside this file, or where the build left it when this file is part of a bundle. */
function childFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`./hostChild.${extension}`, '../loaders/typescript/hostChild.js'];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new PhasegateError('internal', 'the program that runs functions is missing');
  return found;
}
