import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, type Phase, PhasegateError } from '@phasegate/core';
import type { Work } from '@phasegate/core/model';
import { parseNeedsUserInput, QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from '@phasegate/sdk';
import { agentLaunch, startsAgents } from './agentLaunch.ts';
import { type Answered, answersFor } from './answers.ts';
import { dispatchPrompt, relayPrompt } from './dispatchPrompt.ts';
import type { Driving, StepAtWork, StepEnd } from './parts.ts';
import { type ProgramEnd, runStepProgram } from './runStepProgram.ts';
import { makeStateFolder, removeStateFile, writeStateFile } from './stateFiles.ts';
import { type StepFolder, stepFolder } from './stepFolder.ts';
import { cut, readJsonLine } from './stepOutput.ts';

/** A sub-agent's work, and the tasks it reads. */
interface Dispatched {
  readonly work: Extract<Work, { kind: 'dispatch' }>;
  readonly tasks: readonly string[];
}

/**
 * Starts a sub-agent, always afresh: what it knows is what the prompt and its state directory say. Its answer is
 * PASS, FAIL, or questions for a human and nothing else.
 */
export async function dispatchStep(
  driving: Driving,
  step: StepAtWork,
  { work, tasks }: Dispatched,
): Promise<StepEnd> {
  const { request, principal } = driving;
  const folder = stepFolder(request.project.stateDir, step);
  const answersFile = join(folder.state, 'answers.json');
  const answers = await answersFor(driving, step);
  let prompt: string;
  try {
    prompt = dispatchPrompt(await request.open.as(principal).view(step.run.id), step, {
      work,
      tasks,
      stateDir: folder.state,
      answers,
      answersFile,
      questionFormat: work.supportsQuestions ? SUB_AGENT_QUESTION_FORMAT : null,
    });
  } catch (error) {
    if (!(error instanceof PhasegateError) || error.code !== 'function_failed') throw error;
    return { kind: 'failed', reason: error.message };
  }
  await writeFiles(request.project.stateDir, folder, { prompt, file: answersFile, answers });
  if (!startsAgents(request)) {
    const text = relayPrompt(prompt, step, work.supportsQuestions ? QUESTION_RELAY_HANDLER : null);
    request.report({ event: 'prompt', phase: step.phase.id, text });
    return { kind: 'awaited' };
  }
  const { argv, environment, onInput, held } = await agentLaunch(driving, step, folder);
  const ended = await runStepProgram(driving, step, {
    argv,
    environment,
    input: onInput ? prompt : '',
    holdResult: true,
    held,
  });
  if (ended.kind !== 'ended') return ended;
  const answer = readAnswer(ended, step, work.supportsQuestions);
  if (answer.kind === 'asked' && !existsSync(join(folder.state, 'plan.json'))) {
    const message = `the sub-agent of \`${step.phase.id}\` asked without saving \`plan.json\`: the next one starts from nothing`;
    request.report({ event: 'note', message });
  }
  return answer;
}

async function writeFiles(
  stateDir: string,
  folder: StepFolder,
  {
    prompt,
    file,
    answers,
  }: { readonly prompt: string; readonly file: string; readonly answers: readonly Answered[] },
): Promise<void> {
  await makeStateFolder(stateDir, folder.state);
  await writeStateFile(stateDir, folder.promptFile, prompt);
  if (answers.length > 0) await writeStateFile(stateDir, file, `${JSON.stringify(answers, null, 2)}\n`);
  else await removeStateFile(stateDir, file);
}

function readAnswer(
  { last, whole }: Extract<ProgramEnd, { kind: 'ended' }>,
  { phase, item }: StepAtWork,
  supportsQuestions: boolean,
): StepEnd {
  const asking = whole === null ? { kind: 'none' as const } : parseNeedsUserInput(whole);
  if (asking.kind === 'malformed') {
    return {
      kind: 'failed',
      reason: `the sub-agent's questions cannot be passed on: ${asking.problems.join('; ')}`,
    };
  }
  if (asking.kind === 'questions') {
    if (supportsQuestions) return { kind: 'asked', questions: asking.questions };
    return { kind: 'failed', reason: 'the sub-agent asked a human, and this step takes no questions' };
  }
  const read = readJsonLine(last, 'the sub-agent');
  if ('reason' in read) return { kind: 'failed', reason: `${read.reason}; ${WANTED}` };
  const { status, ...evidence } = read.value;
  if (status === 'PASS') return { kind: 'result', evidence };
  if (status !== 'FAIL') return { kind: 'failed', reason: `the sub-agent gave no \`status\`; ${WANTED}` };
  const reason = `the sub-agent answered FAIL${because(evidence.reason)}`;
  // One item that failed is tried again; only the whole phase has a way for failing.
  if (item !== null || !leadsOnFailure(phase)) return { kind: 'failed', reason };
  return { kind: 'result', evidence, outcome: 'fail', reason };
}

const WANTED = 'its last line must be `{"status": "PASS", …}` or `{"status": "FAIL", …}`';

function because(reason: Json | undefined): string {
  return typeof reason === 'string' && reason.trim() !== '' ? `: ${cut(reason.trim())}` : '';
}

function leadsOnFailure({ next }: Phase): boolean {
  return next.kind === 'outcomes' && (Object.hasOwn(next.map, 'fail') || next.otherwise !== undefined);
}
