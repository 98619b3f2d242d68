import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { folder } from '../transitions/measure.ts';

const COMMAND = join(import.meta.dirname, '../../packages/phasegate/bin/phasegate.js');
/** The same from its single files, in which a profile can tell one from another. */
export const UNBUNDLED = join(import.meta.dirname, '../../packages/phasegate/dist/main.js');

/** `phasegate serve` as everyone runs it, on a project of its own. */
export interface Served {
  readonly port: number;
  readonly pid: number;
  /** Starts and claims runs; gives the token of each. */
  claim(count: number): Promise<readonly string[]>;
  /** The same, each run by an agent of its own. */
  hire(count: number): Promise<readonly string[]>;
  /** What one transition of a run is answered. */
  transition(body: string): Promise<unknown>;
  /** How many records of an event are in the audit, read from the file by another process than the server. */
  recorded(event: string): number;
  /** Ends the server and gives whether the whole audit verifies. */
  close(): Promise<boolean>;
}

/** Starts it with the workflow. */
export async function serve(
  workflow: string,
  {
    flags = [],
    env: more = {},
    command = COMMAND,
  }: {
    readonly flags?: readonly string[];
    readonly env?: NodeJS.ProcessEnv;
    readonly command?: string;
  } = {},
): Promise<Served> {
  const root = folder();
  const project = join(root, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'agent_workflow.yaml'), workflow);
  const env = { ...process.env, XDG_STATE_HOME: join(root, 'state'), ...more };
  const words = [...flags, command, 'serve', '--port', '0', '--json', '--project', project];
  const server = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'], cwd: root });
  const { url, sign_in } = await greetingOf(server);
  const ask = askerOf(url);
  const code = new URL(sign_in).searchParams.get('code');
  const { session } = await ask('/session', undefined, { code, bearer: true });
  const { key } = await ask('/agents', String(session), { name: 'bench' });
  const file = join(
    root,
    'state',
    'phasegate',
    readdirSync(join(root, 'state', 'phasegate'))[0] ?? '',
    'state.db',
  );
  const reader = new DatabaseSync(file, { readOnly: true });
  const count = reader.prepare('SELECT count(*) AS n FROM audit WHERE event = ?');
  const claimAs = async (name: string, bearer: string) => {
    await ask('/runs', String(session), { workflow: 'bench' });
    const claimed = await ask('/tasks/claim', bearer, { agent_id: name });
    return String(claimed.phase_token);
  };
  const claim = () => claimAs('bench', String(key));
  return {
    port: Number(new URL(url).port),
    pid: server.pid ?? 0,
    async claim(count) {
      const tokens: string[] = [];
      for (let index = 0; index < count; index++) tokens.push(await claim());
      return tokens;
    },
    async hire(count) {
      const tokens: string[] = [];
      for (let index = 0; index < count; index++) {
        const name = `agent-${index}`;
        const { key: own } = await ask('/agents', String(session), { name });
        tokens.push(await claimAs(name, String(own)));
      }
      return tokens;
    },
    transition: async (body) => ask('/tasks/transition', await claim(), JSON.parse(body) as object),
    recorded: (event) => Number(count.get(event)?.n),
    async close() {
      reader.close();
      server.kill('SIGTERM');
      await once(server, 'exit');
      const verify = spawn(process.execPath, [COMMAND, 'audit', 'verify', '--project', project], {
        env,
        stdio: 'ignore',
      });
      const [exit] = await once(verify, 'exit');
      rmSync(root, { recursive: true });
      return exit === 0;
    },
  };
}

interface Greeting {
  readonly url: string;
  readonly sign_in: string;
}

async function greetingOf(server: ChildProcess): Promise<Greeting> {
  let printed = '';
  for await (const chunk of server.stdout ?? []) {
    printed += String(chunk);
    try {
      return JSON.parse(printed) as Greeting;
    } catch {
      // Not all of it yet.
    }
  }
  throw new Error('the server ended before it said where it is');
}

function askerOf(url: string) {
  return async (path: string, as: string | undefined, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}
