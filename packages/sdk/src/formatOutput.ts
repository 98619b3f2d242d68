import type { PhaseId } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import type { DefinedWorkflow } from './defineWorkflow.ts';
import type { BodyFunction } from './definition.ts';
import type { StepContext } from './stepContext.ts';

/** What a step's text may depend on. */
export interface OutputContext extends Partial<Pick<StepContext, 'params' | 'state' | 'iteration'>> {
  /** The run it is for; without one there is no next command. */
  readonly run?: string;
}

/**
 * A step as an agent in a plain shell reads it: a title, what to do, and the command that comes next. Every step of
 * a workflow goes through here, whether its text is written down or made by a function.
 */
export async function formatOutput(
  workflow: DefinedWorkflow,
  step: PhaseId,
  given: OutputContext = {},
): Promise<string> {
  const phase = workflow.draft.phases.find((candidate) => String(candidate.id) === String(step));
  if (phase === undefined) return `ERROR: Invalid step ${step}`;
  const made = phase.render === undefined ? undefined : workflow.functions[phase.render];
  const [title, body] =
    made === undefined
      ? [phase.name ?? String(phase.id), phase.instructions ?? '']
      : await (made as BodyFunction)(contextFor(phase.id, given));
  return [`WORKFLOW - ${title}`, body.trimEnd(), nextCommand(phase.id, given.run)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function nextCommand(step: PhaseId, run: string | undefined): string {
  return run === undefined
    ? ''
    : `phasegate done ${shellWord(run)} --phase ${shellWord(String(step))} --evidence -`;
}

function contextFor(step: PhaseId, { params = {}, state = {}, iteration = 1 }: OutputContext): StepContext {
  return {
    ...params,
    step,
    step_id: step,
    params,
    workflow_params: params,
    state,
    step_state: state,
    iteration,
  } as unknown as StepContext;
}
