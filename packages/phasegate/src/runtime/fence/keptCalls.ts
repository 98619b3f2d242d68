import { own } from '@phasegate/core';
import type { FeedRecord } from '../ports.ts';
import {
  type AllowedCall,
  agentIn,
  callOf,
  endOf,
  keyOf,
  keysOf,
  lastsUntil,
  lookKey,
} from './allowedCall.ts';

/** When an agent took up a run or an item of it, or let it go. */
export interface Handover {
  /** ISO time. */
  readonly time: string;
  readonly took: boolean;
  /** The run itself, and not an item of it. */
  readonly ofRun: boolean;
}

/** The handovers of a run since a time. */
export interface Handovers {
  /** Of each agent of which some are known, in their order. */
  readonly ofAgents: ReadonlyMap<string, readonly Handover[]>;
  /** Whether there may have been more of an agent: then it may have held the run at any time. */
  isCut(agent: string): boolean;
}

/** What is asked of it. */
export interface AskedCalls {
  readonly run: string;
  /** Milliseconds since the epoch: calls that were over by then are left out. */
  readonly since: number;
  /** Paths that changed. */
  readonly paths: readonly string[];
}

/** The calls of the audit that can explain a change, by the paths they name. */
export interface KeptCalls {
  /** The next record of the feed. */
  take(record: FeedRecord, said: TakenRecord): void;
  /** Calls of all runs that name one of the paths, and what else was carried out for this run, in their order. */
  of(asked: AskedCalls): readonly AllowedCall[];
  /** Those of a run since a time, as ISO. */
  handovers(run: string, since: string): Handovers;
  /** How much is kept. */
  size(): Readonly<Record<'calls' | 'open' | 'handovers', number>>;
}

/** What a record is to the fence. */
export type TakenRecord = 'took' | 'took item' | 'let go' | 'let go of item' | 'executed' | 'allowed';

/** How much is kept. */
export interface KeptCallsLimits {
  /** Calls by the paths they name, of all agents together; one with many or long paths counts for several. */
  readonly calls: number;
  /** Calls of a run that name no path: they only say during what a change was made. */
  readonly ofRun: number;
  /** Calls that may still be carried out, and handovers. */
  readonly open: number;
}

const LIMITS: KeptCallsLimits = { calls: 50_000, ofRun: 1000, open: 20_000 };

interface Kept {
  readonly id: number;
  /** Under what its end is looked for. */
  readonly key: string;
  call: AllowedCall;
  isListed: boolean;
  isGone: boolean;
}

/**
 * Makes it. INVARIANT: it holds so many and not more, and what is let go excuses nothing: where others wrote more than
 * that, a change of theirs may be refused, and none is let through. The agent that has most loses its oldest calls and
 * handovers, so that no single agent pushes out what others did.
 */
