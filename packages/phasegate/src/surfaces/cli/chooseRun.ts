import { basename } from 'node:path';
import {
  type Phasegate,
  PhasegateError,
  type Principal,
  type RunQuery,
  type RunSummary,
} from '@phasegate/core';
import { isRunId, UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { goalAuthor } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import type { UnlockedHuman } from '../../runtime/ports.ts';
import { Cancelled } from './cancelled.ts';
import type { Invocation } from './command.ts';
import { foreignLines } from './text/foreignLines.ts';
import { table } from './text/table.ts';
import { LOCAL_AGENT, unlockHuman } from './unlockHuman.ts';
import { usageError } from './usage.ts';

/** Which runs a command can be about; the only one of them is meant where RUN is left out. */
export type Among =
  /** Those the agent holds. */
  | 'held'
  /** Those that have not ended; the only active one counts before others. */
  | 'unfinished'
  /** Those that have not ended, and no other. */
  | 'any unfinished'
  | 'at a gate'
  | 'with questions'
  | 'escalated';

/** A human, and the run they act on. */
export interface HumanAndRun {
  readonly human: UnlockedHuman;
  readonly runId: string;
}

/** What was said of the run: the beginning of its id, or nothing. */
interface Wanted {
  readonly word: string;
  readonly among: Among;
}

/** The run that is meant, for the one who may see it. */
export async function chooseRun(invocation: Invocation, caller: Principal, wanted: Wanted): Promise<string> {
  const gate = (await invocation.reach()).as(caller);
  const found = (await ofThisFolder(invocation, gate, wanted)) ?? (await find(gate, wanted));
  if (found === null) {
    if (wanted.word !== '') return wanted.word;
    throw none(wanted.among);
  }
  if (wanted.word === '' && !invocation.out.json) await invocation.out.log(placeOf(found).join('  '));
  return found.run;
}

/**
 * The run a human means. INVARIANT: before anybody has proven who they are, only what an agent here may see is told.
 * What the human sees afterwards decides: a second run that no agent here sees makes the choice unclear.
 */
export async function chooseWithHuman(invocation: Invocation, wanted: Wanted): Promise<HumanAndRun> {
  const { out, prompts, server } = invocation;
  const before = server === null ? await seenHere(invocation, wanted) : null;
  // The one who wrote the whole id knows which run it is.
  const isNamed = (run: RunSummary) => run.run === wanted.word;
  if (before !== null && !isNamed(before)) await out.log(announced(before, out.width));
  const human = await unlockHuman(invocation);
  const found = await find((await invocation.reach()).as(human.principal), wanted);
  if (found === null) {
    if (wanted.word !== '') return { human, runId: wanted.word };
    throw none(wanted.among);
  }
  if (found.run !== before?.run && !isNamed(found)) {
    await out.log(announced(found, out.width));
    // A gate's card is shown and asked about anyway.
    const asks = prompts !== null && wanted.among !== 'at a gate';
    if (asks && !(await prompts.confirm('Is it this run?'))) throw new Cancelled();
  }
  return { human, runId: found.run };
}

/** What can be said without a credential; where no other agent is set up, that is all there is. */
async function seenHere(invocation: Invocation, wanted: Wanted): Promise<RunSummary | null> {
  const open = await invocation.open();
  const found = await find(open.as(LOCAL_AGENT), wanted);
  if (found === null && wanted.word === '' && (await open.agents.list()).length === 0)
    throw none(wanted.among);
  return found;
}

/** The one run whose id begins like this, with or without `run-`; null where there is none. */
export async function runByPrefix(gate: Pick<Phasegate, 'runs'>, word: string): Promise<RunSummary | null> {
  const found = new Map<string, RunSummary>();
  for (let offset = 0; word !== ''; offset += PAGE) {
    const runs = await listed(gate, { limit: PAGE, offset });
    const exact = runs?.find(({ run }) => run === word);
    if (exact !== undefined) return exact;
    for (const line of runs ?? []) {
      const begins = line.run.startsWith(word) || line.run.startsWith(`run-${word}`);
      // By id: between two pages a run may have been made, and then one is on both.
      if (begins) found.set(line.run, line);
    }
    if ((runs?.length ?? 0) < PAGE) break;
  }
  const matches = [...found.values()];
  if (matches.length > 1) throw unclear(`\`${word}\` is the beginning of ${matches.length} runs`, matches);
  return matches[0] ?? null;
}

/** So many are looked through at a time. */
const PAGE = 10_000;

/** Of those that are not over, all: one that is left out would make the choice look clear. */
const ALL = 1_000_000;

/** The runs the caller may see; null where they may see no list, as an agent at a server. */
async function listed(gate: Pick<Phasegate, 'runs'>, query: RunQuery): Promise<readonly RunSummary[] | null> {
  return gate.runs(query).catch((error: unknown) => {
    if (error instanceof PhasegateError && error.code === 'not_permitted') return null;
    throw error;
  });
}

/** Where RUN is left out in the git worktree of a run, that run is meant, also beside others that are active. */
async function ofThisFolder(
  invocation: Invocation,
  gate: Phasegate,
  { word, among }: Wanted,
): Promise<RunSummary | null> {
  if (word !== '' || invocation.server !== null || (among !== 'held' && among !== 'unfinished')) return null;
  const { root } = await invocation.project();
  // The folder has the name of its run.
  const named = basename(root);
  const run = isRunId(named) ? await runByPrefix(gate, named) : null;
  if (run === null) return null;
  return (await gate.view(run.run)).folder === root ? run : null;
}

async function find(gate: Phasegate, { word, among }: Wanted): Promise<RunSummary | null> {
  if (word !== '') return runByPrefix(gate, word);
  const candidates = await candidatesFor(gate, among);
  const active = among === 'any unfinished' ? [] : candidates.filter(({ status }) => status === 'active');
  const [only, ...others] = active.length > 0 ? active : candidates;
  if (others.length === 0) return only ?? null;
  throw unclear(`RUN is missing, and ${candidates.length} runs ${WORDS[among]}`, candidates);
}

/** The runs that can be meant where none is named. */
export async function candidatesFor(
  gate: Pick<Phasegate, 'runs' | 'view'>,
  among: Among,
): Promise<readonly RunSummary[]> {
  switch (among) {
    case 'held':
      return (await unfinished(gate, NOT_OVER)).filter(({ holder }) => holder !== null);
    case 'unfinished':
    case 'any unfinished':
      return unfinished(gate, NOT_OVER);
    case 'escalated':
      return unfinished(gate, ['escalated']);
    case 'at a gate':
      return whereSeen(gate, await unfinished(gate, ['waiting']), (view) => view.gate !== null);
    case 'with questions':
      return whereSeen(gate, await unfinished(gate, ['waiting']), (view) => view.questions.length > 0);
  }
}

const NOT_OVER: readonly RunSummary['status'][] = ['queued', ...UNFINISHED_STATUSES];

/** The runs of these statuses, newest first. */
async function unfinished(
  gate: Pick<Phasegate, 'runs'>,
  statuses: readonly RunSummary['status'][],
): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (const status of statuses) {
    const runs = await listed(gate, { status, limit: ALL });
    if (runs === null) throw usageError('RUN is missing, and this server lists its runs to humans only');
    found.push(...runs);
  }
  return found.sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
}

