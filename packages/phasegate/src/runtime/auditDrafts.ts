import type { Json, JsonObject, Principal, Run, RunEvent, ToolUse, Verdict } from '@phasegate/core';
import { judgedInput, LARGEST_RECORDING, type Recording, recorded } from '@phasegate/core/engine';
import type { AuditDraft } from './ports.ts';

/** One audit record per event: the chain is the run's history, not a copy of it. The first says what it was decided from. */
export function drafts(
  events: readonly RunEvent[],
  principal: Principal,
  recording: Recording & { readonly largest?: number },
): readonly AuditDraft[] {
  return events.map((event, index) => {
    const { at, type, ...data } = event;
    const told = index === 0 ? { ...data, recorded: recorded(recording, events, recording.largest) } : data;
    return { time: at, principal: nameOf(principal), event: type, data: told as unknown as Json };
  });
}

/**
 * How large a recording of a refusal may be in a run that was saved so often. An agent that is refused for ever must
 * not fill the disk with what it submits; the first refusals tell enough.
 */
export function largestRefusal(version: number): number {
  return version <= 256 ? LARGEST_RECORDING : 4096;
}

/** What the project's chain notes when a run has ended. */
export function endOf(run: Run, principal: Principal): readonly AuditDraft[] {
  if (run.status !== 'completed' && run.status !== 'stopped') return [];
  const data = { run: run.id, status: run.status };
  return [{ time: run.updatedAt, principal: nameOf(principal), event: 'run_ended', data }];
}

/** Who asked for a verdict on a call, and how. */
export interface AskedBy {
  readonly principal: Principal;
  readonly jti?: string | undefined;
  /** What its end is recorded under, where it is carried out here. */
  readonly call?: string;
  readonly given?: Verdict | undefined;
  /** What is judged is not done here: its paths are those of the run's own folder. */
  readonly anywhere?: boolean;
}

/** Which token it was asked with, which is the start of any inquiry, and which call begins. */
export function askedWith({ jti, call }: AskedBy, { allowed }: Verdict): JsonObject {
  return { ...(jti !== undefined && { token: jti }), ...(call !== undefined && allowed && { call }) };
}

/** What is noted of a verdict on a tool call. */
export function judgedData(run: Run | null, use: ToolUse, verdict: Verdict): JsonObject {
  const asked = { tool: use.tool, input: judgedInput(use), phase: run === null ? null : run.phase };
  if (verdict.allowed) return { ...asked, allowed: true };
  const [{ code, message }] = verdict.blockers;
  // Judged all the same, and let through: anyone who reads the audit must see that it was.
  const through = run?.workflow.enforcement.mode === 'permissive' ? { let_through: true } : {};
  return { ...asked, allowed: false, code, message, ...through };
}

/** A principal in one word, as the audit names it. */
export function nameOf(principal: Principal): string {
  return `${principal.kind}:${principal.name}`;
}
