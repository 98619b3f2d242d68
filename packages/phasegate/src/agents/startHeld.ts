import { spawn } from 'node:child_process';
import type { Enclose } from '../runtime/ports.ts';
import type { HeldLaunch, Launch } from './adapter.ts';
import { endOf, type Program, type ProgramStream } from './startProgram.ts';

/** How a program is started in a sandbox. */
export interface HeldStart {
  readonly stdio: readonly [ProgramStream, ProgramStream, ProgramStream];
  readonly ownGroup: boolean;
  readonly enclose: Enclose;
}

/** Starts a program in its sandbox. It has no descriptor with credentials: the engine outside speaks for it. */
export async function startHeld(
  launch: Pick<Launch, 'argv' | 'cwd' | 'environment'> & { readonly held: HeldLaunch },
  { stdio, ownGroup, enclose }: HeldStart,
): Promise<Program> {
  const { argv, cwd, environment, held } = launch;
  const { read, write, engine } = held;
  const enclosed = await enclose({ argv, cwd, environment, read, write, engine });
  const [file, ...words] = enclosed.argv;
  const child = spawn(file, words, {
    cwd: enclosed.cwd,
    env: enclosed.environment,
    stdio: [...stdio, ...enclosed.descriptors.map((descriptor) => descriptor ?? 'ignore'), 'pipe'],
    shell: false,
    detached: ownGroup,
  });
  enclosed.channel?.serve(child.stdio.at(-1));
  const exited = endOf(child).then(async (exit) => {
    const begun = enclosed.begun();
    await enclosed.close();
    if (begun || exit.kind !== 'exited') return exit;
    return { kind: 'not_started' as const, code: 'the sandbox could not be made' };
  });
  return { child, exited };
}
