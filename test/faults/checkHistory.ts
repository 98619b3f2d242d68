import type { Act } from './history.ts';
import { type AuditRecord, type Findings, HUMAN, type KnownWorkflow, replayRun } from './replayRun.ts';

/** What a fault run left behind. */
export interface Evidence {
  readonly acts: readonly Act[];
  /** Of all chains, by their places. */
  readonly audit: readonly AuditRecord[];
  /** The places that each watcher of a feed was told, in the order in which it was. */
  readonly watched: readonly (readonly number[])[];
  /** What `audit verify` found. */
  readonly verified: { readonly ok: boolean; readonly findings: readonly unknown[] };
}

/** What the checker came to. */
export interface Checked {
  /** How many facts of each kind hold. */
  readonly facts: ReadonlyMap<string, number>;
  readonly contradictions: readonly string[];
}

/**
 * Compares what agents were answered with what the audit says, and both with rules that are written down here anew. Runs
 * of further workflows are known by the names of those.
 */
export function checkHistory(
  evidence: Evidence,
  workflow: KnownWorkflow,
  more: Readonly<Record<string, KnownWorkflow>> = {},
): Checked {
  const facts = new Map<string, number>();
  const contradictions: string[] = [];
  const findings: Findings = {
    fact: (kind) => facts.set(kind, (facts.get(kind) ?? 0) + 1),
    contradiction: (text) => contradictions.push(text),
  };
  const { acts, audit, watched, verified } = evidence;
  const chains = Map.groupBy(audit, ({ run }) => run);
  const good = new Map<number, readonly string[]>();
  for (const [run, records] of chains) {
    if (run === null) continue;
    const known = more[String(records[0]?.data.workflow)] ?? workflow;
    for (const [place, tokens] of replayRun(records, known, findings)) good.set(place, tokens);
  }
  for (const act of acts) checkDecider(act, findings);
  const placed = placeActs(acts, audit, findings);
  checkTokens(placed, good, findings);
  checkOrder(placed, findings);
  checkTimes(placed, findings);
  for (const act of acts) {
    if (act.answered.kind !== 'refused' || act.answered.code !== 'internal') continue;
    findings.contradiction(`no node fails: node ${act.node} answered \`internal\` to ${describe(act)}`);
  }
  const all = audit.map(({ id }) => id);
  for (const [watcher, told] of watched.entries()) checkWatched({ watcher, told, all }, findings);
  if (verified.ok) findings.fact('every chain verifies');
  else findings.contradiction(`every chain verifies: ${JSON.stringify(verified.findings)}`);
  return { facts, contradictions };
}

/** Anyone else who asks at the door of the humans is refused. */
function checkDecider(act: Act, findings: Findings): void {
  if (act.asked.kind !== 'decide' || act.answered.kind === 'unknown') return;
  if (act.agent !== HUMAN && act.answered.kind === 'decided')
    findings.contradiction(`only a human decides: ${describe(act)}`);
  else findings.fact('only a human decides');
}

/** An act that was acknowledged, and the record that says so. */
interface PlacedAct {
  readonly act: Act;
  readonly record: AuditRecord;
}

/** Finds the record of every acknowledged act; an act that nobody answered has one at most. */
function placeActs(
  acts: readonly Act[],
  audit: readonly AuditRecord[],
  findings: Findings,
): readonly PlacedAct[] {
  const records = new Map<string, AuditRecord[]>();
  for (const record of audit) {
    const key = keyOfRecord(record);
    if (key === null) continue;
    const others = records.get(key);
    if (others === undefined) records.set(key, [record]);
    else others.push(record);
  }
  for (const [key, [first, second]] of records) {
    if (second === undefined) findings.fact('what is done is done once');
    else
      findings.contradiction(`what is done is done once: ${key} is in places ${first?.id} and ${second.id}`);
  }
  return acts.flatMap((act) => {
    const key = keyOfAct(act);
    if (key === null) return [];
    const [record] = records.get(key) ?? [];
    if (record === undefined) {
      findings.contradiction(`no acknowledged act is missing in the audit: ${describe(act)} (${key})`);
      return [];
    }
    findings.fact('no acknowledged act is missing in the audit');
    return [{ act, record }];
  });
}

/** What an acknowledged act must have left behind; null where nothing was acknowledged. */
function keyOfAct({ asked, answered }: Act): string | null {
  if (answered.kind === 'started') return `start of ${answered.run}`;
  if (answered.kind === 'given') return `token ${answered.token.jti}`;
  if (answered.kind === 'judged' && asked.kind === 'check') return `verdict on ${asked.mark}`;
  if (answered.kind === 'decided' && asked.kind === 'decide')
    return `decision at ${asked.gate} of ${asked.run}`;
  if (asked.kind !== 'complete') return null;
  if (answered.kind === 'item') return `item ${answered.item} of ${asked.token.run}`;
  if (answered.kind === 'waits') return `gate ${answered.gate} of ${asked.token.run}`;
  return answered.kind === 'ended' ? `end of ${asked.token.run}` : null;
}

