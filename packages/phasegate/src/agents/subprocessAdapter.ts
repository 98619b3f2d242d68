import { closeSync, openSync } from 'node:fs';
import type { Enclose } from '../runtime/ports.ts';
import type { AgentAdapter } from './adapter.ts';
import { endGroup, signalGroup } from './endGroup.ts';
import { endWithUs } from './endWithUs.ts';
import { passOn } from './passOn.ts';
import { startHeld } from './startHeld.ts';
import { startProgram } from './startProgram.ts';

/** Starts agents as processes of our own, each in a process group of its own. */
export function subprocessAdapter(options: {
  /** What the program prints is appended here; null: it goes to our stderr, which leaves stdout to the result. */
  readonly logFile: string | null;
  /** Whether the program may read our terminal. */
  readonly terminal: boolean;
  /** Whether the last lines a program prints are kept; then it prints into a pipe. */
  readonly keepsLines?: boolean;
  /** The sandbox of a run's phase, for programs that are to be held. */
  readonly enclose: (run: string) => Promise<Enclose>;
}): AgentAdapter {
  return {
    async start(launch) {
      const log = options.logFile === null ? 2 : openSync(options.logFile, 'a', 0o600);
      const input = launch.inputFile === undefined ? null : openSync(launch.inputFile, 'r');
      const keeps = options.keepsLines === true && launch.held === undefined;
      const out = keeps ? 'pipe' : log;
      const how = {
        stdio: [input ?? (options.terminal ? 'inherit' : 'ignore'), out, out],
        ownGroup: true,
      } as const;
      const { held } = launch;
      const { child, exited } =
        held === undefined
          ? startProgram(launch, how)
          : await startHeld({ ...launch, held }, { ...how, enclose: await options.enclose(held.run) });
      const printed = keeps ? passOn([child.stdout, child.stderr], log) : null;
      if (printed === null && log !== 2) closeSync(log);
      if (input !== null) closeSync(input);
      const { pid } = child;
      // An agent must not outlive the one who follows it: nobody would notice its end.
      const leave = () => pid !== undefined && signalGroup(pid, 'SIGKILL');
      process.once('exit', leave);
      const callOff = pid === undefined ? () => undefined : endWithUs(pid);
      const ended = exited.then(async (exit) => {
        leave();
        callOff();
        process.removeListener('exit', leave);
        await printed?.settled();
        return exit;
      });
      return {
        where: pid === undefined ? 'nowhere' : `process ${pid}`,
        exited: ended,
        ...(printed === null ? {} : { lastLines: printed.lastLines }),
        stop: async () => {
          if (pid !== undefined) await endGroup(pid, ended);
        },
      };
    },
  };
}
