import { NO_STEPS, type ReadRun, readTexts } from '@phasegate/audit';
import type { ChainHead } from '../../runtime/ports.ts';
import { hex, integer, type SqlRow, text } from './statements.ts';
import type { TextTable } from './textTable.ts';

/** A run as its rows make it, before anybody has looked at its seal. */
export interface StoredTexts extends ReadRun {
  readonly key: number;
  readonly workflowHash: string;
  readonly version: number;
  readonly head: ChainHead;
  readonly mac: string;
  readonly lastStep: number | null;
}

/** A run that nothing was added to yet. */
export const NO_HISTORY: Pick<StoredTexts, 'steps' | 'lastStep' | 'places' | 'stepsLength'> = {
  steps: NO_STEPS,
  lastStep: null,
  places: new Map(),
  stepsLength: 0,
};

/** A run from its row and head. */
export function readStored(row: SqlRow, texts: Pick<TextTable, 'steps' | 'whole'>): StoredTexts {
  const lastStep = row.last_step === null ? null : integer(row, 'last_step');
  const workflowHash = text(row, 'workflow_hash');
  return {
    key: integer(row, 'key'),
    ...readTexts({
      named: { id: text(row, 'id'), workflowHash },
      state: text(row, 'state'),
      steps: texts.steps(lastStep),
      whole: texts.whole,
    }),
    workflowHash,
    version: integer(row, 'version'),
    head: { seq: integer(row, 'seq'), hash: hex(row, 'hash') },
    mac: hex(row, 'mac'),
    lastStep,
  };
}
