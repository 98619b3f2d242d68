import { leaveExit, takeLaunch } from './launchFile.ts';
import { startProgram } from './startProgram.ts';

/**
 * Carries out the order in a folder, on the terminal this process has: what `phasegate agent exec` does inside of
 * tmux. Thereby no secret stands on tmux's command line or in its environment.
 */
export async function runLaunch(folder: string): Promise<void> {
  const launch = takeLaunch(folder);
  // Ctrl-C on the terminal is for the agent, which gets it too.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  const { child, exited } = startProgram(
    { ...launch, environment: { ...launch.environment, ...terminalOf(process.env) } },
    { stdio: ['inherit', 'inherit', 'inherit'], ownGroup: false },
  );
  const forward = (signal: NodeJS.Signals) => void child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  leaveExit(folder, await exited);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.removeListener(signal, forward);
  process.removeListener('SIGINT', ignore);
}

function terminalOf({ TERM, TMUX, TMUX_PANE }: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...(TERM === undefined ? {} : { TERM }),
    ...(TMUX === undefined ? {} : { TMUX }),
    ...(TMUX_PANE === undefined ? {} : { TMUX_PANE }),
  };
}
