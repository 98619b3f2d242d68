import { type Item, type PhaseWork, type Run, timesOf } from '@phasegate/core/engine';
import { canonicalJson, type JsonObject, phaseById } from '@phasegate/core/model';
import type { Abstraction } from './abstractWorkflow.ts';
import { lastingNos } from './frozenAnswers.ts';
import { keeping, keptIn, type Sizes } from './givenItems.ts';
import type { Marks } from './monitor.ts';
import { AGENT, NOW } from './moves.ts';

/** A run with everything forgotten that cannot change what happens next. */
export function essenceOf(run: Run, abstraction: Abstraction): Run {
  const here = String(run.phase);
  const { gates: _, settled: __, owed: ___, ...rest } = run;
  const owed = owedAhead(run, abstraction);
  const items = run.work.items;
  const attempts = run.status === 'active' ? run.work.attempts : 0;
  const core = {
    ...rest,
    ...(Object.keys(owed).length === 0 ? {} : { owed }),
    epoch: 1,
    holder: AGENT.name,
    completions: [],
    decisions: [],
    state: keeping(run, { answers: lastingAnswers(run), sizes: sizesAhead(run, abstraction) }).state,
    updatedAt: NOW,
    visits: counted(run.visits, abstraction.liveVisits.get(here), abstraction.visitCap),
    iterations: counted(run.iterations, abstraction.liveIterations.get(here), Number.POSITIVE_INFINITY),
    work: {
      enteredAt: NOW,
      attempts,
      failure: null,
      note: null,
      refusal: null,
      fetched: [],
      answers: [],
      items: items === null ? null : sorted(items),
    },
  };
  if (core.status === 'waiting' && core.wait.for === 'gate') {
    const gate = `${core.wait.gate.split('#')[0]}#1`;
    const { outcome, by } = core.wait;
    return {
      ...core,
      wait: {
        for: 'gate',
        gate,
        since: NOW,
        outcome,
        by,
        evidence: {},
        state: {},
        // Only votes that nothing can come of any more say what can still happen.
        votes: isDivided(run) ? core.wait.votes.map((vote) => ({ ...vote, gate, at: NOW })) : [],
        wouldRefuse: [],
      },
    } as Run;
  }
  if (core.status === 'escalated') {
    return { ...core, escalation: { ...core.escalation, message: '', since: NOW, blockers: [] } } as Run;
  }
  return core as Run;
}

/** Whether no option of the gate a run waits at can get votes enough any more, however long it waits. */
export function isDivided(run: Run): boolean {
  if (run.status !== 'waiting' || run.wait.for !== 'gate' || run.wait.votes.length === 0) return false;
  const gate = phaseById(run.workflow, run.phase)?.humanGate;
  if (gate == null || gate.timeout !== null || gate.approvers.length === 0) return false;
  const { votes } = run.wait;
  const left = [...new Set(gate.approvers)].filter((name) => !votes.some((vote) => vote.by === name)).length;
  return gate.options.every(
    ({ label }) => votes.filter(({ option }) => option === label).length + left < gate.quorum,
  );
}

function counted(
  counts: Readonly<Record<string, number>>,
  live: ReadonlySet<string> | undefined,
  cap: number,
): Readonly<Record<string, number>> {
  let kept: Record<string, number> = {};
  for (const id of live ?? []) {
    const count = numberOf(counts, id);
    if (count === undefined) continue;
    // A phase may be called `__proto__`, which only a literal gives an object as its own.
    if (id === '__proto__') kept = { ...kept, [id]: Math.min(count, cap) };
    else kept[id] = Math.min(count, cap);
  }
  return kept;
}

