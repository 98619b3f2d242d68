import { canonicalJson, PhasegateError } from '@phasegate/core';
import { jsonProblem } from '@phasegate/core/model';
import type { AuditDraft, WrittenDraft } from '@phasegate/core/ports';

/**
 * Drafts with their texts. Made before a write joins others in a transaction: what cannot be written down is refused
 * here, to the one who brought it. Throws `request_invalid`.
 */
export function writtenDrafts(drafts: readonly AuditDraft[]): readonly WrittenDraft[] {
  return drafts.map((draft) => {
    const { time, principal, event, data } = draft;
    try {
      return { time, principal, event, data, dataText: canonicalJson(data) };
    } catch (cause) {
      const problem = jsonProblem(data) ?? 'cannot be written as JSON';
      throw new PhasegateError('request_invalid', `what is to be stored ${problem}`, { cause });
    }
  });
}
