import type { Json, Principal, Run, RunEvent } from '@phasegate/core';
import type { AuditDraft, NoteEvent } from './ports.ts';

/** One audit record per event: the chain is the run's history, not a copy of it. */
export function drafts(events: readonly RunEvent[], principal: Principal): readonly AuditDraft[] {
  return events.map((event) => {
    const { at, type, ...data } = event;
    return {
      time: at,
      principal: nameOf(principal),
      event: type,
      data: data as unknown as Json,
    };
  });
}

/** The event behind an audit record, or null for a note that changed no state. */
export function eventOf(record: {
  readonly time: string;
  readonly event: string;
  readonly data: Json;
}): RunEvent | null {
  if (Object.hasOwn(NOTES, record.event)) return null;
  return { ...(record.data as object), at: record.time, type: record.event } as RunEvent;
}

/** What the project's chain notes when a run has ended. */
export function endOf(run: Run, principal: Principal): readonly AuditDraft[] {
  if (run.status !== 'completed' && run.status !== 'stopped') return [];
  const data = { run: run.id, status: run.status };
  return [{ time: run.updatedAt, principal: nameOf(principal), event: 'run_ended', data }];
}

/** A principal in one word, as the audit names it. */
export function nameOf(principal: Principal): string {
  return `${principal.kind}:${principal.name}`;
}

/** The events of a run's chain that change no state. */
const NOTES: Readonly<Record<NoteEvent, true>> = {
  tool_judged: true,
  tool_executed: true,
  command_refused: true,
  token_issued: true,
  token_refused: true,
  run_stuck: true,
};
