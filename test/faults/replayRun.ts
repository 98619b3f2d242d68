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
}

/** Where what is found is told. */
export interface Findings {
  /** A fact that was looked at and holds. */
  fact(kind: string): void;
  /** Facts that contradict each other. */
  contradiction(text: string): void;
}

/**
 * Goes through the records of one run by rules of its own: who holds it, in which phase and epoch it is, which tokens are
 * good. Every record must fit what those before it have led to.
 */
export function replayRun(
  records: readonly AuditRecord[],
  workflow: KnownWorkflow,
  findings: Findings,
): void {
  const run = records[0]?.run;
  const state: ReplayedRun = {
    phase: workflow.phases[0] ?? null,
    epoch: 1,
    holder: null,
    heardAt: 0,
    good: [],
    ends: 0,
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
    demand('no doubled claim', null, run.holder);
    moveOn(run, run.phase, String(data.holder));
    run.heardAt = time;
  },
  run_released(run, { record: { data }, workflow, time, demand }) {
    demand('only the holder loses a run', data.holder, run.holder);
    if (data.cause === 'lease_expired') {
      const silent = time - run.heardAt;
      const isOver = silent > workflow.leaseMs - SLACK_MS;
      demand('a lease lasts as long as it should', isOver ? 'over' : `silent for ${silent} ms`, 'over');
    }
    moveOn(run, run.phase, null);
  },
  token_issued(run, { record: { data, principal }, time, demand }) {
    const should = [`agent:${run.holder}`, run.phase, run.epoch];
    demand('a token is for what the run is', [principal, data.phase, data.epoch], should);
    run.good = [String(data.jti), ...run.good].slice(0, 2);
    run.heardAt = time;
  },
  tool_judged(run, { record: { data, principal }, workflow, demand }) {
    demand('no verdict by a dead token', run.good.includes(String(data.token)), true);
    const isAllowed = (workflow.tools[run.phase ?? ''] ?? []).includes(String(data.tool));
    const should = [`agent:${run.holder}`, run.phase, isAllowed];
    demand('a verdict is on the phase that the run is in', [principal, data.phase, data.allowed], should);
  },
  phase_completed(run, { record: { data }, workflow: { phases }, time, demand }) {
    const next = phases[phases.indexOf(run.phase ?? '') + 1] ?? null;
    demand(
      'a transition is decided on the state before it',
      [data.by, data.phase, data.next],
      [run.holder, run.phase, next],
    );
    if (next === null) run.ends += 1;
    moveOn(run, next, next === null ? null : run.holder);
    run.heardAt = time;
  },
};

/** A new epoch: all tokens before it are dead. */
function moveOn(run: ReplayedRun, phase: string | null, holder: string | null): void {
  Object.assign(run, { phase, holder, epoch: run.epoch + 1, good: [] });
}

/** What is written and what is told of two clocks that were read one after the other. */
const SLACK_MS = 1_000;
