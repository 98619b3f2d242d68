import { openLocalProject } from './localProject.ts';
import { runCli } from './surfaces/cli/runCli.ts';

// No top-level await: commands are imported while this runs, from files that share this one's imports.
runCli({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTty: process.stdin.isTTY === true && process.stderr.isTTY === true,
  openProject: openLocalProject,
  serveMcp: async (serving) => {
    const { serveMcpStdio } = await import('./surfaces/mcp/serveMcpStdio.ts');
    const stop = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
    const { stdin, stdout } = process;
    await serveMcpStdio({ ...serving, stdin, stdout, signal: stop.signal });
  },
}).then((code) => {
  process.exitCode = code;
});
