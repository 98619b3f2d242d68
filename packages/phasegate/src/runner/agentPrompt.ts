import type { RunView } from '@phasegate/core';
import { previousAttempt } from '@phasegate/core/engine';
import { fencedJson, oneLine, shellWord } from '@phasegate/core/model';
import { criteriaPart, goalPart, joined } from '../launch/promptParts.ts';
import { failureOf, type Step } from './parts.ts';

/** What an agent is started with for one phase: the card of the phase, and how to complete it. Nothing later. */
export function agentPrompt(view: RunView, step: Step): string {
  const { run, phase, item } = step;
  const card = view.current?.content.trim() ?? '';
  return joined([
    `# Phase \`${phase.id}\` of run ${run.id}: ${view.title}${view.target === null ? '' : ` for ${oneLine(view.target)}`}`,
    RULES,
    goalPart(view),
    again(card, step),
    `## The phase\n\n${card}`,
    item === null ? '' : itemPart(step),
    Object.keys(view.params).length === 0 ? '' : `## Parameters\n\n${fencedJson(view.params)}`,
    before(view),
    criteriaPart(view),
    howTo(step),
  ]);
}

const RULES = `You work on one phase of a workflow that Phasegate leads through. The engine decides from what it has seen itself; what you say is a claim.

- Do what this phase asks for, and nothing of a later one.
- The phase is complete when the engine says so, not when the work seems done: report it as described below before you end. Anyone who ends without reporting has failed the attempt.
- A refusal lists what is missing. Put it right and report again.
- If the evidence cannot be provided honestly, say that you are blocked.`;

/** Why the work is to be done again, where the card does not say so already. */
export function again(card: string, { run, item }: Step): string {
  const failure = failureOf(run, item);
  if (failure === null) return '';
  const line = previousAttempt(failure);
  return card.includes(line) ? '' : line;
}

/** The item a step is about. */
export function itemPart({ run, item }: Step): string {
  const value = item === null ? undefined : run.work.items?.[item]?.value;
  return `## Your item\n\nYou work on the item \`${oneLine(item ?? '')}\` of this phase and on no other:\n\n${fencedJson(value ?? item)}`;
}

function before(view: RunView): string {
  const artifacts = view.current?.artifacts ?? {};
  return Object.keys(artifacts).length === 0 ? '' : `## What earlier phases left\n\n${fencedJson(artifacts)}`;
}

function howTo({ run, phase, item }: Step): string {
  const one = item === null ? '' : ` --item ${shellWord(item)}`;
  const id = shellWord(String(phase.id));
  return `## How to report

Any of these; they are the same run.

- **Shell.** \`phasegate next ${run.id}\` shows the phase again. \`phasegate done ${run.id} --phase ${id}${one} --evidence -\` completes it, with the evidence as one JSON object on standard input.${tasksLine(run.id, phase)} \`phasegate ask ${run.id} -\` asks a human; \`phasegate blocked ${run.id} --reason T\` says that you are blocked.
- **MCP.** \`phasegate mcp --run ${run.id}\` serves it over standard input and output: \`get_current_phase\`, \`get_task\`, \`complete_phase\`, \`ask_human\`, \`report_blocked\`, with \`${run.id}\` as session_id.`;
}

function tasksLine(run: string, { id, tasks }: Step['phase']): string {
  if (tasks.length === 0) return '';
  return ` Fetch each of its ${tasks.length} tasks before: \`phasegate task ${run} ${shellWord(String(id))} N\`.`;
}
