import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { EnclosedProgram } from '../../runtime/ports.ts';

/** Runs a program on this process's own streams until it ends; gives its exit code, as a shell would. */
export function runHere({ argv, cwd, environment, descriptors, channel }: EnclosedProgram): Promise<number> {
  const [file, ...words] = argv;
  const rest = descriptors.map((descriptor) => descriptor ?? 'ignore');
  const child = spawn(file, words, {
    cwd,
    env: environment,
    stdio: ['inherit', 'inherit', 'inherit', ...rest, ...(channel === undefined ? [] : (['pipe'] as const))],
  });
  channel?.serve(child.stdio.at(-1));
  // What ends us is for the program too, and its end is ours.
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  }).finally(() => {
    for (const signal of SIGNALS) process.removeListener(signal, forward);
  });
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
