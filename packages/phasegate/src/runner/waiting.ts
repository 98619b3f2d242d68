import { type JsonObject, type Phase, phaseById, type Run } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { encodeBlockers, PLAIN } from '@phasegate/wire';
import type { DriveRequest } from '../runtime/ports.ts';
import { questionsAsData } from './answers.ts';
import { goOn, type Onward } from './goOn.ts';
import { attemptsOf } from './parts.ts';
import { lastLines, stepFolder } from './stepFolder.ts';

/** What a human is shown where a run waits for one: what it is about, what they may choose, and how. */
export async function waitingCard(
  request: Pick<DriveRequest, 'open' | 'project' | 'waitForHuman'> & Onward,
  run: Run,
): Promise<JsonObject> {
  const { open, project, waitForHuman } = request;
  const again = goOn(request, run.id);
  const people = (await open.humans.list()).length;
  const nobody =
    people > 0 ? {} : { needs: 'no human is set up: `phasegate humans add NAME`, or `phasegate init`' };
  // A runner that waits goes on by itself, and is the only one that may.
  const afterwards = {
    afterwards: waitForHuman ? 'this runner goes on by itself' : again,
  };
  if (run.status === 'escalated')
    return { ...(await escalationCard(run, { stateDir: project.stateDir, again })), ...nobody };
  if (run.status !== 'waiting') throw new TypeError('the run waits for nobody');
  if (run.wait.for === 'gate') return { ...(await gateCard(open, run)), ...afterwards, ...nobody };
  const { questions, answers, since } = run.wait;
  return {
    for: 'questions',
    run: run.id,
    phase: run.phase,
    since,
    questions: questionsAsData(questions, run.id).map((question, index) => ({
      ...question,
      answered: answers.some((answer) => answer.question === index + 1),
    })),
    ...afterwards,
    ...nobody,
  };
}

async function gateCard(open: DriveRequest['open'], run: Run): Promise<JsonObject> {
  const human = { kind: 'human' as const, name: 'phasegate run' };
  const { gate } = await open.as(human).view(run.id);
  const shown = await open.gateCard(run.id);
  const exact = shown === null ? '' : ` --shown ${shown.shown}`;
  return {
    for: 'gate',
    run: run.id,
    phase: run.phase,
    gate: gate?.id ?? null,
    since: gate?.since ?? null,
    expires_at: gate?.expiresAt ?? null,
    prompt: gate?.prompt ?? '',
    context: gate?.context ?? {},
    approvers: gate?.approvers ?? [],
    quorum: gate?.quorum ?? 1,
    votes: gate?.votes ?? [],
    shown: shown?.shown ?? null,
    options: (gate?.options ?? []).map(({ label, requiresInput }) => ({
      label,
      requires_input: requiresInput,
      how: `phasegate decide ${run.id} --option ${shellWord(label)}${requiresInput ? ' --input TEXT' : ''}${exact}`,
    })),
  };
}

async function escalationCard(
  run: Run & { readonly status: 'escalated' },
  { stateDir, again }: { readonly stateDir: string; readonly again: string },
): Promise<JsonObject> {
  const { reason, message, since, blockers } = run.escalation;
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const printed = (item: string | null) => lastLines(stateDir, stepFolder(stateDir, { run, phase, item }));
  const items = Object.entries(run.work.items ?? {}).filter(([, item]) => item.status !== 'completed');
  return {
    for: 'escalation',
    run: run.id,
    phase: run.phase,
    since,
    reason,
    message,
    blockers: encodeBlockers(blockers, { run: run.id }, PLAIN),
    attempts: run.work.attempts,
    failure: run.work.failure,
    ...(run.work.items === null
      ? { printed_last: await printed(null) }
      : {
          items: await Promise.all(
            items.map(async ([key, { status, error }]) => ({
              item: key,
              status,
              attempts: attemptsOf(run, key),
              error,
              printed_last: await printed(key),
            })),
          ),
        }),
    how: [`phasegate resume ${run.id} --note TEXT, then ${again}`, `phasegate stop ${run.id} --reason TEXT`],
  };
}
