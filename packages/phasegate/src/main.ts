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
}).then((code) => {
  process.exitCode = code;
});
