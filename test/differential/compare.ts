import type {
  Decision,
  decide,
  decideStart,
  defineWorkflow,
  Facts,
  JsonObject,
  Principal,
  Run,
  Workflow,
  WorkflowDraft,
} from '@phasegate/core';
import { anyAsked, anyBabble, anyFacts, anyStart } from './commands.ts';
import { anyDraft, isLoopy, KNOWN } from './drafts.ts';
import { type Asked, act, start } from './interpreter.ts';
import { randomOf } from './random.ts';
import type { State, Told } from './state.ts';
import { runSummary, stateSummary } from './summary.ts';

/** The functions that are held against the interpreter. */
export interface Engine {
  readonly decide: typeof decide;
  readonly decideStart: typeof decideStart;
  readonly defineWorkflow: typeof defineWorkflow;
}

/** A workflow, how a run of it starts, and what happens to it. */
export interface Case {
  readonly seed: number;
  readonly draft: WorkflowDraft;
  readonly start: {
    readonly by: Principal;
    readonly given: JsonObject;
    readonly queued: boolean;
    readonly facts: Facts;
  };
  readonly commands: readonly Asked[];
}

/** Where the two part: the last command of the case, and what each made of it. */
export interface Disagreement {
  readonly case: Case;
  readonly engine: string;
  readonly interpreter: string;
}

/** Hears of every command and what came of it. */
export type Hear = (happened: {
  readonly asked: Asked | null;
  readonly before: State | null;
  readonly after: State | null;
  readonly told: Told;
}) => void;

/** Makes a case from a seed and walks both through it; null where they agree, undefined where the draft is invalid. */
export function compare(
  engine: Engine,
  seed: number,
  hear: Hear = () => {},
): Disagreement | null | undefined {
  const random = randomOf(seed);
  const draft = anyDraft(random);
  const defined = engine.defineWorkflow(draft, KNOWN);
  if (!defined.ok) return undefined;
  const { workflow } = defined;
  const commands: Asked[] = [];
  const begin = { ...anyStart(random, workflow), facts: anyFacts(random, workflow, null) };
  const isBabbling = random.chance(0.006);
  const length = isBabbling ? 40 : isLoopy(draft) ? 24 : 5 + random.int(8);
  // Anyone who is refused often tries the very same again.
  const stubborn = random.chance(0.08) ? 0.8 : 0.03;
  let at = 1;
  const next = (s: State): Asked | null => {
    // A run that is over refuses nearly everything, which is soon seen.
    if (commands.length >= length || (s.phase === null && random.chance(0.6))) return null;
    at += random.chance(0.05) ? 100 : 1 + random.int(8);
    const last = commands.at(-1);
    const fresh = isBabbling && random.chance(0.97) ? anyBabble(s, at) : anyAsked(random, s, at);
    const made = last !== undefined && !isBabbling && random.chance(stubborn) ? { ...last, at } : fresh;
    const asked = { ...made, facts: anyFacts(random, workflow, s) };
    at = asked.at;
    commands.push(asked);
    return asked;
  };
  return walk(engine, { seed, draft, start: begin, commands }, { workflow, next, hear });
}

/** Leaves out commands one by one as long as the two still part, and gives the shortest case found. */
export function shortest(engine: Engine, found: Disagreement): Disagreement {
  let best = found;
  for (let index = found.case.commands.length - 2; index >= 0; index--) {
    const commands = best.case.commands.filter((_, position) => position !== index);
    best = again(engine, { ...best.case, commands }) ?? best;
  }
  return best;
}

/** A disagreement as a person can read it. */
export function describe({
  case: { seed, draft, start: begin, commands },
  engine,
  interpreter,
}: Disagreement): string {
  const lines = commands.map(({ command, by, at, shown, facts }) =>
    JSON.stringify({ at, by: by.name, command, shown, facts }),
  );
  return [
    `engine and interpreter disagree at seed ${seed}, after ${commands.length} commands`,
    `workflow: ${JSON.stringify(draft, null, 1)}`,
    `start: ${JSON.stringify(begin)}`,
    ...lines,
    `engine:      ${engine}`,
    `interpreter: ${interpreter}`,
  ].join('\n');
}

function again(engine: Engine, one: Case): Disagreement | null {
  const defined = engine.defineWorkflow(one.draft, KNOWN);
  if (!defined.ok) return null;
  let index = 0;
  const commands: Asked[] = [];
  const next = () => {
    const asked = one.commands[index++] ?? null;
    if (asked !== null) commands.push(asked);
    return asked;
  };
  return walk(engine, { ...one, commands }, { workflow: defined.workflow, next, hear: () => {} });
}

type Walking = {
  readonly workflow: Workflow;
  readonly next: (s: State) => Asked | null;
  readonly hear: Hear;
};

function walk(engine: Engine, one: Case, { workflow, next, hear }: Walking): Disagreement | null {
  const { by, given, queued, facts } = one.start;
  const now = instant(0);
  const starting = { ...STARTING, workflow, params: given, queued };
  const begun = engine.decideStart(starting, { principal: by, now, facts });
  const mine = start(workflow, given, queued || by.kind !== 'agent' ? null : by.name, facts);
  const apart = (theirs: string, ours: string) =>
    theirs === ours ? null : { case: one, engine: theirs, interpreter: ours };
  hear({ asked: null, before: null, after: mine.state, told: mine.told });
  let found = apart(runSummary(begun.verdict, begun.run), stateSummary(mine.told, mine.state));
  let { run } = begun;
  const s = mine.state;
  if (found !== null || run === null || s === null) return found;
  for (let asked = next(s); asked !== null; asked = next(s)) {
    const before = { ...s, done: [...s.done], owed: new Map(s.owed), items: copyOf(s.items) };
    const decision = decideWith(engine, run, asked);
    const told = act(s, asked);
    hear({ asked, before, after: s, told });
    if (decision instanceof Error)
      return { case: one, engine: decision.message, interpreter: stateSummary(told, s) };
    const { verdict } = decision;
    run = decision.run;
    found = apart(runSummary(verdict, run), stateSummary(told, s));
    if (found !== null) return found;
  }
  return null;
}

const copyOf = (items: State['items']): State['items'] =>
  new Map([...items].map(([key, item]) => [key, { ...item }]));

const STARTING = { id: 'run', workflowHash: 'hash', target: null, ring: 'served', trusted: true } as const;

/** An engine that throws is wrong too. */
function decideWith(engine: Engine, run: Run, { command, by, at, shown, facts }: Asked): Decision | Error {
  const circumstance = { principal: by, now: instant(at), facts, ...(shown === undefined ? {} : { shown }) };
  try {
    return engine.decide(run, command, circumstance);
  } catch (error) {
    return error as Error;
  }
}

const START = Date.UTC(2026, 0, 1);
const instants: string[] = [];

function instant(seconds: number): string {
  instants[seconds] ??= new Date(START + seconds * 1000).toISOString();
  return instants[seconds];
}
