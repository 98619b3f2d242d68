import { closeInherited } from './closeInherited.ts';
import { openLocalProject } from './localProject.ts';
import { runCli } from './surfaces/cli/runCli.ts';

const { argv, env, stdin, stdout, stderr } = process;
const isTty = stdin.isTTY === true && stderr.isTTY === true;

closeInherited(argv.slice(2), env);

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

// No top-level await: commands are imported while this runs, from files that share this one's imports.
runCli({
  argv: argv.slice(2),
  env,
  stdin,
  stdout,
  stderr,
  isTty,
  openProject: openLocalProject,
  openRemote: async (options) => (await import('./remoteProject.ts')).openRemoteProject(options),
  machine: {
    stopping,
    serveMcp: async (serving) => {
      const { serveMcpStdio } = await import('./surfaces/mcp/serveMcpStdio.ts');
      await serveMcpStdio({ ...serving, stdin, stdout, signal: stopping() });
    },
    openServer: async (request) => (await import('./localServer.ts')).openLocalServer(request),
    spawnAgent: async (request) => {
      const { spawnLocalAgent } = await import('./spawnLocalAgent.ts');
      const launcher = [process.execPath, ...process.execArgv, argv[1] ?? ''];
      return spawnLocalAgent({ env, launcher, terminal: isTty })(request);
    },
    driveRun: async (request) => (await import('./localRunner.ts')).driveLocalRun(request),
    testWorkflow: async (request) => (await import('./localTests.ts')).testLocalWorkflow(request),
    runLaunch: async (folder) => (await import('./agents/runLaunch.ts')).runLaunch(folder),
  },
}).then((code) => {
  process.exitCode = code;
});
