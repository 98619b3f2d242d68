import type { Driving, Step } from './parts.ts';

/** Reads every task of a phase for anyone who does its work; the engine completes none whose tasks nobody read. */
export async function fetchTasks(
  { request, principal }: Driving,
  { run, phase }: Step,
): Promise<readonly string[]> {
  const gate = request.open.as(principal);
  const texts: string[] = [];
  for (let task = 1; task <= phase.tasks.length; task++) {
    const { outcome } = await gate.submit(run.id, { kind: 'fetch_task', phase: phase.id, task });
    if (outcome.kind === 'task' && typeof outcome.content === 'string') texts.push(outcome.content);
  }
  return texts;
}
