import { isJsonObject, type JsonObject } from '@phasegate/core';
import type { AuditDraft, ProjectEvent } from '@phasegate/core/ports';

/**
 * Adds to the drafts of one kind of project event what the audit is later checked against. The store writes
 * these facts itself: a run's head is not known before its records have their place.
 */
export function withFacts(
  drafts: readonly AuditDraft[],
  events: readonly ProjectEvent[],
  facts: JsonObject,
): readonly AuditDraft[] {
  const noted: readonly string[] = events;
  return drafts.map((draft) =>
    noted.includes(draft.event) ? { ...draft, data: { ...asObject(draft.data), ...facts } } : draft,
  );
}

function asObject(data: AuditDraft['data']): JsonObject {
  if (isJsonObject(data)) return data;
  return data === null ? {} : { data };
}