export function createKeptCalls(limits: KeptCallsLimits = LIMITS): KeptCalls {
  const byPath = new Map<string, Kept[]>();
  const ofRuns = new Map<string, Kept[]>();
  const ofAgents = new Map<string, { calls: Kept[]; weight: number }>();
  const begun = new Map<string, Kept>();
  /** By run and agent. */
  const handed = new Map<string, Map<string, KeptHandovers>>();
  /** How many of each agent. */
  const counts = new Map<string, number>();
  /** When the newest of an agent's handovers was recorded that were let go with their run. */
  const lostOf = new Map<string, string>();
  let [weight, count, lostAt] = [0, 0, ''];

  function list(kept: Kept): void {
    kept.isListed = true;
    const { run, principal, wrote } = kept.call;
    for (const key of keysOf(wrote)) pushTo(byPath, key, kept);
    if (wrote.length === 0) {
      const others = pushTo(ofRuns, run, kept);
      if (others.length > 2 * limits.ofRun) letGo(others.slice(0, -limits.ofRun));
    }
    const agent = ofAgents.get(principal) ?? { calls: [], weight: 0 };
    agent.calls.push(kept);
    agent.weight += weightOf(kept);
    ofAgents.set(principal, agent);
    weight += weightOf(kept);
    while (weight > limits.calls) letGo(oldestOfMost());
  }

  function oldestOfMost(): readonly Kept[] {
    const all = [...ofAgents.values()];
    const { calls } = all.reduce((most, agent) => (agent.weight > most.weight ? agent : most));
    return calls.slice(0, Math.ceil(calls.length / 4));
  }

  function letGo(calls: readonly Kept[]): void {
    const lost = calls.filter(({ isGone }) => !isGone);
    for (const kept of lost) {
      kept.isGone = true;
      // Nor is its end waited for: all that it names would be held until then.
      if (begun.get(kept.key) === kept) begun.delete(kept.key);
    }
    const stays = ({ isGone }: Kept) => !isGone;
    const listed = lost.filter(({ isListed }) => isListed);
    for (const name of new Set(listed.map(({ call }) => call.principal))) {
      const left = ofAgents.get(name)?.calls.filter(stays) ?? [];
      if (left.length === 0) ofAgents.delete(name);
      else ofAgents.set(name, { calls: left, weight: left.reduce((sum, kept) => sum + weightOf(kept), 0) });
    }
    weight -= listed.reduce((sum, kept) => sum + weightOf(kept), 0);
    const keys = new Set(listed.flatMap(({ call }) => keysOf(call.wrote)));
    for (const key of keys) keepOf(byPath, key, stays);
    for (const run of new Set(listed.map(({ call }) => call.run))) keepOf(ofRuns, run, stays);
  }

  function takeAllowed(record: FeedRecord): void {
    const call = callOf(record);
    if (call === null) return;
    const key = keyOf(record);
    const kept = { id: record.id, key, call, isListed: false, isGone: false };
    begun.delete(key);
    begun.set(key, kept);
    if (call.wrote.length > 0) list(kept);
    if (begun.size > limits.open) letGoOpen();
  }

  /** Their ends would not be found, and a call without an end excuses more. */
  function letGoOpen(): void {
    const ofEach = Map.groupBy(begun, ([, { call }]) => call.principal);
    const most = [...ofEach.values()].reduce((one, other) => (other.length > one.length ? other : one));
    letGo(most.slice(0, Math.ceil(most.length / 4)).map(([, kept]) => kept));
  }

  function takeHandover({ run, time, data, principal }: FeedRecord, one: Omit<Handover, 'time'>): void {
    const said = own(data, 'holder');
    const holder = typeof said === 'string' ? said : agentIn(principal);
    if (run === null || holder === null) return;
    const ofRun = handed.get(run) ?? new Map<string, KeptHandovers>();
    const before = ofRun.get(holder) ?? { handovers: [], lostAt: '' };
    const all = [...before.handovers, { time, ...one }];
    const [lost, ...rest] = all;
    // An agent that hands over without end loses its own, and is taken to have held the run all the time.
    const isFull = all.length > MOST_OF_AGENT;
    ofRun.set(holder, isFull ? { handovers: rest, lostAt: lost?.time ?? '' } : { ...before, handovers: all });
    handed.delete(run);
    handed.set(run, ofRun);
    if (!isFull) countUp(holder, 1);
    if (count > limits.open) letGoHandovers();
  }

  function countUp(agent: string, by: number): void {
    count += by;
    const left = (counts.get(agent) ?? 0) + by;
    if (left === 0) counts.delete(agent);
    else counts.set(agent, left);
  }

  /** The older half of the agent that has most, run by run. */
  function letGoHandovers(): void {
    const [agent, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
    const stays = most / 2;
    for (const [run, ofRun] of handed) {
      if ((counts.get(agent) ?? 0) <= stays) break;
      const known = ofRun.get(agent);
      if (known === undefined) continue;
      ofRun.delete(agent);
      if (ofRun.size === 0) handed.delete(run);
      countUp(agent, -known.handovers.length);
      const newest = known.handovers.at(-1)?.time ?? known.lostAt;
      if (newest > (lostOf.get(agent) ?? '')) lostOf.set(agent, newest);
    }
    if (lostOf.size > limits.open) forgetWhoLost();
  }

  /** From then on any agent may have held any run. */
  function forgetWhoLost(): void {
    for (const time of lostOf.values()) if (time > lostAt) lostAt = time;
    lostOf.clear();
  }

  return {
    take(record, said) {
      const handover = HANDOVERS[said];
      if (handover !== undefined) return takeHandover(record, handover);
      if (said === 'allowed') return takeAllowed(record);
      const kept = begun.get(keyOf(record));
      if (kept === undefined) return;
      kept.call = { ...kept.call, ended: endOf(record), carriedOut: true };
      begun.delete(kept.key);
      if (!kept.isListed) list(kept);
    },
    of({ run, since, paths }) {
      const found = new Set(paths.flatMap((path) => byPath.get(lookKey(path)) ?? []));
      for (const kept of ofRuns.get(run) ?? []) found.add(kept);
      const inOrder = [...found].sort((one, other) => one.id - other.id);
      return inOrder.flatMap(({ call }) => (lastsUntil(call) >= since ? [call] : []));
    },
    handovers(run, since) {
      const ofRun = handed.get(run);
      const ofAgents = new Map<string, readonly Handover[]>();
      for (const [name, { handovers }] of ofRun ?? []) {
        const known = handovers.filter(({ time }) => time >= since);
        if (known.length > 0) ofAgents.set(name, known);
      }
      const isCut = (name: string) =>
        [lostAt, lostOf.get(name), ofRun?.get(name)?.lostAt].some(
          (lost) => lost !== undefined && lost >= since,
        );
      return { ofAgents, isCut };
    },
    size: () => ({ calls: weight, open: begun.size, handovers: count }),
  };
}

function weightOf({ call: { wrote } }: Kept): number {
  const texts = wrote.reduce((sum, { length }) => sum + Math.ceil(length / LONG), 0);
  return Math.max(1, texts);
}

const HANDOVERS: Partial<Record<TakenRecord, Omit<Handover, 'time'>>> = {
  took: { took: true, ofRun: true },
  'took item': { took: true, ofRun: false },
  'let go': { took: false, ofRun: true },
  'let go of item': { took: false, ofRun: false },
};

interface KeptHandovers {
  readonly handovers: readonly Handover[];
  /** When the newest was recorded that is not kept; empty where all are. */
  readonly lostAt: string;
}

/** Of one run. */
const MOST_OF_AGENT = 20;

/** Of so many letters a text counts as one more call. */
const LONG = 200;

function pushTo(lists: Map<string, Kept[]>, key: string, kept: Kept): readonly Kept[] {
  const list = lists.get(key) ?? [];
  list.push(kept);
  lists.set(key, list);
  return list;
}

function keepOf(lists: Map<string, Kept[]>, key: string, stays: (kept: Kept) => boolean): void {
  const left = lists.get(key)?.filter(stays) ?? [];
  if (left.length === 0) lists.delete(key);
  else lists.set(key, left);
}