type View = Awaited<ReturnType<Phasegate['view']>>;

async function whereSeen(
  gate: Pick<Phasegate, 'view'>,
  runs: readonly RunSummary[],
  holds: (view: View) => boolean,
): Promise<readonly RunSummary[]> {
  const seen = await Promise.all(runs.map(async (run) => holds(await gate.view(run.run))));
  return runs.filter((_, place) => seen[place]);
}

/** What several of them do. */
const WORDS: Readonly<Record<Among, string>> = {
  held: 'are held by this agent',
  unfinished: 'have not ended',
  'any unfinished': 'have not ended',
  'at a gate': 'wait at a gate',
  'with questions': 'wait for answers',
  escalated: 'are escalated',
};

const NONE: Readonly<Record<Among, string>> = {
  held: 'this agent holds no run',
  unfinished: 'no run is under way',
  'any unfinished': 'no run is under way',
  'at a gate': 'no run waits at a gate',
  'with questions': 'no run waits for answers',
  escalated: 'no run is escalated',
};

function none(among: Among): Error {
  const hint =
    among === 'held'
      ? '`phasegate runs` lists the runs there are, and `phasegate claim RUN` takes one that is queued'
      : '`phasegate runs` lists the runs there are';
  return usageError(`RUN is missing, and ${NONE[among]}`, hint);
}

const LISTED = 20;

function unclear(what: string, runs: readonly RunSummary[]): Error {
  const rows = runs.slice(0, LISTED).map(cellsOf);
  const more = runs.length > LISTED ? `\n  and ${runs.length - LISTED} more: \`phasegate runs\`` : '';
  return usageError(`${what}: say which`, `one of\n${table(rows.map((row) => ['', ...row]))}${more}`);
}

/** The run a human is about to act on, with its goal behind a mark: it may be an agent's words. */
function announced(run: RunSummary, width: number): string {
  const { goal } = run;
  const said = goal === undefined ? [] : [`goal, ${goalAuthor(goal)}:`, ...foreignLines(goal.text, width)];
  return [placeOf(run).join('  '), ...said].join('\n');
}

function placeOf({ run, workflow, status, phase }: RunSummary): readonly string[] {
  return [run, workflow, phase === null ? status : `${status} in ${phase}`];
}

function cellsOf(run: RunSummary): readonly string[] {
  const { target, goal } = run;
  const said = goal === undefined ? (target ?? '') : `goal, ${goalAuthor(goal)}: ${goal.text}`;
  return [...placeOf(run), brief(oneLine(said))];
}

const BRIEF = 60;

function brief(text: string): string {
  const characters = [...text];
  return characters.length > BRIEF ? `${characters.slice(0, BRIEF - 3).join('')}...` : text;
}
