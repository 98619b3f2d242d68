import { type Phase, phaseById } from '../model/workflow.ts';
import { standOf } from './itemStand.ts';
import type { Run } from './run.ts';
import type { Blocker, BlockerCode, NextAction, Verdict } from './verdict.ts';

/** A refusal for one reason. */
export function blocker(code: BlockerCode, message: string, nextAction: NextAction): Blocker {
  return { code, message, nextAction };
}

/** The same, by a rule of the phase that its author wrote. */
export function byRule(found: Blocker, phase: Phase, name: string): Blocker {
  return { ...found, rule: { phase: phase.id, name } };
}

/** A refusing verdict; at least one reason is always there. */
export function refused(blockers: readonly Blocker[]): Verdict & { readonly allowed: false } {
  const [first, ...rest] = blockers;
  if (first === undefined) throw new TypeError('a refusal needs a reason');
  return { allowed: false, blockers: [first, ...rest] };
}

/** The verdict that lets something happen. */
export const ALLOWED: Verdict & { readonly allowed: true } = { allowed: true };

/** The one legal act for the agent that holds the run, or for the one named, as things stand. */
export function nextActionFor(run: Run, agent: string | null = run.holder): NextAction {
  switch (run.status) {
    case 'queued':
      return { act: 'claim', text: 'claim the run' };
    case 'active':
      return activeAction(run, agent);
    case 'waiting':
      return {
        act: 'wait_for_human',
        text:
          run.wait.for === 'gate'
            ? `wait: a human decides at gate \`${run.wait.gate}\``
            : 'wait: a human answers the questions',
      };
    case 'escalated':
      return { act: 'wait_for_human', text: 'wait: a human must resume or stop the run' };
    default:
      return { act: 'none', text: `nothing: the run is ${run.status}` };
  }
}

/** What a human can do as things stand, after something else they wanted was refused. */
export function humanActionFor(run: Run): NextAction {
  const { id } = run;
  const look = `\`phasegate status ${id}\``;
  switch (run.status) {
    case 'queued':
      return nothing(`the run waits for an agent; ${look} shows it`);
    case 'active':
      return nothing(
        `the run is active already, and its agent goes on; ${look} shows it, \`phasegate stop ${id} --reason TEXT\` ends it`,
      );
    case 'waiting':
      return {
        act: 'wait_for_human',
        text:
          run.wait.for === 'gate'
            ? `decide at gate \`${run.wait.gate}\`, with \`phasegate decide ${id}\``
            : `answer the questions, with \`phasegate answer ${id}\`; ${look} shows them`,
      };
    case 'escalated':
      return {
        act: 'wait_for_human',
        text: `give the run back with \`phasegate resume ${id}\`, or end it with \`phasegate stop ${id} --reason TEXT\``,
      };
    default:
      return nothing(`the run is ${run.status}`);
  }
}

/** What a human has to add, for a command that says why. */
export const SAY_WHY: NextAction = { act: 'wait_for_human', text: 'do it again, and say why' };

function nothing(why: string): NextAction {
  return { act: 'none', text: `nothing: ${why}` };
}

/** To complete a phase with what it asks for. */
export function completeAction(phase: Phase): NextAction {
  const names = [
    ...phase.evidence.fields.map((field) => field.name),
    ...phase.evidence.artifacts.map((artifact) => artifact.type),
  ];
  const evidence =
    names.length === 0 ? '' : ` with evidence ${names.map((name) => `\`${name}\``).join(', ')}`;
  return { act: 'complete_phase', phase: phase.id, text: `complete phase \`${phase.id}\`${evidence}` };
}

function activeAction(run: Run, agent: string | null): NextAction {
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const open = phase.tasks.findIndex((_, index) => !run.work.fetched.includes(index + 1));
  if (open === -1) return withItem(completeAction(phase), run, agent);
  return {
    act: 'get_task',
    phase: phase.id,
    task: open + 1,
    text: `fetch task ${open + 1} of phase \`${phase.id}\``,
  };
}

function withItem(action: NextAction, run: Run, agent: string | null): NextAction {
  const { open, free, byHolder } = standOf(run.work.items);
  if (open.length === 0) return action;
  const held = agent === null ? [] : (byHolder.get(agent) ?? []);
  const own = held.find(([, { status }]) => status === 'pending');
  const [item] = own ?? (agent !== null && agent === run.holder ? free : undefined) ?? [];
  if (item !== undefined) return { ...action, item, text: `${action.text}, for item \`${item}\`` };
  if (free !== undefined) return { act: 'claim', item: free[0], text: `claim item \`${free[0]}\`` };
  const text = 'claim other work, or look again later: other agents hold the open items';
  return { act: 'claim', text };
}
