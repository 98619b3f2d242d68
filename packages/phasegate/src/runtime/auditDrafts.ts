import type { Json, Principal, Run, RunEvent } from '@phasegate/core';
import type { AuditDraft } from './ports.ts';

/** One audit record per event: the chain is the run's history, not a copy of it. */
export function drafts(events: readonly RunEvent[], principal: Principal): readonly AuditDraft[] {
  return events.map((event) => {
    const { at, type, ...data } = event;
    return {
      time: at,
      principal: `${principal.kind}:${principal.name}`,
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
  if (record.event === 'tool_judged' || record.event === 'command_refused') return null;
  return { ...(record.data as object), at: record.time, type: record.event } as RunEvent;
}

/** What the project's chain notes when a run has ended. */
export function endOf(run: Run, principal: Principal): readonly AuditDraft[] {
  if (run.status !== 'completed' && run.status !== 'stopped') return [];
  const data = { run: run.id, status: run.status };
  return [
    { time: run.updatedAt, principal: `${principal.kind}:${principal.name}`, event: 'run_ended', data },
  ];
}
