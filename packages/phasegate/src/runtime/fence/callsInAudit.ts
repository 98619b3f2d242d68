import { isJsonObject, type Json, own } from '@phasegate/core';
import { normalise, pathsOf } from '@phasegate/core/engine';
import { WRITING_TOOLS } from '@phasegate/core/model';
import type { AuditRecord, Store } from '../ports.ts';

/** A tool call that was carried out, as the audit has it. */
export interface CarriedOut {
  readonly run: string;
  /** Place in the run's chain. */
  readonly seq: number;
  readonly principal: string;
  readonly tool: string;
  /** The command line or the paths; empty where that was not kept. */
  readonly what: string;
  /** Of a tool that names what it writes: the paths, as the workspace has them. */
  readonly wrote: readonly string[];
  /** Milliseconds since the epoch. */
  readonly started: number;
  readonly ended: number;
}

const PAGE = 1000;

/** The calls of a run that ended since then, in their order. */
export async function callsSince(
  store: Pick<Store, 'history'>,
  runId: string,
  since: string,
): Promise<readonly CarriedOut[]> {
  const calls: CarriedOut[] = [];
  const judged = new Map<string, AuditRecord>();
  for (let after = 0; ; ) {
    const page = await store.history(runId, { after, limit: PAGE });
    for (const record of page) {
      if (record.event === 'tool_judged' && own(record.data, 'allowed') === true)
        judged.set(keyOf(record), record);
      if (record.event !== 'tool_executed' || record.time < since) continue;
      const call = callOf(record, judged.get(keyOf(record)));
      if (call !== null) calls.push(call);
    }
    if (page.length < PAGE) return calls;
    after = page.at(-1)?.seq ?? after;
  }
}

function keyOf({ principal, data }: AuditRecord): string {
  return `${principal} ${String(own(data, 'tool'))}`;
}

function callOf(record: AuditRecord, judged: AuditRecord | undefined): CarriedOut | null {
  const receipt = own(record.data, 'receipt');
  const tool = own(record.data, 'tool');
  if (typeof tool !== 'string' || !isJsonObject(receipt)) return null;
  const input = judged === undefined ? undefined : own(judged.data, 'input');
  const writes = isJsonObject(input) && WRITING_TOOLS.includes(tool) ? (pathsOf(input) ?? []) : [];
  return {
    run: record.run ?? '',
    seq: record.seq,
    principal: record.principal,
    tool,
    what: whatOf(input),
    wrote: writes.flatMap((path) => normalise(path) ?? []),
    started: timeOf(own(receipt, 'started_at')),
    ended: timeOf(own(receipt, 'ended_at')),
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
export function isWithin({ started, ended }: CarriedOut, at: number): boolean {
  return at >= started - COARSE_MS && at <= ended + COARSE_MS;
}
