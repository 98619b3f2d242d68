import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAM = join(HERE, '../../packages/phasegate/bin/phasegate.js');

/** A copy of this example with a server of its own. */
export interface Office {
  readonly root: string;
  readonly url: string;
  /** Runs the real command with `--json`. */
  phasegate(words: readonly string[]): Promise<Record<string, unknown>>;
  /** A request with the session of the one who used the server's sign-in link. */
  asHuman(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Starts an agent in a process of its own. */
  hire(name: string, heard: (line: Record<string, unknown>) => void): Promise<Agent>;
  close(): Promise<void>;
}

/** An agent's process. */
export interface Agent {
  readonly name: string;
  /** SIGKILL: it does not get to say goodbye. */
  kill(): void;
  /** Lets it finish what it has and end. */
  dismiss(): Promise<number | null>;
}

/** Makes the project in the system's place for temporary files and starts its server. */
export async function openOffice(): Promise<Office> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-many-'));
  const root = join(base, 'project');
  cpSync(join(HERE, 'agent_workflow.yaml'), join(root, 'agent_workflow.yaml'), { recursive: true });
  writeFileSync(join(root, 'brief.md'), 'Write one file for each change.\n');
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME: base, XDG_STATE_HOME: join(base, 'state'), NODE_COMPILE_CACHE };
  const node = (words: readonly string[], extra: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, words, { cwd: root, env: { ...env, ...extra }, stdio: ['pipe', 'pipe', 'pipe'] });

  const server = node([PROGRAM, 'serve', '--port', '0', '--json']);
  const complaints = collect(server);
  const { url, sign_in } = await firstLine(server, complaints);
  const code = new URL(String(sign_in)).searchParams.get('code');
  const signedIn = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, bearer: true }),
  });
  const { session } = (await signedIn.json()) as { readonly session: string };

  const phasegate: Office['phasegate'] = async (words) => {
    const child = node([PROGRAM, ...words, '--json']);
    const stderr = collect(child);
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    const code = await ended(child);
    if (code !== 0) throw new Error(`\`${words.join(' ')}\` ended with ${code}: ${stdout}${stderr()}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  return {
    root,
    url: String(url),
    phasegate,
    async asHuman(method, path, body) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    },
    async hire(name, heard) {
      const { key } = await phasegate(['agents', 'add', name]);
      const child = node([join(HERE, 'agent.ts')], {
        PHASEGATE_URL: String(url),
        PHASEGATE_KEY: String(key),
      });
      const stderr = collect(child);
      const exit = ended(child);
      const ready = new Promise<void>((resolve, reject) => {
        createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
          const said = JSON.parse(line) as Record<string, unknown>;
          if ('ready' in said) resolve();
          else heard(said);
        });
        void exit.then((code) => reject(new Error(`${name} ended with ${code}: ${stderr()}`)));
      });
      await ready;
      return {
        name,
        kill: () => child.kill('SIGKILL'),
        dismiss: async () => {
          child.stdin?.end();
          const code = await exit;
          if (code !== 0 && code !== null) throw new Error(`${name} ended with ${code}: ${stderr()}`);
          return code;
        },
      };
    },
    async close() {
      server.kill('SIGTERM');
      const code = await ended(server);
      rmSync(base, { recursive: true, force: true });
      if (code !== 0) throw new Error(`the server ended with ${code}: ${complaints()}`);
    },
  };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.on('close', resolve));
}

function firstLine(child: ChildProcess, complaints: () => string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', (line) =>
      resolve(JSON.parse(line) as Record<string, unknown>),
    );
    child.on('close', (code) => reject(new Error(`the server ended with ${code}: ${complaints()}`)));
  });
}
