import { isDeepStrictEqual } from 'node:util';

/** A record of the audit, with its place among those of all chains. */
export interface AuditRecord {
  readonly id: number;
  readonly run: string | null;
  readonly seq: number;
  readonly time: string;
  readonly principal: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What the workflow of the test says, apart from the engine that is tested. */
export interface KnownWorkflow {
  readonly phases: readonly string[];
  /** Tools that a phase allows. */
  readonly tools: Readonly<Record<string, readonly string[]>>;
  readonly leaseMs: number;
  /** The phase that is done once for each of these items. */
  readonly parallel?: { readonly phase: string; readonly items: readonly string[] };
  /** The phase that is left only when a human says so. */
  readonly gated?: string;
}

/** The human of the test, by name. */
export const HUMAN = 'maria';

/** Where what is found is told. */
export interface Findings {
  /** A fact that was looked at and holds. */
  fact(kind: string): void;
  /** Facts that contradict each other. */
  contradiction(text: string): void;
}

/**
 * Goes through the records of one run by rules of its own: who holds it, in which phase and epoch it is, which tokens are
 * good. Every record must fit what those before it have led to. Gives, by the places of the records that say so, which
 * tokens were good for what was completed there.
 */
export function replayRun(
  records: readonly AuditRecord[],
  workflow: KnownWorkflow,
  findings: Findings,
): ReadonlyMap<number, readonly string[]> {
  const run = records[0]?.run;
  const state: ReplayedRun = {
    phase: workflow.phases[0] ?? null,
    epoch: 1,
    holder: null,
    heardAt: 0,
    good: [],
    ends: 0,
    items: new Map(),
    lastDoneBy: null,
    gate: null,
    isDecided: false,
    doneWith: new Map(),
    tokens: new Map(),
  };
  for (const [index, record] of records.entries()) {
    const demand: Demand = (kind, is, should) => {
      if (isDeepStrictEqual(is, should)) return findings.fact(kind);
      const about = `record ${record.seq} of run ${run}, \`${record.event}\` by ${record.principal} (place ${record.id})`;
      findings.contradiction(
        `${kind}: ${about} says ${JSON.stringify(is)}, and after the records before it there is ${JSON.stringify(should)}`,
      );
    };
    demand('no record is missing in a chain', record.seq, index + 1);
    RULES[record.event]?.(state, { record, workflow, time: Date.parse(record.time), demand });
  }
  const { ends, phase } = state;
  if (ends === 1 && phase === null) findings.fact('a run is completed once');
  else
    findings.contradiction(
      `a run is completed once: run ${run} was completed ${ends} times and is in ${phase}`,
    );
  return state.tokens;
}

/** A run as its records have led to it. */
interface ReplayedRun {
  phase: string | null;
  epoch: number;
  holder: string | null;
  /** When its holder was surely heard of last. */
  heardAt: number;
  /** The tokens that are good, by their ids. */
  good: readonly string[];
  ends: number;
  /** Of the parallel phase it is in. */
  items: Map<string, ReplayedItem>;
  /** Who completed the newest item: they hold the run when it was the last. */
  lastDoneBy: string | null;
  /** The gate that is open, and the agent who came to it. */
  gate: { readonly id: string; readonly by: string } | null;
  isDecided: boolean;
  /** Which tokens were good for what each principal completed last. */
  readonly doneWith: Map<string, readonly string[]>;
  readonly tokens: Map<number, readonly string[]>;
}

type Demand = (kind: string, is: unknown, should: unknown) => void;

interface Told {
  readonly record: AuditRecord;
  readonly workflow: KnownWorkflow;
  readonly time: number;
  readonly demand: Demand;
}

const RULES: Readonly<Record<string, (run: ReplayedRun, told: Told) => void>> = {
  run_claimed(run, { record: { data }, time, demand }) {
    const items = [...run.items.values()];
    // With the last item comes the run, even where another held it until then.
    if (items.length > 0 && items.every(({ isDone }) => isDone))
      demand('the run goes to the one who did the last item', data.holder, run.lastDoneBy);
    else demand('no doubled claim', null, run.holder);
    moveOn(run, run.phase, String(data.holder));
    run.heardAt = time;
  },
  run_released(run, told) {
    const { data } = told.record;
    told.demand('only the holder loses a run', data.holder, run.holder);
    demandLapsed(run, told);
    if (data.keepsEpoch === true) Object.assign(run, { holder: null, good: [] });
    else moveOn(run, run.phase, null);
  },
  token_issued(run, told) {
    const { record, time, demand } = told;
    const { data, principal, id } = record;
    const item = run.items.get(String(data.item));
    // What is handed out after a completion is the answer to it.
    run.tokens.set(id, run.doneWith.get(principal) ?? []);
    if (item !== undefined) {
      const should = [`agent:${item.holder}`, run.phase, run.epoch];
      demand('a token is for what the run is', [principal, data.phase, data.epoch], should);
      item.good = [String(data.jti), ...item.good].slice(0, 2);
      item.heardAt = time;
      return;
    }
    const should = [`agent:${run.holder}`, run.phase, run.epoch];
    demand('a token is for what the run is', [principal, data.phase, data.epoch], should);
    run.good = [String(data.jti), ...run.good].slice(0, 2);
    run.heardAt = time;
  },
  tool_judged(run, { record: { data, principal }, workflow, demand }) {
    const token = String(data.token);
    const ofItem = [...run.items.values()].find(({ good }) => good.includes(token));
    demand('no verdict by a dead token', ofItem !== undefined || run.good.includes(token), true);
    const isAllowed = (workflow.tools[run.phase ?? ''] ?? []).includes(String(data.tool));
    const should = [`agent:${(ofItem ?? run).holder}`, run.phase, isAllowed];
    demand('a verdict is on the phase that the run is in', [principal, data.phase, data.allowed], should);
  },
  item_claimed(run, { record: { data }, time, demand }) {
    const item = run.items.get(String(data.item));
    demand('no doubled claim of an item', [null, false], [item?.holder, item?.isDone]);
    if (item !== undefined) Object.assign(item, { holder: String(data.holder), good: [], heardAt: time });
  },
  item_released(run, told) {
    const { data } = told.record;
    const item = run.items.get(String(data.item));
    told.demand('only the holder loses an item', data.holder, item?.holder);
    if (item === undefined) return;
    demandLapsed(item, told);
    Object.assign(item, { holder: null, good: [] });
  },
  item_completed(run, { record, time, demand }) {
    const { data, principal } = record;
    const item = run.items.get(String(data.item));
    completed(run, record, [...(item?.good ?? []), ...(principal === `agent:${run.holder}` ? run.good : [])]);
    // Who holds the run may do what nobody has claimed, also an item that it lost by its silence.
    const by = item?.holder ?? run.holder;
    const should = [run.phase, `agent:${by}`, item?.isDone];
    demand('every item is done once, by its holder', [data.phase, principal, false], should);
    run.lastDoneBy = by;
    if (item !== undefined) Object.assign(item, { holder: null, isDone: true, good: [], heardAt: time });
  },
  gate_opened(run, { record, workflow, demand }) {
    const { data, principal } = record;
    completed(run, record, run.good);
    const should = [workflow.gated, run.phase, `agent:${run.holder}`, null];
    demand('a gate opens where it stands', [data.phase, data.phase, principal, run.gate], should);
    run.gate = { id: `${data.phase}#${data.instance}`, by: principal.slice('agent:'.length) };
    run.isDecided = false;
  },
  gate_decided(run, { record: { data, principal }, demand }) {
    const { gate, by } = Object(data.decision) as { readonly gate?: unknown; readonly by?: unknown };
    demand(
      'each gate is decided once, by a human',
      [gate, by, principal, data.final, run.isDecided],
      [run.gate?.id, HUMAN, `human:${HUMAN}`, true, false],
    );
    run.isDecided = true;
  },
  phase_completed(run, { record, workflow, time, demand }) {
    const { data, principal } = record;
    const { phases, parallel, gated } = workflow;
    // Of a parallel phase by the last of its items.
    const isByItems = parallel !== undefined && run.phase === parallel.phase;
    completed(run, record, isByItems ? (run.doneWith.get(principal) ?? []) : run.good);
    const next = phases[phases.indexOf(run.phase ?? '') + 1] ?? null;
    let by = run.holder;
    if (isByItems) {
      const done = [...run.items].filter(([, { isDone }]) => isDone).map(([key]) => key);
      demand('a parallel phase is left when every item is done', done.toSorted(), parallel.items);
      by = run.lastDoneBy;
    }
    if (gated !== undefined && run.phase === gated) {
      demand('no gate is passed without a human', [principal, run.isDecided], [`human:${HUMAN}`, true]);
      by = run.gate?.by ?? null;
    }
    demand(
      'a transition is decided on the state before it',
      [data.by, data.phase, data.next],
      [by, run.phase, next],
    );
    if (next === null) run.ends += 1;
    const keys = next !== null && next === parallel?.phase ? parallel.items : [];
    const pending = { holder: null, isDone: false, good: [], heardAt: 0 };
    run.items = new Map(keys.map((key) => [key, { ...pending }]));
    // A gate leaves the run with the one who held it, or with nobody; of that agent nothing was heard by it.
    const isDecision = gated !== undefined && run.phase === gated;
    const [holder, heardAt] = isDecision ? [run.holder, run.heardAt] : [by, time];
    moveOn(run, next, next === null ? null : holder);
    Object.assign(run, { heardAt, gate: null, isDecided: false });
  },
};

/** An item of a parallel phase as the records have led to it. */
interface ReplayedItem {
  holder: string | null;
  isDone: boolean;
  heardAt: number;
  good: readonly string[];
}

/** What is taken from a holder for its silence is taken when it was silent for long enough. */
function demandLapsed(
  { heardAt }: { readonly heardAt: number },
  { record: { data }, workflow, time, demand }: Told,
): void {
  if (data.cause !== 'lease_expired') return;
  const silent = time - heardAt;
  const isOver = silent > workflow.leaseMs - SLACK_MS;
  demand('a lease lasts as long as it should', isOver ? 'over' : `silent for ${silent} ms`, 'over');
}

function completed(run: ReplayedRun, { id, principal }: AuditRecord, good: readonly string[]): void {
  run.doneWith.set(principal, good);
  run.tokens.set(id, good);
}

/** A new epoch: all tokens before it are dead. */
function moveOn(run: ReplayedRun, phase: string | null, holder: string | null): void {
  Object.assign(run, { phase, holder, epoch: run.epoch + 1, good: [] });
}

/** What is written and what is told of two clocks that were read one after the other. */
const SLACK_MS = 1_000;
