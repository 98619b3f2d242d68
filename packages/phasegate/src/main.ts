import { fstatSync, realpathSync, statSync, writeSync } from 'node:fs';
import { closeInherited } from './closeInherited.ts';
import { runCli } from './surfaces/cli/runCli.ts';
import { sayVersion } from './surfaces/cli/sayVersion.ts';

// Not the streams: Node makes each when it is first looked at, and few commands look at all three.
const { argv, env } = process;

// Made when it is first asked for: a command that needs no signals leaves them as they are.
let stop: AbortController | undefined;

function stopping(): AbortSignal {
  if (stop !== undefined) return stop.signal;
  const asked = new AbortController();
  stop = asked;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    // A second request means: do not wait for what is under way.
    process.on(signal, () => (asked.signal.aborted ? process.exit(1) : asked.abort()));
  }
  return asked.signal;
}

function isTty(): boolean {
  return (
    mayBeTerminal(0) && mayBeTerminal(2) && process.stdin.isTTY === true && process.stderr.isTTY === true
  );
}

/** Node makes a stream before it says whether there is a terminal, and a command that reads nothing needs none. */
function mayBeTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    return false;
  }
}

/** Making the stream takes longer than all else that is said of a short answer. */
function writeStraight(text: string): Uint8Array | null {
  let left = Buffer.from(text);
  try {
    while (left.length > 0) left = left.subarray(writeSync(1, left));
    return left;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return null;
    // It was opened so that nobody waits at it: the stream waits by itself.
    if (code === 'EAGAIN') return left;
    throw error;
  }
}

/** The words this program was started by. */
function launcher(): readonly [string, ...string[]] {
  return [process.execPath, ...process.execArgv, argv[1] ?? ''];
}

async function background() {
  return (await import('./backgroundServer.ts')).createBackgroundServer({ launcher: launcher(), env });
}

function run(): void {
  closeInherited(argv.slice(2), env);
  // No top-level await: commands are imported while this runs, from files that share this one's imports.
  runCli({
    argv: argv.slice(2),
    env,
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    straight: mayBeTerminal(1) ? undefined : writeStraight,
    get stderr() {
      return process.stderr;
    },
    besideIsPlain: !mayBeTerminal(2),
    get isTty() {
      return isTty();
    },
    openProject: async (options) => (await import('./localProject.ts')).openLocalProject(options),
    openRemote: async (options) => (await import('./remoteProject.ts')).openRemoteProject(options),
    machine: {
      stopping,
      serveMcp: async ({ project, agent, ...serving }) => {
        const { serveMcpStdio } = await import('./surfaces/mcp/serveMcpStdio.ts');
        const { attachedHere } = await import('./surfaces/mcp/attachedTools.ts');
        const { stdin, stdout } = process;
        const attached = await attachedHere(project, { agent, run: serving.run });
        await serveMcpStdio({ ...serving, attached, stdin, stdout, signal: stopping() });
      },
      openServer: async (request) => (await import('./localServer.ts')).openLocalServer(request),
      launcher: launcher(),
      background: {
        ensure: async (request) => (await background()).ensure(request),
        look: async (stateDir) => (await background()).look(stateDir),
        end: async (stateDir, deadlineMs) => (await background()).end(stateDir, deadlineMs),
      },
      spawnAgent: async (request) => {
        const { spawnLocalAgent } = await import('./spawnLocalAgent.ts');
        return spawnLocalAgent({ env, launcher: launcher(), terminal: isTty() })(request);
      },
      runWorker: async (request) => (await import('./localWorker.ts')).localWorker(env)(request),
      driveRun: async (request) => (await import('./localRunner.ts')).driveLocalRun(request),
      testWorkflow: async (request) => (await import('./localTests.ts')).testLocalWorkflow(request),
      worktrees: async () => (await import('./localWorktrees.ts')).localWorktrees(env),
      httpHooks: async (place) => (await import('./localHttpHooks.ts')).localHttpHooks(place),
      answerHook: async (event) => (await import('./localHook.ts')).answerLocalHook(event),
      isolate: async () =>
        (await import('./isolation/isolate.ts')).createIsolate([
          process.execPath,
          realpathSync(argv[1] ?? ''),
        ]),
      prove: async (request) => (await import('./localProve.ts')).proveLocalClients(request),
      runLaunch: async (folder) => (await import('./runLocalLaunch.ts')).runLocalLaunch(folder),
    },
  }).then((code) => {
    process.exitCode = code;
  });
}

if (!sayVersion(argv.slice(2))) run();
