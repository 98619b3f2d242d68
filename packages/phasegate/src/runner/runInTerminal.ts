import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { markOfDriver } from '../workspace/startGuard.ts';
import type { Driving, StepAtWork } from './parts.ts';
import { encloseFor, milliseconds, notStarted, type ProgramEnd } from './runStepProgram.ts';
import { makeStateFolder } from './stateFiles.ts';

/** Runs an agent in a terminal of its own for as long as the step may take. What it prints is read there. */
export async function runInTerminal(
  driving: Driving,
  step: StepAtWork,
  program: {
    readonly argv: readonly [string, ...string[]];
    readonly environment: Readonly<Record<string, string>>;
  },
): Promise<ProgramEnd> {
  const { request, parts, signal } = driving;
  const { run, phase, item } = step;
  if ((await encloseFor(driving, step)) !== null) {
    const reason =
      'a terminal of its own is outside the sandbox that this run has; use `--adapter subprocess`';
    return { kind: 'failed', reason };
  }
  const seconds = phase.timeoutSeconds ?? request.stepTimeout;
  const suffix = randomBytes(3).toString('hex');
  const folder = join(request.project.stateDir, 'runs', `terminal-${suffix}`);
  await makeStateFolder(request.project.stateDir, folder);
  try {
    const started = await parts.terminal.start({
      argv: program.argv,
      // The terminal is not a child of ours: by its mark the agent is found all the same when we are gone.
      environment: { ...program.environment, ...markOfDriver() },
      name: `${request.agent}-${suffix}`,
      cwd: request.project.root,
      credentials: JSON.stringify({ run: run.id, phase: phase.id, item, agent: request.agent }),
      folder,
    });
    request.report({ event: 'note', message: `the agent for \`${phase.id}\` works in ${started.where}` });
    let late = false;
    const stop = () => void started.stop();
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, milliseconds(seconds));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const exit = await started.exited.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
    if (signal.aborted) return { kind: 'aborted' };
    const name = `\`${program.argv[0]}\``;
    if (late)
      return { kind: 'failed', reason: `${name} did not end within ${seconds} seconds and was killed` };
    if (exit.kind === 'not_started') return { kind: 'failed', reason: notStarted(name, exit.code) };
    if (exit.kind === 'killed') return { kind: 'failed', reason: `${name} was killed by ${exit.signal}` };
    if (exit.code !== 0) return { kind: 'failed', reason: `${name} ended with exit code ${exit.code}` };
    return { kind: 'ended', last: null, whole: null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
