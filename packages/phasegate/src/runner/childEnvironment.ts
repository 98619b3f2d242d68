import { withoutSecrets } from '../launch/withoutSecrets.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { itemText } from './commandWords.ts';
import type { Driving, StepAtWork } from './parts.ts';

/** The environment of a command: harmless names, and what the step is about. */
export function commandEnvironment(driving: Driving, step: StepAtWork): Record<string, string> {
  const { project, environment } = driving.request;
  const kept = cleanEnvironment(environment, project.root, {});
  // Where the state is: a command that calls `phasegate` must find the same run.
  if (environment.XDG_STATE_HOME !== undefined) kept.XDG_STATE_HOME = environment.XDG_STATE_HOME;
  return { ...kept, ...told(driving, step) };
}

/**
 * The environment of an agent: all of ours, as it needs its own credentials, but nothing of Phasegate's. Its key goes
 * with it, where the runner has one, because the agent acts under the same name.
 */
export function agentEnvironment(
  driving: Driving,
  step: StepAtWork,
  files: { readonly prompt: string; readonly state: string },
): Record<string, string> {
  const { environment, agent } = driving.request;
  const key = environment.PHASEGATE_KEY;
  return {
    ...withoutSecrets(environment),
    ...told(driving, step),
    PHASEGATE_AGENT: agent,
    PHASEGATE_PROMPT: files.prompt,
    PHASEGATE_STATE_DIR: files.state,
    ...(key === undefined ? {} : { PHASEGATE_KEY: key }),
  };
}

function told({ request }: Driving, { run, phase, item, attempt }: StepAtWork): Record<string, string> {
  const value = item === null ? undefined : run.work.items?.[item]?.value;
  return {
    PHASEGATE_RUN: run.id,
    PHASEGATE_STEP: String(phase.id),
    PHASEGATE_EPOCH: String(run.epoch),
    PHASEGATE_PROJECT: request.project.root,
    ...(item === null ? {} : { PHASEGATE_ITEM: itemText(value ?? item), PHASEGATE_ITEM_KEY: item }),
    ...(attempt === null ? {} : { PHASEGATE_DB: attempt.file }),
  };
}
