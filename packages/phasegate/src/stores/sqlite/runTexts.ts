import {
  COMPLETION,
  DECISION,
  digestOf,
  NO_STEPS,
  nextDigest,
  wholeLength,
  withPlacesOf,
} from '@phasegate/audit';
import type { Run } from '@phasegate/core';
import type { ChainHead } from '../../runtime/ports.ts';
import { hex, integer, type SqlRow, text } from './statements.ts';
import type { TextTable } from './textTable.ts';

/** A run as its rows make it, before anybody has looked at its seal. */
export interface StoredTexts {
  readonly key: number;
  /** Null where the texts make none. */
  readonly run: Omit<Run, 'workflow'> | null;
  readonly workflowHash: string;
  readonly version: number;
  readonly head: ChainHead;
  readonly mac: string;
  readonly digest: string;
  readonly steps: string;
  readonly lastStep: number | null;
  readonly places: ReadonlyMap<string, string>;
  /** Characters of all that was ever added to the run, and of its state. */
  readonly stepsLength: number;
  readonly stateLength: number;
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
  const state = text(row, 'state');
  const lastStep = row.last_step === null ? null : integer(row, 'last_step');
  let digest = NO_STEPS;
  let places = NO_HISTORY.places;
  let stepsLength = 0;
  const history = { [COMPLETION]: [] as (string | null)[], [DECISION]: [] as (string | null)[] };
  for (const step of texts.steps(lastStep)) {
    digest = nextDigest(digest, step);
    places = withPlacesOf(places, step.text);
    stepsLength += wholeLength(step.text);
    if (step.kind === COMPLETION || step.kind === DECISION) history[step.kind].push(texts.whole(step.text));
  }
  return {
    key: integer(row, 'key'),
    run: runOf(row, texts.whole(state), { completions: history[COMPLETION], decisions: history[DECISION] }),
    workflowHash: text(row, 'workflow_hash'),
    version: integer(row, 'version'),
    head: { seq: integer(row, 'seq'), hash: hex(row, 'hash') },
    mac: hex(row, 'mac'),
    digest: digestOf(state),
    steps: digest,
    lastStep,
    places: withPlacesOf(places, state),
    stepsLength,
    stateLength: wholeLength(state),
  };
}

function runOf(
  row: SqlRow,
  state: string | null,
  history: Readonly<Record<'completions' | 'decisions', readonly (string | null)[]>>,
): StoredTexts['run'] {
  // Where a part is missing, this is not JSON, and so not a run.
  const list = (texts: readonly (string | null)[]) =>
    JSON.parse(`[${texts.map((one) => one ?? '!').join(',')}]`);
  try {
    if (state === null) return null;
    return {
      id: text(row, 'id'),
      workflowHash: text(row, 'workflow_hash'),
      ...(JSON.parse(state) as object),
      completions: list(history.completions),
      decisions: list(history.decisions),
    } as Omit<Run, 'workflow'>;
  } catch {
    return null;
  }
}
