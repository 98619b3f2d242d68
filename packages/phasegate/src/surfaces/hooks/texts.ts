import type { Blocker } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { Dialect, NextCall } from '@phasegate/wire';
import { spellNext } from '@phasegate/wire';
import type { HookAnswer } from '../../runtime/ports.ts';

/** Why a call was refused and what to do instead, in one line that a model reads. */
export function denialText({ blocker, run, view }: Extract<HookAnswer, { kind: 'deny' }>): string {
  const line = `[phasegate] ${oneLine(blocker.message)} (${blocker.code}${ruleOf(blocker)}). Next: ${nextOf(blocker, run)}`;
  return view === undefined ? line : `${line}\n\n${cardText({ kind: 'card', view, whole: true })}`;
}

/** The rule of the definition that refuses, with its line where the run knows it. */
function ruleOf({ rule }: Blocker): string {
  if (rule === undefined) return '';
  return `, rule ${rule.name}${rule.at === undefined ? '' : ` at ${oneLine(rule.at)}`}`;
}

/** Why an agent is not done. */
export function goOnText({ view }: Extract<HookAnswer, { kind: 'go_on' }>): string {
  const where = `run ${view.run} of \`${view.workflow}\` is in phase \`${view.phase ?? 'none'}\` and not finished`;
  return `[phasegate] ${where}. Next: ${spellNext(view, HOOKS)}. If that cannot be done honestly, report it: \`phasegate blocked ${view.run} --reason TEXT\``;
}

/** Where a session stands: the phase's whole card, or a reminder. At most what clients take as context. */
export function cardText({ view, whole }: Extract<HookAnswer, { kind: 'card' }>): string {
  if (view === null) return NO_RUN;
  const next = `Next: ${spellNext(view, HOOKS)}`;
  const where = `Phasegate: run ${view.run} of \`${view.workflow}\` is ${view.status}, phase \`${view.phase ?? 'none'}\` (${view.progress.completed} of ${view.progress.total} phases are completed).`;
  if (!whole) return `${where} ${next}`;
  const { current, feedback, goal } = view;
  const parts = [
    where,
    goal === undefined ? '' : `The goal, in the words of ${goal.by.name}: ${goal.text}`,
    'Every tool call is judged against the phase, and what it does not allow is refused with the reason. A phase is complete when Phasegate says so. At a gate a human decides.',
    feedback ?? '',
    current === null ? '' : current.content.trim(),
    next,
  ];
  return fitted(parts.filter((part) => part !== '').join('\n\n'), next);
}

const NO_RUN =
  'Phasegate holds this project: without a run, files are read-only. List the workflows with `list_workflows` or `phasegate list`, and start one with `start_workflow` or `phasegate start WORKFLOW`.';

/** What clients put in front of a model whole; longer texts end up in a file nobody reads. */
const MOST = 9_500;

function fitted(text: string, last: string): string {
  if (text.length <= MOST) return text;
  const cut = `\n\n[cut: \`get_current_phase\` or \`phasegate next\` shows all of it]\n\n${last}`;
  return `${text.slice(0, MOST - cut.length)}${cut}`;
}

function nextOf({ nextAction }: Blocker, run: string | null): string {
  return spell({ action: nextAction, run: run ?? '' } as NextCall);
}

/** The next legal act, by the tools of Phasegate or its command. */
function spell({ action, run, evidence }: NextCall): string {
  const { act, phase } = action;
  switch (act) {
    case 'complete_phase':
      return `complete the phase with \`complete_phase\`${(evidence ?? []).length === 0 ? '' : ` (evidence: ${(evidence ?? []).join(', ')})`} or \`phasegate done ${run}${phase === undefined ? '' : ` --phase ${phase}`} --evidence -\``;
    case 'get_task':
      return phase === undefined
        ? `read the phase with \`get_current_phase\` or \`phasegate next ${run}\``
        : `read task ${action.task ?? 1} with \`get_task\` or \`phasegate task ${run} ${phase} ${action.task ?? 1}\``;
    case 'wait_for_human':
      return `${oneLine(action.text)}; stop here, \`phasegate status ${run}\` shows when a human has acted`;
    case 'start':
      return 'start a run with `start_workflow` or `phasegate start WORKFLOW` (`phasegate list` shows what there is), or read only';
    case 'use_allowed_tool':
    case 'claim':
    case 'none':
      return oneLine(action.text);
  }
}

/** The words of hooks. */
const HOOKS: Dialect = { spell, reader: 'agent', steps: false };
