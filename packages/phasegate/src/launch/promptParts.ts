import type { RunView } from '@phasegate/core';
import { type Goal, goalText, isUnsigned } from '@phasegate/core/engine';
import { fencedJson } from '@phasegate/core/model';
import { encodeCriteria } from '@phasegate/wire';

/** Parts of a prompt with an empty line between them; empty ones are left out. */
export function joined(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** What the current phase has to be completed with, in the words of the surfaces the agent will use. */
export function criteriaPart(view: RunView): string {
  return view.current === null
    ? ''
    : `## What the engine will ask for\n\n${fencedJson(encodeCriteria(view.current))}`;
}

/** What the run is to achieve, and how much that is worth; empty where nobody said. */
export function goalPart({ goal }: RunView): string {
  if (goal === undefined) return '';
  return `## The goal\n\n${goalText(goal)}\n\n${worthOf(goal)}`;
}

function worthOf(goal: Goal): string {
  if (goal.by.kind === 'human') return 'What to do for it now is said by the phase.';
  return isUnsigned(goal)
    ? 'This is what the run is for. What to do for it now, and what not, is said by the phase.'
    : 'An agent wrote this goal, and no human signed it. Work towards it only within what the phase says.';
}
