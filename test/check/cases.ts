import { defineWorkflow, type Run, type RunEvent, type Workflow } from '@phasegate/core';
import type { Marks } from '../../packages/proofs/src/check/monitor.ts';
import { type Random, randomOf } from '../differential/random.ts';
import { anyPromisingDraft, KNOWN } from './drafts.ts';
import { brokenPromises } from './promises.ts';
import { replayTrace } from './replayTrace.ts';
import { mostItems, Survey } from './survey.ts';
import { anyParams, anyStep, anyWorld, decideFor, startFor, type World } from './walk.ts';

/** What was looked at, and what of it is wrong, each with the seed that shows it. */
export interface Tally {
  workflows: number;
  walks: number;
  ended: number;
  replayed: number;
  stuck: number;
  led: number;
  readonly wrong: string[];
}

/** Nothing looked at yet. */
export function noTally(): Tally {
  return { workflows: 0, walks: 0, ended: 0, replayed: 0, stuck: 0, led: 0, wrong: [] };
}

/** Makes a workflow from a seed, checks it, and lets the engine run it to see whether what the check says is so. */
export function tryCase(seed: number, tally: Tally, maxStates: number): void {
  const random = randomOf(seed);
  const defined = defineWorkflow(anyPromisingDraft(random), KNOWN);
  if (!defined.ok) return;
  const { workflow } = defined;
  const survey = Survey.of(workflow, maxStates);
  if (survey === null) return;
  tally.workflows++;
  const wrong = (what: string) => tally.wrong.push(`seed ${seed}: ${what}`);
  for (let walk = 0; walk < 5; walk++) walkOnce(workflow, survey, { random, tally, wrong });
  if (survey.isExact) replayAll(workflow, survey, { random, tally, wrong });
}

/**
 * The same with a mistake in what the check is told, as if it read promises wrongly: only the promises are looked at, on
 * walks of the workflow as it is.
 */
export function tryPlanted(seed: number, tally: Tally, plant: (workflow: Workflow) => Workflow): void {
  const random = randomOf(seed);
  const defined = defineWorkflow(anyPromisingDraft(random), KNOWN);
  if (!defined.ok) return;
  const { workflow } = defined;
  const survey = Survey.of(plant(workflow), 300);
  if (survey === null) return;
  tally.workflows++;
  const { broken } = reportedIn(survey);
  for (let walk = 0; walk < 20; walk++) {
    const events = anyLife(workflow, random);
    for (const promise of brokenPromises(workflow, events))
      if (!broken.has(promise)) tally.wrong.push(`seed ${seed}: ${promise} was broken, and not reported`);
  }
}

/** Everything that happens to a run that is walked by chance. */
function anyLife(workflow: Workflow, random: Random): readonly RunEvent[] {
  const started = startFor(workflow, anyParams(random, workflow), anyWorld(random));
  const events: RunEvent[] = [...(started?.events ?? [])];
  let run = started?.run;
  for (let step = 0; step < 50 && run !== undefined; step++) {
    const next = anyStep(random, run);
    if (next === null) break;
    const decision = decideFor(run, next, anyWorld(random));
    events.push(...decision.events);
    run = decision.run;
  }
  return events;
}

type Trying = {
  readonly random: Random;
  readonly tally: Tally;
  readonly wrong: (what: string) => void;
};

/** A run at any point of a walk. */
interface Standing {
  readonly run: Run;
  readonly marks: Marks;
}

function walkOnce(workflow: Workflow, survey: Survey, { random, tally, wrong }: Trying): void {
  const started = startFor(workflow, anyParams(random, workflow), anyWorld(random));
  if (started === null) return;
  tally.walks++;
  const reported = reportedIn(survey);
  let here: Standing = { run: started.run, marks: survey.marks(started.run) };
  const events: RunEvent[] = [...started.events];
  const middle = random.int(30);
  for (let step = 0; step < 50; step++) {
    const { run, marks } = here;
    if (run.phase !== null && reported.unreachable.has(run.phase)) wrong(`\`${run.phase}\` was entered`);
    if (survey.knows(run, marks) === false)
      return void wrong(`a run was ${run.status} in \`${run.phase}\` in a state the check never saw`);
    if (step === middle && survey.isExact && mostItems(run) <= 2)
      wayOut(here, survey, { random, tally, wrong });
    const next = anyStep(random, run);
    if (next === null) break;
    const decision = decideFor(run, next, anyWorld(random));
    here = { run: decision.run, marks: survey.marks(run, { before: marks, events: decision.events }) };
    events.push(...decision.events);
  }
  if (here.run.phase === null) tally.ended++;
  for (const promise of brokenPromises(workflow, events))
    if (!reported.broken.has(promise)) wrong(`${promise} was broken, and not reported`);
}

