import type { Enclose } from '../runtime/ports.ts';
import type { HeldLaunch } from './adapter.ts';
import { leaveExit, takeLaunch } from './launchFile.ts';
import { startHeld } from './startHeld.ts';
import { startProgram } from './startProgram.ts';

/**
 * Carries out the order in a folder, on the terminal this process has: what `phasegate agent exec` does inside of
 * tmux. Thereby no secret stands on tmux's command line or in its environment.
 */
export async function runLaunch(
  folder: string,
  enclosing: (held: HeldLaunch) => Promise<Enclose>,
): Promise<void> {
  const taken = takeLaunch(folder);
  const launch = { ...taken, environment: { ...taken.environment, ...terminalOf(process.env) } };
  // Ctrl-C on the terminal is for the agent, which gets it too.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  const how = { stdio: ['inherit', 'inherit', 'inherit'], ownGroup: false } as const;
  const { held } = launch;
  const { child, exited } =
    held === undefined
      ? startProgram(launch, how)
      : await startHeld({ ...launch, held }, { ...how, enclose: await enclosing(held) }).catch(
          (error: unknown) => {
            // The one who waits outside of this terminal must be told.
            leaveExit(folder, { kind: 'not_started', code: (error as Error).message });
            throw error;
          },
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
