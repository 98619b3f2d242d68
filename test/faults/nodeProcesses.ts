import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';
import { freePort } from '../freePort.ts';

/** A real node, in a process of its own: it can be killed, paused and started again, at the same address. */
export interface NodeProcess {
  readonly url: string;
  /** Where its keys are. */
  readonly stateDir: string;
  /** The secret of a human's session there; none while it is not up. */
  session(): string | undefined;
  /** Starts it, again and again until it is up. */
  start(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** What it said last. */
  said(): string;
}

/** What the nodes share. */
export interface NodeGroup {
  readonly nodes: readonly NodeProcess[];
  /** Runs the command as an operator would, beside the nodes. */
  command(words: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string }>;
}

/** Who signs in at the nodes, and accepts the workflows before any of them serves. */
export interface HumanOfNodes {
  readonly name: string;
  readonly passphrase: string;
}

const PROGRAM = fileURLToPath(new URL('../../packages/phasegate/bin/phasegate.js', import.meta.url));
const CLOCK = new URL('./shiftedClock.js', import.meta.url).href;

/**
 * Nodes on one workspace and one database, each with a state directory of its own. `shifts` says of each by how many
 * milliseconds its clock is wrong.
 */
export async function nodeGroup(request: {
  readonly database: string;
  /** By the names of their files. */
  readonly workflows: Readonly<Record<string, string>>;
  readonly human: HumanOfNodes;
  readonly shifts: readonly number[];
}): Promise<NodeGroup> {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-faults-'));
  const root = join(base, 'project');
  mkdirSync(root);
  mkdirSync(join(base, 'measures'), { mode: 0o700 });
  for (const [name, text] of Object.entries(request.workflows)) writeFileSync(join(root, name), text);
  const env = (place: number, shift: number) => ({
    PATH: process.env.PATH ?? '',
    HOME: base,
    USER: 'maria',
    XDG_STATE_HOME: join(base, `state-${place}`),
    PHASEGATE_DATABASE: request.database,
    PHASEGATE_MEASURES: join(base, 'measures'),
    ...(shift === 0 ? {} : { NODE_OPTIONS: `--import=${CLOCK}`, PHASEGATE_TEST_SHIFT: String(shift) }),
  });
  const first = env(0, 0);
  const command = async (words: readonly string[], passphrase?: string) => {
    const secret = passphrase === undefined ? [] : ['--passphrase-fd', '3'];
    const child = spawn(process.execPath, [PROGRAM, ...words, ...secret], {
      cwd: root,
      env: first,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    (child.stdio[3] as Writable).on('error', () => undefined).end(passphrase);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout };
  };
  // Makes the keys that all nodes share.
  const { name, passphrase } = request.human;
  for (const words of [
    ['humans', 'add', name],
    ['trust', '--yes'],
  ]) {
    const { code } = await command(words, passphrase);
    if (code !== 0) throw new Error(`\`${words.join(' ')}\` ended with ${code}`);
  }
  const keys = join(stateDirFor(root, first), 'keys.json');
  const nodes: NodeProcess[] = [];
  for (const [place, shift] of request.shifts.entries()) {
    const mine = env(place, shift);
    const stateDir = stateDirFor(root, mine);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    if (place > 0) copyFileSync(keys, join(stateDir, 'keys.json'));
    nodes.push(nodeProcess({ root, env: mine, stateDir, port: await freePort(), human: request.human }));
  }
  return { nodes, command };
}

function nodeProcess(place: {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stateDir: string;
  readonly port: number;
  readonly human: HumanOfNodes;
}): NodeProcess {
  const url = `http://127.0.0.1:${place.port}`;
  let child: ChildProcess | undefined;
  let session: string | undefined;
  let said = '';
  let isWanted = false;

  async function end(): Promise<void> {
    session = undefined;
    const ended = child;
    child = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill('SIGKILL');
    await once(ended, 'close');
  }

  async function startOnce(): Promise<boolean> {
    const words = ['serve', '--port', String(place.port), '--json'];
    const started = spawn(process.execPath, [PROGRAM, ...words], {
      cwd: place.root,
      env: place.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
    const lines = createInterface({ input: started.stdout });
    const line = await Promise.race([
      once(lines, 'line').then(([text]) => String(text)),
      once(started, 'close').then(() => null),
    ]);
    if (line === null) return false;
    if ((JSON.parse(line) as { readonly url?: string }).url === undefined) {
      // It said why it does not serve.
      said = line;
      return false;
    }
    session = await sessionFrom(url, place.human);
    return session !== undefined;
  }

  return {
    url,
    stateDir: place.stateDir,
    session: () => session,
    said: () => said,
    async start() {
      isWanted = true;
      while (isWanted && !(await startOnce())) {
        await end();
        await pause(200);
      }
    },
    signal: (name) => void child?.kill(name),
    async kill() {
      isWanted = false;
      await end();
    },
  };
}

/** Signs in with the passphrase; undefined where the node is gone again, or its database away. */
async function sessionFrom(url: string, human: HumanOfNodes): Promise<string | undefined> {
  const body = JSON.stringify({ ...human, bearer: true });
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body, signal: AbortSignal.timeout(20_000) };
  const answer = await fetch(`${url}/api/v1/session`, sent).then(
    (response) => response.json() as Promise<{ readonly session?: string }>,
    () => ({ session: undefined }),
  );
  return answer.session;
}
