import type {
  canonicalJson,
  Decision,
  decide,
  decideStart,
  defineWorkflow,
  Run,
  viewFor,
} from '@phasegate/core';
import type { gateCard, scopeFor } from '@phasegate/core/engine';
import type { Standing } from '../differential/commands.ts';
import type { Asked } from '../differential/interpreter.ts';

/** The functions that the properties are about. */
export interface Parts {
  readonly decide: typeof decide;
  readonly decideStart: typeof decideStart;
  readonly defineWorkflow: typeof defineWorkflow;
  readonly gateCard: typeof gateCard;
  readonly viewFor: typeof viewFor;
  readonly scopeFor: typeof scopeFor;
  readonly canonicalJson: typeof canonicalJson;
}

/** Loads them from a folder, as it is or with a mistake planted. */
export async function loadParts(core: string): Promise<Parts> {
  const paths = ['decide', 'start', 'gateCard', 'viewFor', 'scope'].map((name) => `engine/${name}.ts`);
  const modules = await Promise.all(
    [...paths, 'model/defineWorkflow.ts', 'json.ts'].map((path) => import(new URL(path, core).href)),
  );
  return Object.assign({}, ...modules) as Parts;
}

/** Lets a command happen. */
export function happen(parts: Parts, run: Run, { command, by, at, shown, facts }: Asked): Decision {
  const now = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
  return parts.decide(run, command, { principal: by, now, facts, ...(shown === undefined ? {} : { shown }) });
}

/** As much of a run as commands are made for. */
export function standingOf(run: Run): Standing {
  const wait = run.status === 'waiting' ? run.wait : null;
  const items = Object.entries(run.work.items ?? {}).map(
    ([key, { status, holder = null }]) => [key, { status, holder }] as const,
  );
  return {
    workflow: run.workflow,
    status: run.status,
    phase: run.phase,
    epoch: run.epoch,
    holder: run.holder,
    fetched: [...run.work.fetched],
    questions: wait?.for === 'questions' ? { count: wait.questions.length } : null,
    gate: wait?.for === 'gate' ? { name: wait.gate } : null,
    items: new Map(items),
  };
}

/** What came of a command, without what was handed in: the verdict, the route and the items. */
export function storyOf({ verdict, run }: Decision): string {
  const codes = verdict.allowed ? [] : verdict.blockers.map(({ code }) => code);
  const would = verdict.allowed ? (verdict.wouldRefuse ?? []).map(({ code }) => code) : [];
  const items = Object.entries(run.work.items ?? {}).map(([key, { status, outcome, attempts, value }]) => [
    key,
    status,
    outcome,
    attempts,
    value,
  ]);
  const { status, phase, epoch, visits, iterations, state, owed, work } = run;
  const { attempts, refusal } = work;
  return JSON.stringify([
    codes,
    would,
    [status, phase, epoch, visits, iterations, state, owed],
    [attempts, refusal?.count, items],
  ]);
}
