import { CHANGED_ITEMS, ITEMS, NO_SUMS, type ReadRun, readTexts, type StepSums } from '@phasegate/audit';
import type { ChainHead } from '../../runtime/ports.ts';
import { hex, integer, type SqlRow, text } from './statements.ts';
import type { LinkedStep, TextTable } from './textTable.ts';

/** A run as its rows make it, before anybody has looked at its seal. */
export interface StoredTexts extends ReadRun {
  readonly key: number;
  readonly workflowHash: string;
  readonly version: number;
  readonly head: ChainHead;
  readonly mac: string;
  readonly lastStep: number | null;
  /** The step before all items, where nothing but changes of them came after; undefined where something did. */
  readonly beforeItems: number | null | undefined;
}

/** A run that nothing was added to yet. */
export const NO_HISTORY: StepSums & Pick<StoredTexts, 'lastStep' | 'beforeItems'> = {
  ...NO_SUMS,
  lastStep: null,
  beforeItems: undefined,
};

/** A run from its row and head. */
export function readStored(row: SqlRow, texts: Pick<TextTable, 'steps' | 'whole'>): StoredTexts {
  const lastStep = row.last_step === null ? null : integer(row, 'last_step');
  const workflowHash = text(row, 'workflow_hash');
  const steps = texts.steps(lastStep);
  return {
    key: integer(row, 'key'),
    ...readTexts({
      named: { id: text(row, 'id'), workflowHash },
      state: text(row, 'state'),
      steps,
      whole: texts.whole,
    }),
    workflowHash,
    version: integer(row, 'version'),
    head: { seq: integer(row, 'seq'), hash: hex(row, 'hash') },
    mac: hex(row, 'mac'),
    lastStep,
    beforeItems: beforeItemsIn(steps),
  };
}

function beforeItemsIn(steps: readonly LinkedStep[]): number | null | undefined {
  const newest = steps.findLast(({ kind }) => kind !== CHANGED_ITEMS);
  return newest?.kind === ITEMS ? newest.before : undefined;
}
