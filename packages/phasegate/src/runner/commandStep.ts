import { dirname } from 'node:path';
import { stepInputFor } from '@phasegate/core/engine';
import { commandEnvironment } from './childEnvironment.ts';
import { fillWords, itemProblem, splitCommand } from './commandWords.ts';
import type { Driving, StepAtWork, StepEnd } from './parts.ts';
import { runStepProgram } from './runStepProgram.ts';
import { readStepOutput } from './stepOutput.ts';

/** Runs a step's command: StepInput on its standard input, StepOutput as the last line it prints. */
export async function commandStep(driving: Driving, step: StepAtWork, command: string): Promise<StepEnd> {
  const { run, phase, item } = step;
  const split = splitCommand(command);
  if (!split.ok) return { kind: 'failed', reason: split.reason };
  const value = item === null ? undefined : run.work.items?.[item]?.value;
  const problem = value === undefined ? null : itemProblem(split.words, value);
  if (problem !== null) return { kind: 'failed', reason: problem };
  const ended = await runStepProgram(driving, step, {
    argv: fillWords(split.words, { run: run.id, ...(value === undefined ? {} : { item: value }) }),
    environment: commandEnvironment(driving, step),
    input: `${JSON.stringify(stepInputFor(run, item === null ? {} : { item }))}\n`,
    holdResult: true,
    held: { write: step.attempt === null ? [] : [dirname(step.attempt.file)] },
  });
  if (ended.kind !== 'ended') return ended;
  return readStepOutput(ended.last, { workflow: run.workflow, phase });
}
