import {
  MOST_KEPT_CHARACTERS,
  putBack,
  readTexts,
  type StepSums,
  sameMac,
  sealStored,
  tampered,
} from '@phasegate/audit';
import { PhasegateError, type Run, type Workflow } from '@phasegate/core';
import type { ChainHead, Seal } from '@phasegate/core/ports';
import type { Query } from './database.ts';
import { integer, isStorable, type Row, text } from './rows.ts';
import { readParts } from './textParts.ts';
import type { Workflows } from './workflows.ts';

/** A run as stored, with what its next write needs. */
export interface RunRow extends StepSums {
  readonly ref: RunRef;
  readonly run: Run;
  readonly version: number;
  readonly head: ChainHead;
  /** Of the state's text. */
  readonly digest: string;
  /** The number of its newest text. */
  readonly lastText: number;
  readonly mac: string;
  readonly stateLength: number;
  /** Whether its items stand in its steps rather than in its state. */
  readonly itemsApart: boolean;
}

/** What the rows of a run have in other tables; a new run gets its key when its first record gets its place. */
export interface RunRef {
  key: number;
  readonly era: number;
}

/** A run as its rows make it, before anybody has looked at its seal. */
export interface StoredTexts extends Omit<RunRow, 'run'> {
  /** Null where the texts make none. */
  readonly run: Omit<Run, 'workflow'> | null;
  readonly workflowHash: string;
}

/** Reads runs, and keeps those parsed that are worked on. What is kept is compared with the database each time. */
export interface RunReader {
  /**
   * Those that there are; the fault where one does not match its seal. `lock` keeps everybody else from writing them until
   * the transaction ends.
   */
  find(query: Query, ids: readonly string[], lock: boolean): Promise<ReadonlyMap<string, Found<RunRow>>>;
  /** These are committed. */
  committed(rows: Iterable<RunRow>): void;
}

/** What was read, or what is wrong with it: that is of the one who asks for it, and of nobody else. */
export type Found<T> = T | PhasegateError;

