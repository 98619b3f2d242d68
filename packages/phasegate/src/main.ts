import { openLocalProject } from './localProject.ts';
import { runCli } from './surfaces/cli/runCli.ts';

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTty: process.stdin.isTTY === true && process.stderr.isTTY === true,
  openProject: openLocalProject,
});