function keyOfRecord({ run, event, data }: AuditRecord): string | null {
  if (run === null) return null;
  if (event === 'run_started') return `start of ${run}`;
  if (event === 'token_issued') return `token ${data.jti}`;
  if (event === 'tool_judged') return `verdict on ${Object(data.input).path}`;
  if (event === 'gate_decided') return `decision at ${Object(data.decision).gate} of ${run}`;
  if (event === 'gate_opened') return `gate ${data.phase}#${data.instance} of ${run}`;
  if (event === 'item_completed') return `item ${data.item} of ${run}`;
  return event === 'phase_completed' && data.next === null ? `end of ${run}` : null;
}

/** What is completed is completed by a token that is good right then. */
function checkTokens(
  placed: readonly PlacedAct[],
  good: ReadonlyMap<number, readonly string[]>,
  findings: Findings,
): void {
  for (const { act, record } of placed) {
    if (act.asked.kind !== 'complete') continue;
    if (good.get(record.id)?.includes(act.asked.token.jti)) findings.fact('no transition by a dead token');
    else findings.contradiction(`no transition by a dead token: ${describe(act)} is at place ${record.id}`);
  }
}

/** What was asked for after something else was answered comes behind it, whichever nodes were asked. */
function checkOrder(placed: readonly PlacedAct[], findings: Findings): void {
  const byAnswer = placed.toSorted((one, other) => one.act.to - other.act.to);
  const byQuestion = placed.toSorted((one, other) => one.act.from - other.act.from);
  let next = 0;
  let latest: PlacedAct | undefined;
  for (const later of byQuestion) {
    for (let earlier = byAnswer[next]; earlier !== undefined && earlier.act.to < later.act.from; ) {
      if (latest === undefined || earlier.record.id > latest.record.id) latest = earlier;
      next += 1;
      earlier = byAnswer[next];
    }
    if (latest === undefined) continue;
    if (latest.record.id < later.record.id) findings.fact('what comes later is later in the audit');
    else
      findings.contradiction(
        `what comes later is later in the audit: ${describe(later.act)} is at place ${later.record.id}, and ` +
          `${describe(latest.act)}, which was answered before it was asked, at place ${latest.record.id}`,
      );
  }
}

/** Records have the time of the database, whatever the clock of their node says. */
function checkTimes(placed: readonly PlacedAct[], findings: Findings): void {
  for (const { act, record } of placed) {
    const time = Date.parse(record.time);
    if (time > act.from - SLACK_MS && time < act.to + SLACK_MS) findings.fact('time is that of the database');
    else
      findings.contradiction(
        `time is that of the database: ${describe(act)} was asked and answered from ${instant(act.from)} to ` +
          `${instant(act.to)}, and its record is of ${record.time}`,
      );
  }
}

/** Much more than answers take, and much less than clocks are wrong by. */
const SLACK_MS = 60_000;

function checkWatched(
  {
    watcher,
    told,
    all,
  }: { readonly watcher: number; readonly told: readonly number[]; readonly all: readonly number[] },
  findings: Findings,
): void {
  const seen = new Set(told);
  const missed = all.filter((place) => !seen.has(place));
  const wrong = told.findIndex((place, index) => index > 0 && place <= (told[index - 1] ?? 0));
  for (const _ of seen) findings.fact('a watcher is told everything, in order');
  if (missed.length > 0)
    findings.contradiction(
      `a watcher is told everything, in order: watcher ${watcher} was told ${told.length} of ${all.length} records, ` +
        `and missed the places ${missed.slice(0, 10).join(', ')}`,
    );
  if (wrong >= 0)
    findings.contradiction(
      `a watcher is told everything, in order: watcher ${watcher} was told place ${told[wrong]} after ${told[wrong - 1]}`,
    );
}

/** An act in words. */
export function describe({ agent, node, asked, answered, from }: Act): string {
  const what =
    asked.kind === 'check' || asked.kind === 'complete'
      ? `${asked.kind} with token ${asked.token.jti} (run ${asked.token.run}, phase ${asked.token.phase}, epoch ${asked.token.epoch})`
      : asked.kind === 'decide'
        ? `decide at ${asked.gate} of run ${asked.run}`
        : asked.kind;
  const came = answered.kind === 'given' ? `given token ${answered.token.jti}` : answered.kind;
  return `${what} of ${agent} at node ${node}, asked at ${instant(from)} and answered \`${came}\``;
}

function instant(time: number): string {
  return new Date(time).toISOString();
}
