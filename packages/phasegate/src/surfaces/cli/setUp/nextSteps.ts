import type { UnlockedHuman } from '../../../runtime/ports.ts';
import type { Template } from '../../../templates/index.ts';
import type { Invocation } from '../command.ts';

/** What to do after `init`: the command an answer names, and those a human is shown, the likeliest first. */
export interface NextSteps {
  readonly action: string;
  readonly shown: readonly string[];
}

/** Says how to go on with the workflow that is in the template's place now, which may have been there before. */
export async function nextSteps(
  invocation: Invocation,
  { template, human, isOurs }: { template: Template; human: UnlockedHuman | null; isOurs: boolean },
): Promise<NextSteps> {
  const found = await standing(invocation, { template, human, isOurs });
  if (found === null) return only('phasegate validate');
  const { workflow, startable } = found;
  if (!startable) return only(`phasegate trust ${workflow}`);
  const words = `${workflow} "GOAL"${workflow === template.workflow ? (template.startWith ?? '') : ''}`;
  const action = `phasegate start ${words}`;
  return { action, shown: [`phasegate run ${words} --agent claude`, action] };
}

function only(action: string): NextSteps {
  return { action, shown: [action] };
}

/** Which workflow it is, and whether it may be started; null where it cannot be read. */
async function standing(
  invocation: Invocation,
  { template, human, isOurs }: { template: Template; human: UnlockedHuman | null; isOurs: boolean },
): Promise<{ readonly workflow: string; readonly startable: boolean } | null> {
  try {
    if (human !== null) {
      const { trust } = await invocation.open();
      const { workflow, trusted } = await trust.workflows.card(template.path);
      return { workflow, startable: trusted };
    }
    if (isOurs) return { workflow: template.workflow, startable: true };
    const { catalog } = await invocation.project();
    return { workflow: (await catalog.load(template.path)).workflow.id, startable: true };
  } catch {
    return null;
  }
}
