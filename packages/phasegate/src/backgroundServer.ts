import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { isOwnVariable } from '@phasegate/core/contract';
import { makeFolder } from './config/makeFolder.ts';
import { requireOwnState } from './config/requireOwnState.ts';
import { KEYS_VARIABLE } from './config/sharedKeys.ts';
import { ownStateDir } from './config/stateDirFor.ts';
import { readWorktreeRecord } from './config/worktreeRecord.ts';
import type { BackgroundServer, EnsureServer, FoundServer, ServerEntry } from './runtime/ports.ts';
import { findServer, isPlaceTaken, lookAtServer } from './serverFile.ts';
import { isServedBy } from './settings/hookSocket.ts';

/** What a server in the background is started by. */
export interface Launching {
  /** The words this program was started by, up to its own arguments. */
  readonly launcher: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The server of a project as a process beside the others. */
export function createBackgroundServer(launching: Launching): BackgroundServer {
  return {
    ensure: (request) => ensureServer(request, launching),
    look: lookAtServer,
    end: endServer,
  };
}

/**
 * Finds the server or starts it, and waits until it shows its key. Of many who start one, the place beside
 * `server.json` lets one through; the others end, and their callers find that one. One that is ending, or whose socket
 * for hooks was removed, still shows its key: it is waited for. Throws `server_unreachable`.
 */
async function ensureServer(
  request: Parameters<EnsureServer>[0],
  launching: Launching,
): Promise<FoundServer> {
  const { stateDir } = request;
  const found = await findServer(stateDir);
  if (found !== null && canBeAskedByHooks(found)) return { ...found, started: false };
  // One for all folders of the project: it works in the main one, also where a worktree is the first to need it.
  const main = readWorktreeRecord(ownStateDir(realpathSync(request.root), launching.env)) ?? request.root;
  makeFolder(stateDir);
  requireOwnState(stateDir);
  const until = Date.now() + request.deadlineMs;
  let child: Started | null = null;
  let starts = 0;
  let entry = found;
  while (Date.now() < until) {
    // Another that is starting is waited for; where it ends without a server, or was on its way out, the next is ours.
    if ((child === null || child.ended) && starts < MOST_STARTS && !(await isPlaceTaken(stateDir))) {
      child = start({ ...request, root: main }, launching);
      starts += 1;
    }
    await later(LOOK_MS);
    entry = await findServer(stateDir);
    if (entry !== null && canBeAskedByHooks(entry)) return { ...entry, started: entry.pid === child?.pid };
    if (starts === MOST_STARTS && child?.ended === true && !(await isPlaceTaken(stateDir))) break;
  }
  // Everybody but hooks can use it, and a hook that finds no socket says so.
  if (entry !== null) return { ...entry, started: entry.pid === child?.pid };
  throw unreachable(stateDir, request.deadlineMs);
}

/** Also one that never had a socket for them, which says so in its log: waiting would not change it. */
function canBeAskedByHooks({ socket, pid }: ServerEntry): boolean {
  return socket === undefined || isServedBy(socket, pid);
}

/** Asks the server to end, and waits until its place is free. Null where there was none. */
async function endServer(stateDir: string, deadlineMs: number): Promise<ServerEntry | null> {
  const found = await lookAtServer(stateDir);
  if (found.state === 'none' || found.state === 'impostor') return null;
  if (found.state === 'silent') {
    const who = found.entry === null ? 'a process' : `process ${found.entry.pid}`;
    throw new PhasegateError('server_unreachable', `${who} has the place of the server and does not answer`, {
      hint: found.entry === null ? 'try again in a moment' : `end it yourself: \`kill ${found.entry.pid}\``,
    });
  }
  // It has just shown its key and named this process itself: the number is not another's.
  process.kill(found.entry.pid, 'SIGTERM');
  const until = Date.now() + deadlineMs;
  while (await isPlaceTaken(stateDir)) {
    if (Date.now() > until) {
      throw new PhasegateError('server_unreachable', `process ${found.entry.pid} has not ended yet`, {
        hint: 'it finishes what is under way; look again with `phasegate doctor`',
      });
    }
    await later(LOOK_MS);
  }
  return found.entry;
}

const LOOK_MS = 50;
const MOST_STARTS = 3;
const LARGEST_LOG = 1024 * 1024;
const LOG = 'server.log';

interface Started {
  readonly pid: number | undefined;
  ended: boolean;
}

function start({ stateDir, root, idle }: Parameters<EnsureServer>[0], launching: Launching): Started {
  const [program, ...words] = launching.launcher;
  const log = openLog(stateDir);
  try {
    const child = spawn(
      program as string,
      [...words, 'serve', '--background', '--idle', idle, '--project', root],
      { cwd: root, detached: true, stdio: ['ignore', log, log], env: serverEnvironment(launching.env) },
    );
    const started: Started = { pid: child.pid, ended: false };
    const end = () => {
      started.ended = true;
    };
    child.once('error', end).once('exit', end);
    // It outlives the one who started it.
    child.unref();
    return started;
  } finally {
    closeSync(log);
  }
}

/** Grows to a megabyte, then begins anew; never through a link, as the one who put it there would choose what is written to. */
function openLog(stateDir: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const log = openSync(join(stateDir, LOG), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  if (fstatSync(log).size > LARGEST_LOG) ftruncateSync(log);
  return log;
}

/**
 * What the server is started with. It is whatever called us first, perhaps an agent's client: what would load code into
 * the server is left out, and so is what names a run, a key or another server.
 */
function serverEnvironment(env: Launching['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !(isOwnVariable(entry[0]) && !KEYS.includes(entry[0])) &&
      !LOADS_CODE.test(entry[0]),
  );
  return Object.fromEntries(kept);
}

const LOADS_CODE =
  /^(?:NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*)$/;
/** Every process of a project must sign with the same ones. */
const KEYS: readonly string[] = ['ORCHESTRATOR_JWT_SECRET', KEYS_VARIABLE];

function unreachable(stateDir: string, deadlineMs: number): PhasegateError {
  const file = join(stateDir, LOG);
  const said = existsSync(file) ? (readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '') : '';
  return new PhasegateError(
    'server_unreachable',
    `the server of this project could not be started within ${Math.round(deadlineMs / 1000)} s${said === '' ? '' : `: ${said.slice(0, 300)}`}`,
    { hint: `run \`phasegate serve\` and see what it says; its log is ${file}` },
  );
}

function later(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
