import type { Run } from '@phasegate/core';
import type { AuditDraft, WrittenDraft } from '@phasegate/core/ports';
import { type CutText, type Cutter, createCutter } from './cutText.ts';
import { standApart } from './itemSteps.ts';
import { stateOf } from './runHistory.ts';
import { writtenDrafts } from './writtenDrafts.ts';

/** The texts of a write, made before it joins others in a transaction. */
export interface PreparedWrite {
  readonly cutter: Cutter;
  readonly state: CutText;
  readonly written: readonly WrittenDraft[];
  /** Data of the drafts. */
  readonly drafts: readonly CutText[];
}

/** Makes the texts of a run and its records. Throws `request_invalid` where they cannot be written down. */
export function prepareWrite(run: Run, audit: readonly AuditDraft[]): PreparedWrite {
  const cutter = createCutter();
  const written = writtenDrafts(audit);
  return {
    cutter,
    state: cutter.json(stateOf(standApart(run) ? { ...run, work: { ...run.work, items: null } } : run)),
    written,
    drafts: written.map(({ data, dataText }) => cutter.canonical(data, dataText)),
  };
}
