import { execFile } from 'node:child_process';

/** Runs a program to its end and gives what it printed; one that fails is an error with all it said. */
export function run(
  program: string,
  args: readonly string[],
  {
    cwd,
    env = process.env,
    input,
  }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv; readonly input?: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      reject(new Error(`\`${[program, ...args].join(' ')}\` failed:\n${stdout}${stderr}`));
    });
    // A program may be over before it was given anything; what came of it says the rest.
    child.stdin?.on('error', () => undefined).end(input ?? '');
  });
}
