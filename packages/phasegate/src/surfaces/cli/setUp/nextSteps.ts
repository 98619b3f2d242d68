import { shellWord } from '@phasegate/core/model';
import { AGENT_PRESETS } from '../../../launch/presets.ts';
import type { UnlockedHuman } from '../../../runtime/ports.ts';
import { findProgram } from '../../../settings/findPrograms.ts';
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
  { held, ...placed }: Placed & { readonly held: readonly string[] },
): Promise<NextSteps> {
  const { template } = placed;
  const found = await standing(invocation, placed);
  if (found === null) return only('phasegate validate');
  const { workflow, startable } = found;
  if (!startable) return only(`phasegate trust ${shellWord(workflow)}`);
  const words = `${workflow} "GOAL"${workflow === template.workflow ? (template.startWith ?? '') : ''}`;
  const action = `phasegate start ${words}`;
  const { root } = await invocation.project();
  const agent = agentFor(held, (name) => findProgram(name, invocation.env.PATH, root) !== null);
  return { action, shown: agent === null ? [action] : [`phasegate run ${words} --agent ${agent}`, action] };
}

/** What was set up, and by whom. */
interface Placed {
  readonly template: Template;
  readonly human: UnlockedHuman | null;
  readonly isOurs: boolean;
}

/** A client that `--agent` knows: one that is held, best if it is installed, else one that is installed. */
function agentFor(held: readonly string[], isInstalled: (name: string) => boolean): string | null {
  const known = AGENT_PRESETS.map(({ name }) => name);
  const ours = known.filter((name) => held.includes(name));
  return ours.find(isInstalled) ?? ours[0] ?? known.find(isInstalled) ?? null;
}

function only(action: string): NextSteps {
  return { action, shown: [action] };
}

/** Which workflow it is, and whether it may be started; null where it cannot be read. */
async function standing(
  invocation: Invocation,
  { template, human, isOurs }: Placed,
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