/** Failed attempts that another phase ahead begins with; what this one began with is in its work. */
function owedAhead(run: Run, { ahead }: Abstraction): Readonly<Record<string, number>> {
  if (run.owed === undefined) return {};
  const reached = ahead.get(String(run.phase));
  return Object.fromEntries(
    Object.entries(run.owed)
      .filter(([id]) => id !== String(run.phase) && reached?.has(id) === true)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** How many items the lists from params have that a phase ahead works on. */
function sizesAhead(run: Run, { ahead, lists }: Abstraction): Sizes {
  if (lists.size === 0) return {};
  const { sizes } = keptIn(run);
  const reached = ahead.get(String(run.phase));
  const live = new Set([...lists].flatMap(([id, { name }]) => (reached?.has(String(id)) ? [name] : [])));
  return Object.fromEntries(Object.entries(sizes).filter(([name]) => live.has(name)));
}

/** Which item did what makes no difference, so the same results in another order are the same state. */
function sorted(items: NonNullable<PhaseWork['items']>): NonNullable<PhaseWork['items']> {
  // A completed item is reopened with its attempts where the join is refused; a failed one begins anew.
  const results = Object.values(items)
    .map(({ status, attempts, outcome }) => ({
      status,
      attempts: status === 'failed' ? 0 : attempts,
      ...(outcome === undefined || status !== 'completed' ? {} : { outcome }),
    }))
    .sort((one, other) => (resultKey(one) < resultKey(other) ? -1 : 1));
  return Object.fromEntries(
    Object.keys(items).map((key, index) => [
      key,
      { value: key, evidence: null, error: null, ...(results[index] as (typeof results)[number]) },
    ]),
  );
}

function resultKey({
  status,
  attempts,
  outcome = 'ok',
}: Pick<Item, 'status' | 'attempts' | 'outcome'>): string {
  return `${status}${attempts}${outcome}`;
}

/** Which state a bare run is in, with what it has passed: equal for equal states only. */
export function keyOf(bare: Run, marks: Marks): string {
  const { attempts, items } = bare.work;
  return keyFrom(bare, marks, {
    attempts,
    items,
    counts: `${countsIn(bare.visits)}|${countsIn(bare.iterations)}|${countsIn(bare.owed ?? {})}`,
    sizes: keptIn(bare).sizes,
  });
}

/** The same without the loops of other phases: what a decision about a bare run can depend on. */
export function localKeyOf(bare: Run): string {
  const { attempts, items } = bare.work;
  const own = bare.phase === null ? '' : timesOf(bare.iterations, bare.phase);
  const counts = `${countsIn(bare.visits)}|${own}|${countsIn(bare.owed ?? {})}`;
  return keyFrom(bare, '', { attempts, items, counts, sizes: keptIn(bare).sizes });
}

/** The same of a run from which nothing was taken yet. */
export function keyBefore(run: Run, marks: Marks, abstraction: Abstraction): string {
  const here = String(run.phase);
  const visits = countsOf(run.visits, abstraction.liveVisits.get(here), abstraction.visitCap);
  const iterations = countsOf(run.iterations, abstraction.liveIterations.get(here), Number.POSITIVE_INFINITY);
  const { items } = run.work;
  return keyFrom(run, marks, {
    attempts: run.status === 'active' ? run.work.attempts : 0,
    items: items === null ? null : sorted(items),
    counts: `${visits}|${iterations}|${countsIn(owedAhead(run, abstraction))}`,
    sizes: sizesAhead(run, abstraction),
  });
}

function keyFrom(
  run: Run,
  marks: Marks,
  {
    attempts,
    items,
    counts,
    sizes,
  }: Pick<PhaseWork, 'attempts' | 'items'> & { readonly counts: string; readonly sizes: Sizes },
): string {
  const results = items === null ? 'one' : Object.values(items).map(resultKey).join();
  const kept = `${countsIn(sizes)}${answersKey(lastingAnswers(run))}`;
  const why =
    run.status === 'escalated'
      ? run.escalation.reason === 'iterations'
      : run.status === 'waiting' && run.wait.for === 'gate'
        ? `${run.wait.outcome}${isDivided(run) ? ' divided' : ''}`
        : run.status === 'stopped'
          ? run.stoppedIn
          : '';
  return `${typeof run.phase}${run.phase}\0${run.status}|${why}|${attempts}|${counts}|${results}|${kept}|${paramsKey(run.params)}|${marks}`;
}

/**
 * What was answered about evidence lasts while a human decides on it, and where there is nothing that could be handed
 * in; a no about what other phases handed in lasts until the phase is left.
 */
function lastingAnswers(run: Run): Readonly<Record<string, boolean>> {
  const { answers } = keptIn(run);
  const empty = run.work.items !== null && Object.keys(run.work.items).length === 0;
  return empty || (run.status === 'waiting' && run.wait.for === 'gate') ? answers : lastingNos(answers);
}

function answersKey(answers: Readonly<Record<string, boolean>>): string {
  const given = Object.entries(answers);
  return given.length === 0 ? '' : canonicalJson(Object.fromEntries(given));
}

// Every run of a start has the very same params, so they are written once.
const writtenParams = new WeakMap<object, string>();

function paramsKey(params: Run['params']): string {
  const known = writtenParams.get(params);
  if (known !== undefined) return known;
  const written = canonicalJson(params as JsonObject);
  writtenParams.set(params, written);
  return written;
}

function countsOf(
  counts: Readonly<Record<string, number>>,
  live: ReadonlySet<string> | undefined,
  cap: number,
): string {
  let written = '';
  for (const id of live ?? []) {
    const count = numberOf(counts, id);
    if (count !== undefined) written += `${id}\0${Math.min(count, cap)}\0`;
  }
  return written;
}

function countsIn(counts: Readonly<Record<string, number>>): string {
  let written = '';
  for (const [id, count] of Object.entries(counts)) written += `${id}\0${count}\0`;
  return written;
}

/** Faster than `timesOf`, as this is asked of every state: what else an object has under a name is not a number. */
function numberOf(counts: Readonly<Record<string, number>>, id: string): number | undefined {
  const count = counts[id];
  return typeof count === 'number' ? count : undefined;
}
