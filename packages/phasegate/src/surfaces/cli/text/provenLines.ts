import type { RunView } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';

/** What the engine established by running something: which check of which phase, its class, and its receipt. */
export function provenLines(proven: NonNullable<RunView['proven']>): readonly string[] {
  return proven.map(({ phase, check, class: evidence, receipt, lack }) => {
    const signed = receipt === undefined ? '' : `, ${receipt}`;
    const why = lack === undefined ? '' : `; not verified: ${oneLine(lack)}`;
    return `${phase}: ${oneLine(check)} (${evidence}${signed}${why})`;
  });
}
