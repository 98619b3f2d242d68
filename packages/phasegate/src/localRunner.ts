import { tmuxAdapter } from './agents/tmuxAdapter.ts';
import { withoutSecrets } from './launch/withoutSecrets.ts';
import { driveRun } from './runner/driveRun.ts';
import type { DriveRun } from './runtime/ports.ts';

/** Drives a run on this machine; agents that are to be watched get a tmux session of their own. */
export const driveLocalRun: DriveRun = (request) => {
  // What tmux is given to run is this program itself: it hands over what must not stand on a command line.
  const launcher = [process.execPath, ...process.execArgv, process.argv[1] ?? ''] as const;
  const terminal = tmuxAdapter({ launcher, environment: withoutSecrets(request.environment) });
  return driveRun(request, { terminal, launcher });
};
