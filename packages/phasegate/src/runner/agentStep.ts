import { PhasegateError, type Run } from '@phasegate/core';
import { attachmentOf, oneLine } from '@phasegate/core/model';
import { type AgentLaunch, agentLaunch, startsAgents } from './agentLaunch.ts';
import { agentPrompt } from './agentPrompt.ts';
import { attemptsOf, type Driving, failureOf, isStillOpen, type StepAtWork, type StepEnd } from './parts.ts';
import { runInTerminal } from './runInTerminal.ts';
import { type ProgramEnd, runStepProgram } from './runStepProgram.ts';
import { makeStateFolder, writeStateFile } from './stateFiles.ts';
import { stepFolder } from './stepFolder.ts';
import { untilVisitEnds } from './untilVisitEnds.ts';

/**
 * Starts an agent for one phase. It completes the phase itself; one that ends while the phase is still open has
 * failed, whatever it says.
 */
export async function agentStep(driving: Driving, step: StepAtWork): Promise<StepEnd> {
  const { request, principal } = driving;
  const { run, phase, item } = step;
  const folder = stepFolder(request.project.stateDir, step);
  let prompt: string;
  try {
    prompt = agentPrompt(await request.open.as(principal).view(run.id), step);
  } catch (error) {
    if (!(error instanceof PhasegateError) || error.code !== 'function_failed') throw error;
    return { kind: 'failed', reason: error.message };
  }
  if (!startsAgents(request)) {
    // INVARIANT: nobody is asked to do by hand what the run's ring says is done in a sandbox.
    if (attachmentOf(run.ring) === 'sandboxed') {
      const how = `\`phasegate run ${run.id} --sandbox --agent NAME\``;
      request.report({ event: 'note', message: `\`${phase.id}\` needs an agent in a sandbox: ${how}` });
      return { kind: 'awaited' };
    }
    request.report({ event: 'prompt', phase: phase.id, text: prompt });
    return { kind: 'awaited' };
  }
  await makeStateFolder(request.project.stateDir, folder.state);
  await writeStateFile(request.project.stateDir, folder.promptFile, prompt);
  const ended = await launched(driving, step, { ...(await agentLaunch(driving, step, folder)), prompt });
  if (ended.kind === 'aborted') return ended;
  const now = await request.open.load(run.id);
  if (!isStillOpen(now, step)) return movedTo(now, step);
  // A refusal it was told of was counted then; ending is no second failure of the same attempt.
  if (attemptsOf(now, item) > attemptsOf(run, item)) {
    return { kind: 'moved', accepted: false, message: failureOf(now, item) ?? 'it was refused' };
  }
  const how = ended.kind === 'failed' ? `: ${ended.reason}` : '';
  const what = item === null ? 'the phase' : `item \`${oneLine(item)}\``;
  return { kind: 'failed', reason: `the agent ended without completing ${what}${how}` };
}

async function launched(
  driving: Driving,
  step: StepAtWork,
  { onInput, isHeld, prompt, ...launch }: AgentLaunch & { readonly prompt: string },
): Promise<ProgramEnd> {
  const visit = isHeld ? untilVisitEnds(driving, step) : null;
  const program = { ...launch, until: visit?.ended ?? new AbortController().signal };
  try {
    if (driving.request.adapter === 'tmux') return await runInTerminal(driving, step, program);
    const input = onInput ? prompt : '';
    return await runStepProgram(driving, step, { ...program, input, holdResult: false });
  } finally {
    visit?.stop();
  }
}

function movedTo(now: Run, { item }: StepAtWork): StepEnd {
  if (now.status === 'escalated') return { kind: 'moved', accepted: false, message: now.escalation.message };
  const failed = item !== null && now.work.items?.[item]?.status === 'failed';
  if (failed) return { kind: 'moved', accepted: false, message: failureOf(now, item) ?? 'it failed' };
  if (item !== null) return { kind: 'moved', accepted: true, message: `item \`${oneLine(item)}\` is done` };
  const message = now.status === 'active' ? `goes on with \`${now.phase}\`` : `the run is ${now.status}`;
  return { kind: 'moved', accepted: true, message };
}
