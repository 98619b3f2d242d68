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
    let dataText: string;
    let problem: string | null;
    try {
      dataText = canonicalJson(data);
      // Two keys with halves of pairs are one in this text, which then is not what its event made of the state. What an
      // agent brought has its depth from where it came in, and stands deeper in a record than it was.
      problem = dataText.includes(REPLACED) ? jsonProblem(data, Number.POSITIVE_INFINITY) : null;
    } catch (cause) {
      throw refused(jsonProblem(data) ?? 'cannot be written as JSON', cause);
    }
    if (problem !== null) throw refused(problem);
    return { time, principal, event, data, dataText };
  });
}

/** What canonical JSON has in the place of half of a pair. */
const REPLACED = '\ufffd';

function refused(problem: string, cause?: unknown): PhasegateError {
  const because = cause === undefined ? {} : { cause };
  return new PhasegateError('request_invalid', `what is to be stored ${problem}`, because);
}
