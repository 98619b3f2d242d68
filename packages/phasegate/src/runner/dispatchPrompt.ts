import type { RunView } from '@phasegate/core';
import { quoteRest } from '@phasegate/core/engine';
import { fencedJson, shellWord, type Work } from '@phasegate/core/model';
import { goalPart, joined } from '../launch/promptParts.ts';
import { again, itemPart } from './agentPrompt.ts';
import type { Answered } from './answers.ts';
import type { Step } from './parts.ts';

/** What a sub-agent needs beside its phase. */
export interface DispatchTold {
  readonly work: Extract<Work, { kind: 'dispatch' }>;
  readonly tasks: readonly string[];
  readonly stateDir: string;
  readonly answers: readonly Answered[];
  readonly answersFile: string;
  /** How to ask; null where the step takes no questions. */
  readonly questionFormat: string | null;
}

/** What a sub-agent is started with: its role, what to do, where its state is, and how to answer. */
export function dispatchPrompt(view: RunView, step: Step, told: DispatchTold): string {
  const { work } = told;
  const card = view.current?.content.trim() ?? '';
  return joined([
    `# You are the sub-agent \`${work.agent}\` in run ${step.run.id}: ${view.title}`,
    goalPart(view),
    again(card, step),
    work.script === null ? '' : `Run the script \`${work.script}\` and follow what it says, step by step.`,
    work.prompt ?? '',
    `## The phase\n\n${card}`,
    ...told.tasks,
    step.item === null ? '' : itemPart(step),
    Object.keys(view.params).length === 0 ? '' : `## Parameters\n\n${fencedJson(view.params)}`,
    Object.keys(view.current?.artifacts ?? {}).length === 0
      ? ''
      : `## What earlier phases left\n\n${fencedJson(view.current?.artifacts)}`,
    statePart(told),
    answersPart(told),
    told.questionFormat ?? '',
    ANSWER,
  ]);
}

/** What the main agent is told where no program does the sub-agent's work: to start one, and to report for it. */
export function relayPrompt(prompt: string, { run, phase, item }: Step, relay: string | null): string {
  const one = item === null ? '' : ` --item ${shellWord(item)}`;
  const done = `phasegate done ${run.id} --phase ${shellWord(String(phase.id))}${one}`;
  return joined([
    'Start a sub-agent, fresh and with the prompt below, and wait for its answer.',
    `PASS: \`${done} --evidence -\` with the rest of the object as evidence. FAIL: \`${done} --outcome fail --reason T\`.`,
    relay ?? '',
    '---',
    prompt.trimEnd(),
  ]);
}

const ANSWER = `## How to answer

The last line of your answer is one JSON object on one line: \`{"status": "PASS", …}\` when the work holds, \`{"status": "FAIL", "reason": "…", …}\` when it does not. What else the object has is kept as evidence. An answer without that line is a failed attempt.`;

function statePart({ stateDir }: DispatchTold): string {
  return `## Your state\n\nSTATE_DIR is \`${stateDir}\` (also in PHASEGATE_STATE_DIR). Nothing else outlives this process: keep what you found out in \`plan.json\` there. If \`plan.json\` exists you are going on with work begun before; read it first.`;
}

function answersPart({ answers, answersFile }: DispatchTold): string {
  if (answers.length === 0) return '';
  const lines = answers.map(
    ({ question, answer }) => `- ${quoteRest(question)}\n  Answer: ${quoteRest(answer)}`,
  );
  return `## Answers to your questions\n\nWhat was answered (also in \`${answersFile}\`):\n\n${lines.join('\n')}`;
}