/** Of the promises and phases, what the check says is wrong with them. */
function reportedIn({ report }: Survey) {
  const unreachable = report.findings.filter(({ code }) => code === 'unreachable_phase');
  const promises = report.findings.flatMap(({ code, about, message }) =>
    code === 'property_broken'
      ? [about?.name ?? '']
      : code === 'required_gate_bypassed'
        ? [requiredIn(message)]
        : [],
  );
  return { unreachable: new Set(unreachable.flatMap(({ phases }) => phases)), broken: new Set(promises) };
}

/** Checks that a trace says do not hold, since the last phase was entered. */
function refutedIn(trace: readonly string[]): readonly string[] {
  const entered = trace.findLastIndex((step) => / → `/u.test(step));
  return trace.slice(entered).flatMap((step) => /`([^`]*)` does not hold/u.exec(step)?.[1] ?? []);
}

/** What a trace says last of a condition. */
function answerIn(trace: readonly string[]): boolean | undefined {
  const told = trace.flatMap((step) => /its condition is (true|false)/u.exec(step)?.[1] ?? []).at(-1);
  return told === undefined ? undefined : told === 'true';
}

/** The promise of a gate that a finding is about. */
function requiredIn(message: string): string {
  const [, gate, phase] = /a human's yes at `(.*?)` of phase `(.*?)`/u.exec(message) ?? [];
  return `required ${gate} of ${phase}`;
}

/** Where the check sees a way to an end the engine goes one, and where it sees none nothing leads to one. */
function wayOut(from: Standing, survey: Survey, { random, tally, wrong }: Trying): void {
  const distance = survey.distance(from.run, from.marks);
  const name = `\`${from.run.phase}\` (${from.run.status})`;
  if (distance === undefined) {
    tally.stuck++;
    const told = survey.report.findings.some(({ code }) => code === 'dead_end' || code === 'exhausted_loop');
    if (!told) wrong(`a run cannot end from ${name}, and that is not reported`);
    if (endsAnyhow(from.run, random)) wrong(`a run ended from ${name}, where the check saw no way`);
    return;
  }
  // Votes that were cast for what leads nowhere are no states of their own; that they can divide a gate is reported.
  if (survey.report.findings.some(({ message }) => message.includes('of them agreeing'))) return;
  tally.led++;
  if (!isLed(from, survey, random))
    wrong(`no way to an end was found from ${name}, where the check sees one`);
}

/** What is answered about evidence that stays the same is answered so again. */
function endsAnyhow(from: Run, random: Random, trace: readonly string[] = []): boolean {
  const refuted = refutedIn(trace);
  const answer = Object.keys(from.work.items ?? { one: 1 }).length === 0 ? answerIn(trace) : undefined;
  const world = (): World => {
    const any = anyWorld(random);
    return (look) => {
      if (look.kind === 'condition' && answer !== undefined)
        return { kind: 'condition', result: { ok: true, value: answer } };
      if (look.kind !== 'check' || !refuted.includes(look.check.label)) return any(look);
      return { kind: 'check', result: { status: 'failed', reason: 'as before', class: 'claimed' } };
    };
  };
  let run = from;
  for (let step = 0; step < 200; step++) {
    const next = anyStep(random, run);
    if (next === null) return true;
    run = decideFor(run, next, world()).run;
  }
  return false;
}

/** Tries steps and takes those that bring the run nearer to an end by the check's own count. */
function isLed(from: Standing, survey: Survey, random: Random): boolean {
  let here = from;
  for (let tried = 0; tried < 6000; tried++) {
    const next = anyStep(random, here.run);
    if (next === null) return true;
    const { run, events } = decideFor(here.run, next, anyWorld(random));
    const marks = survey.marks(here.run, { before: here.marks, events });
    const after = survey.distance(run, marks);
    const before = survey.distance(here.run, here.marks) ?? 0;
    if (after === undefined || (after > before && !random.chance(0.06))) continue;
    if (after === before && events.length > 0 && events[0]?.type === 'phase_refused' && random.chance(0.5))
      continue;
    here = { run, marks };
  }
  return false;
}

/** What a trace says can be done, and what is said of it is so. */
function replayAll(workflow: Workflow, survey: Survey, { random, tally, wrong }: Trying): void {
  for (const { code, message, trace, about } of survey.report.findings) {
    if (trace.length === 0) continue;
    tally.replayed++;
    const lives = replayTrace(workflow, trace);
    const promise = code === 'property_broken' ? about?.name : requiredIn(message);
    const isSo =
      code === 'property_broken' || code === 'required_gate_bypassed'
        ? lives.some(({ events }) => brokenPromises(workflow, events).has(promise ?? ''))
        : lives.some(({ run }) => run.phase !== null && !endsAnyhow(run, random, trace));
    if (!isSo) wrong(`${code} is not what comes of its trace: ${trace.join(' | ')}`);
  }
}
