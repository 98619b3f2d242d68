import type { Query } from './database.ts';
import { integer, text } from './rows.ts';

/** Texts of one run, whose large values stand in rows of their own. */
export interface TextsOfRun {
  readonly era: number;
  readonly run: number;
  readonly texts: readonly string[];
}

/** Reads the large values that these texts refer to; gives for each run a way to find them. */
export async function readParts(
  query: Query,
  all: readonly TextsOfRun[],
): Promise<(run: number) => (n: number) => string | undefined> {
  const wanted = new Map<string, readonly [era: number, run: number, n: number]>();
  for (const { era, run, texts } of all) {
    for (const one of texts) {
      if (!one.includes(MARK)) continue;
      for (const [, n] of one.matchAll(PLACE)) wanted.set(`${run} ${n}`, [era, run, Number(n)]);
    }
  }
  const parts = new Map<string, string>();
  if (wanted.size > 0) {
    const asked = [...wanted.values()];
    const lists = [0, 1, 2].map((index) => asked.map((one) => one[index]));
    const { rows } = await query(PARTS, lists);
    for (const row of rows) parts.set(`${integer(row, 'run')} ${integer(row, 'n')}`, text(row, 'text'));
  }
  return (run) => (n) => parts.get(`${run} ${n}`);
}

const MARK = '\u0001';
const PLACE = new RegExp(`${MARK}(\\d{1,9}):[^${MARK}]*${MARK}`, 'g');

const PARTS = `SELECT t.run, t.n, t.text FROM unnest($1::integer[], $2::bigint[], $3::integer[]) AS u(era, run, n)
  JOIN texts t ON t.era = u.era AND t.run = u.run AND t.n = u.n AND t.kind = 0`;