/** Makes a reader. */
export function createRunReader(
  seal: Seal,
  workflows: Workflows,
  told: (milliseconds: number) => void,
): RunReader {
  const live = createKeptRows(MOST_KEPT, MOST_KEPT_CHARACTERS);
  // Nobody works on a run that ended, and its workflow may be a whole specification that no other run has; but tokens of
  // it are shown for hours, and asked about.
  const ended = createKeptRows(MOST_ENDED, MOST_KEPT_CHARACTERS / 4);

  function keep(row: RunRow): void {
    const { id, status } = row.run;
    const isOver = status === 'completed' || status === 'stopped';
    (isOver ? live : ended).drop(id);
    (isOver ? ended : live).keep(row);
  }

  async function readWhole(
    query: Query,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, Found<RunRow>>> {
    const { rows } = await query(WHOLE, [ids]);
    const stored = await storedTexts(query, rows);
    const hashes = stored.map(({ texts }) => texts.workflowHash);
    const flows = await workflows.fetch(query, hashes);
    return new Map(
      stored.map(({ id, texts }) => [id, opened(id, texts, flows.get(texts.workflowHash))] as const),
    );
  }

  function opened(id: string, texts: StoredTexts, workflow: Workflow | undefined): Found<RunRow> {
    const { run, mac } = texts;
    if (run === null || !sameMac(mac, sealStored(seal, { runId: id, ...texts })))
      return tampered(`run \`${id}\``);
    if (workflow === undefined) return tampered(`workflow \`${run.workflowHash}\``);
    return { ...texts, run: { ...run, workflow } as Run };
  }

  return {
    async find(query, asked, lock) {
      const found = new Map<string, Found<RunRow>>();
      const ids = asked.filter(isStorable);
      if (ids.length === 0) return found;
      const { rows } = await query(lock ? HEADS_LOCKED : HEADS, [ids]);
      const unknown: string[] = [];
      for (const row of rows) {
        told(Number(row.clock));
        const known = live.get(text(row, 'id')) ?? ended.get(text(row, 'id'));
        if (known !== undefined && isSame(row, known)) found.set(known.run.id, known);
        else unknown.push(text(row, 'id'));
      }
      if (unknown.length === 0) return found;
      let read = await readWhole(query, unknown);
      // What was archived between two statements looks changed, and is gone at the second look.
      if (!lock && [...read.values()].some(isFault)) read = await readWhole(query, unknown);
      for (const [id, row] of read) {
        if (!isFault(row)) keep(row);
        found.set(id, row);
      }
      return found;
    },
    committed(rows) {
      for (const row of rows) keep(row);
    },
  };
}

/**
 * Rows that were used last, so many and so many characters of them, and always one. INVARIANT: one who has a few large runs
 * pushes out those, and not the many small ones that others work with.
 */
export function createKeptRows(most: number, mostCharacters: number) {
  const kept = new Map<string, RunRow>();
  let total = 0;
  const sizeOf = ({ stepsLength, stateLength }: RunRow) => stepsLength + stateLength;

  function drop(id: string): void {
    const row = kept.get(id);
    if (row === undefined) return;
    total -= sizeOf(row);
    kept.delete(id);
  }

  /** Of a large one no others go for more than its share, while it is used. */
  function isTooLarge(used: RunRow): boolean {
    return total - Math.max(0, sizeOf(used) - mostCharacters / LARGE_SHARE) > mostCharacters;
  }

  return {
    get: (id: string) => kept.get(id),
    drop,
    keep(row: RunRow): void {
      drop(row.run.id);
      kept.set(row.run.id, row);
      total += sizeOf(row);
      const largest = isTooLarge(row)
        ? [...kept.values()].sort((one, other) => sizeOf(other) - sizeOf(one))
        : [];
      for (const other of largest) {
        if (!isTooLarge(row)) break;
        if (other !== row) drop(other.run.id);
      }
      if (kept.size > most) drop(kept.keys().next().value as string);
    },
  };
}

/** A run of more than this share of all is a large one. */
const LARGE_SHARE = 16;

/** Whether what was read is wrong. */
export function isFault(found: unknown): found is PhasegateError {
  return found instanceof PhasegateError;
}

/** What was read; throws what is wrong with it. */
export function sound<T>(found: Found<T> | undefined): T | undefined {
  if (isFault(found)) throw found;
  return found;
}

/** The runs of these rows, from their texts. */
export async function storedTexts(
  query: Query,
  rows: readonly Row[],
): Promise<readonly { readonly id: string; readonly texts: StoredTexts }[]> {
  const parts = await readParts(
    query,
    rows.map((row) => ({
      era: integer(row, 'era'),
      run: integer(row, 'key'),
      texts: [text(row, 'state'), ...stepsOf(row)],
    })),
  );
  return rows.map((row) => ({ id: text(row, 'id'), texts: textsOf(row, parts(integer(row, 'key'))) }));
}

function textsOf(row: Row, partOf: (n: number) => string | undefined): StoredTexts {
  const workflowHash = text(row, 'workflow_hash');
  return {
    ref: { key: integer(row, 'key'), era: integer(row, 'era') },
    ...readTexts({
      named: { id: text(row, 'id'), workflowHash },
      state: text(row, 'state'),
      steps: stepsOf(row).map((step) => ({ kind: Number(step.slice(0, 1)), text: step.slice(1) })),
      whole: (stored) => putBack(stored, partOf),
    }),
    workflowHash,
    version: integer(row, 'version'),
    head: { seq: integer(row, 'seq'), hash: text(row, 'hash') },
    mac: text(row, 'mac'),
    lastText: integer(row, 'last_text'),
  };
}

function stepsOf(row: Row): readonly string[] {
  return Array.isArray(row.steps) ? (row.steps as readonly string[]) : [];
}

function isSame(row: Row, { version, head, mac }: RunRow): boolean {
  return (
    text(row, 'mac') === mac &&
    integer(row, 'version') === version &&
    integer(row, 'seq') === head.seq &&
    text(row, 'hash') === head.hash
  );
}

/** Enough for the runs a node works on at a time, at a few KB each. */
const MOST_KEPT = 2000;
const MOST_ENDED = 16;

const HEADS = `SELECT r.id, h.version, h.seq, h.hash, h.mac, extract(epoch FROM clock_timestamp()) * 1000 AS clock
  FROM runs r LEFT JOIN run_heads h ON h.run = r.key WHERE r.id = ANY($1)`;

/** In one order for everybody, so that no two wait for each other. */
const HEADS_LOCKED = `SELECT r.id, h.version, h.seq, h.hash, h.mac, extract(epoch FROM clock_timestamp()) * 1000 AS clock
  FROM run_heads h JOIN runs r ON r.key = h.run WHERE r.id = ANY($1) ORDER BY h.run FOR UPDATE OF h`;

/** A row with its head and its steps, as one statement sees them; one whose head is gone matches no seal. */
export const STORED = `r.id, r.key, r.era, r.workflow_hash, r.state, r.last_text, h.version, h.seq, h.hash, h.mac,
  ARRAY(SELECT t.kind || t.text FROM texts t WHERE t.era = r.era AND t.run = r.key AND t.kind > 0 ORDER BY t.n) AS steps`;

const WHOLE = `SELECT ${STORED} FROM runs r LEFT JOIN run_heads h ON h.run = r.key WHERE r.id = ANY($1)`;
