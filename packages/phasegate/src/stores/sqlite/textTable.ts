import type { DatabaseSync } from 'node:sqlite';
import { type Part, placeOf, putBack, type SeenParts, type StepKind, type StepText } from '@phasegate/audit';
import { integer, lazily, text } from './statements.ts';

/** A step with the number of the one before it. */
export interface LinkedStep extends StepText {
  readonly before: number | null;
}

/** What is written once and never changed: large values, and the steps of runs. New rows stand at the end, together. */
export interface TextTable {
  /** Writes a step of a run after the one before it; gives its number. */
  add(
    step: { readonly run: number; readonly kind: StepKind; readonly before: number | null },
    text: string,
  ): number;
  /** Places for the large values of one write of a run; those in `known` are stored already. */
  placing(run: number, known: ReadonlyMap<string, string>): (part: Part) => string;
  /** The steps that end with this one, oldest first. */
  steps(last: number | null): readonly LinkedStep[];
  /** The whole of a stored text, or null where a part of it is missing or was changed. */
  whole(stored: string): string | null;
}

const VALUE = 0;

/** Opens the table; `seen` is for who reads within one transaction, where nothing changes. */
export function openTextTable(database: DatabaseSync, seen?: SeenParts): TextTable {
  const insert = lazily(database, 'INSERT INTO texts (run, kind, before, text) VALUES (?, ?, ?, ?)');
  const read = lazily(database, 'SELECT text FROM texts WHERE id = ?');
  const readSteps = lazily(database, STEPS);

  function write(run: number, kind: number, before: number | null, stored: string): number {
    return Number(insert().run(run, kind, before, stored).lastInsertRowid);
  }

  function partOf(id: number): string | undefined {
    const row = read().get(id);
    return row && text(row, 'text');
  }

  return {
    add: ({ run, kind, before }, stored) => write(run, kind, before, stored),
    placing(run, known) {
      const placed = new Map<string, string>();
      return (part) => {
        const found = placed.get(part.digest) ?? known.get(part.digest);
        if (found !== undefined) return found;
        const place = placeOf(write(run, VALUE, null, part.text), part);
        placed.set(part.digest, place);
        return place;
      };
    },
    steps(last) {
      if (last === null) return [];
      const found = readSteps().all(last);
      const linked = found.map((row) => ({
        kind: integer(row, 'kind'),
        text: text(row, 'text'),
        before: row.before === null ? null : integer(row, 'before'),
      }));
      return linked.reverse();
    },
    whole: (stored) => putBack(stored, partOf, seen),
  };
}

// A step comes after the one before it, so that no change of the rows can lead around in a circle.
const STEPS = `
  WITH RECURSIVE steps(id, before, kind, text) AS (
    SELECT id, before, kind, text FROM texts WHERE id = ?
    UNION ALL
    SELECT earlier.id, earlier.before, earlier.kind, earlier.text
    FROM steps JOIN texts AS earlier ON earlier.id = steps.before AND earlier.id < steps.id
  )
  SELECT before, kind, text FROM steps`;
