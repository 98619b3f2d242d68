import { isJsonObject, type Json, own } from '@phasegate/core';
import { normalise, pathsOf } from '@phasegate/core/engine';
import { READING_TOOLS, WRITING_TOOLS } from '@phasegate/core/model';
import type { AuditRecord } from '../ports.ts';

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

/** The call of a verdict; null for a tool that only looks, as that changes nothing. */
export function callOf(judged: AuditRecord): AllowedCall | null {
  const tool = String(own(judged.data, 'tool'));
  if (READING_TOOLS.includes(tool)) return null;
  const input = own(judged.data, 'input');
  const writes = isJsonObject(input) && WRITING_TOOLS.includes(tool) ? (pathsOf(input) ?? []) : [];
  return {
    run: judged.run ?? '',
    seq: judged.seq,
    principal: judged.principal,
    tool,
    what: whatOf(input),
    wrote: [...new Set(writes.flatMap((path) => normalise(path) ?? []))],
    started: Date.parse(judged.time),
    ended: Number.POSITIVE_INFINITY,
    carriedOut: false,
  };
}

/** When a call was over, from the record of how it was carried out. */
export function endOf(executed: AuditRecord): number {
  const ended = own(own(executed.data, 'receipt') ?? null, 'ended_at');
  return typeof ended === 'string' ? Date.parse(ended) : Number.NaN;
}

/** What a verdict and its execution have in common. Until 0.2 records had no name of their call: the newest counts. */
export function keyOf({ run, principal, data }: AuditRecord): string {
  const call = own(data, 'call');
  return typeof call === 'string' ? call : `${run} ${principal} ${String(own(data, 'tool'))}`;
}

/** The name of an agent; null for another principal. */
export function agentIn(principal: string): string | null {
  return principal.startsWith('agent:') ? principal.slice('agent:'.length) : null;
}

/** The command line or the paths, in short. */
function whatOf(input: Json | undefined): string {
  const command = own(input ?? null, 'command');
  if (typeof command === 'string') return beginning(command, 60);
  return isJsonObject(input) ? beginning((pathsOf(input) ?? []).slice(0, 3).join(', '), 180) : '';
}

/** Copied where it is cut, as a part of a text keeps all of it in memory. */
function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  return Buffer.from(`${text.slice(0, most)}…`, 'utf16le').toString('utf16le');
}

/** The clock that dates files goes in steps. */
export const COARSE_MS = 50;

/** A call that Phasegate does not carry out has no end on record, and does not last longer than this. */
export const LONGEST_MS = 600_000;

/** Until when a call may have gone on; one whose end is not known by itself, not longer than any. */
export function lastsUntil({ started, ended, carriedOut }: AllowedCall): number {
  return carriedOut ? ended : started + LONGEST_MS;
}

/** Whether something that changed then may have changed in the time of a call. */
export function isWithin(call: AllowedCall, at: number): boolean {
  return at >= call.started - COARSE_MS && at <= lastsUntil(call) + COARSE_MS;
}

/** What our own tools write to before they put it in its place. */
export const DRAFT = /(?:^|\/)\.phasegate-[0-9a-f]{16}\.tmp$/;

/** Under what the paths that a call wrote are found: by themselves, and by their folders for what lies beside them. */
export function keysOf(wrote: readonly string[]): readonly string[] {
  return [...new Set(wrote.flatMap((path) => [path, folderKey(path)]))];
}

/** Under what calls that may have made a change are found. */
export function lookKey(path: string): string {
  return DRAFT.test(path) ? folderKey(path) : path;
}

/** No path of a workspace ends in `/`. */
function folderKey(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1).concat('/');
}
