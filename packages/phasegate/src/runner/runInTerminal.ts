import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { markOfDriver } from '../workspace/startGuard.ts';
import type { AgentLaunch } from './agentLaunch.ts';
import type { Driving, StepAtWork } from './parts.ts';
import { encloseFor, milliseconds, notStarted, type ProgramEnd } from './runStepProgram.ts';
import { makeStateFolder } from './stateFiles.ts';

/** Runs an agent in a terminal of its own for as long as the step may take. What it prints is read there. */
export async function runInTerminal(
  driving: Driving,
  step: StepAtWork,
  program: Pick<AgentLaunch, 'argv' | 'environment' | 'held'> & { readonly until: AbortSignal },
): Promise<ProgramEnd> {
  const { request, parts, signal } = driving;
  const { run, phase, item } = step;
  const isHeld = (await encloseFor(driving, step)) !== null;
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
      ...(isHeld ? { held: { ...program.held, run: run.id } } : {}),
    });
    request.report({ event: 'note', message: `the agent for \`${phase.id}\` works in ${started.where}` });
    let late = false;
    const stop = () => void started.stop();
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, milliseconds(seconds));
    signal.addEventListener('abort', stop, { once: true });
    program.until.addEventListener('abort', stop, { once: true });
    if (signal.aborted || program.until.aborted) stop();
    const exit = await started.exited.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      program.until.removeEventListener('abort', stop);
    });
    if (signal.aborted) return { kind: 'aborted' };
    if (program.until.aborted) return { kind: 'ended', last: null, whole: null };
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
