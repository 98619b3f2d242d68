import { isJsonObject, type Json, own } from '@phasegate/core';
import { normalise, pathsOf } from '@phasegate/core/engine';
import { WRITING_TOOLS } from '@phasegate/core/model';
import type { AuditRecord, Store } from '../ports.ts';

/** A tool call that was allowed, as the audit has it. */
export interface AllowedCall {
  readonly run: string;
  /** Place of the verdict in the run's chain. */
  readonly seq: number;
  readonly principal: string;
  readonly tool: string;
  /** The command line or the paths; empty where that was not kept. */
  readonly what: string;
  /** Of a tool that names what it writes: the paths, as the workspace has them. */
  readonly wrote: readonly string[];
  /** Milliseconds since the epoch. */
  readonly started: number;
  /** When it was over; infinite for one that is under way, or that the agent's client carries out itself. */
  readonly ended: number;
  /** Whether Phasegate carried it out. */
  readonly carriedOut: boolean;
}

const PAGE = 1000;

/** A call that Phasegate does not carry out has no end on record, and does not last longer than this. */
const LONGEST_MS = 600_000;

/** What the audit has of calls and claims since a time, of all runs. */
export interface CallsSince {
  /** The allowed calls that may have gone on since then, in their order. */
  readonly calls: readonly AllowedCall[];
  readonly claims: readonly AuditRecord[];
}

/**
 * Reads it. INVARIANT: it costs what was recorded since then, and not what is stored: a phase is compared whenever an
 * agent says that it is done.
 */
export async function callsSince(store: Pick<Store, 'feedSince'>, since: string): Promise<CallsSince> {
  const calls: AllowedCall[] = [];
  const claims: AuditRecord[] = [];
  const begun = new Map<string, number>();
  const from = new Date(Date.parse(since) - LONGEST_MS - COARSE_MS).toISOString();
  for (let after: number | undefined; ; ) {
    const page = await store.feedSince({
      events: ['tool_judged', 'tool_executed', 'run_claimed'],
      since: from,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    for (const record of page) {
      if (record.event === 'run_claimed') claims.push(record);
      if (record.event === 'tool_judged' && own(record.data, 'allowed') === true) {
        begun.set(keyOf(record), calls.push(callOf(record)) - 1);
      }
      const place = record.event === 'tool_executed' ? begun.get(keyOf(record)) : undefined;
      if (place === undefined) continue;
      const ended = timeOf(own(own(record.data, 'receipt') ?? null, 'ended_at'));
      calls[place] = { ...(calls[place] as AllowedCall), ended, carriedOut: true };
    }
    if (page.length < PAGE) {
      return {
        calls: calls.filter((call) => lastsUntil(call) >= Date.parse(since) - COARSE_MS),
        claims: claims.filter(({ time }) => time > since),
      };
    }
    after = page.at(-1)?.id ?? after;
  }
}

function lastsUntil({ started, ended }: AllowedCall): number {
  return Math.min(ended, started + LONGEST_MS);
}

function keyOf({ run, principal, data }: AuditRecord): string {
  return `${run} ${principal} ${String(own(data, 'tool'))}`;
}

function callOf(judged: AuditRecord): AllowedCall {
  const tool = String(own(judged.data, 'tool'));
  const input = own(judged.data, 'input');
  const writes = isJsonObject(input) && WRITING_TOOLS.includes(tool) ? (pathsOf(input) ?? []) : [];
  return {
    run: judged.run ?? '',
    seq: judged.seq,
    principal: judged.principal,
    tool,
    what: whatOf(input),
    wrote: writes.flatMap((path) => normalise(path) ?? []),
    started: Date.parse(judged.time),
    ended: Number.POSITIVE_INFINITY,
    carriedOut: false,
  };
}

function whatOf(input: Json | undefined): string {
  const command = own(input ?? null, 'command');
  if (typeof command === 'string') return command.length > 60 ? `${command.slice(0, 60)}…` : command;
  return isJsonObject(input) ? (pathsOf(input) ?? []).slice(0, 3).join(', ') : '';
}

function timeOf(text: Json | undefined): number {
  return typeof text === 'string' ? Date.parse(text) : Number.NaN;
}

/** The clock that dates files goes in steps. */
const COARSE_MS = 50;

/** Whether something that changed then may have changed in the time of a call. */
export function isWithin({ started, ended }: AllowedCall, at: number): boolean {
  return at >= started - COARSE_MS && at <= ended + COARSE_MS;
}
