import { createHash } from 'node:crypto';
import { streamRegular } from '../files/streamRegular.ts';

/** SHA-256 of a file's bytes. The file must not be open in this process either. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of streamRegular(file)) hash.update(chunk);
  return hash.digest('hex');
}

/** A hash of what a database holds. The file must not be open in this process: closing it would drop its locks. */
export async function fingerprintFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  let first = true;
  for await (const chunk of streamRegular(file)) {
    hash.update(first ? withoutCounters(chunk) : chunk);
    first = false;
  }
  return hash.digest('hex');
}

/** The same of a database in memory. */
export function fingerprintBytes(bytes: Uint8Array): string {
  const head = withoutCounters(bytes.subarray(0, HEADER_BYTES));
  return createHash('sha256').update(head).update(bytes.subarray(HEADER_BYTES)).digest('hex');
}

const HEADER_BYTES = 100;

/** What SQLite counts up or notes for itself whenever pages are written, whatever is in them. */
const COUNTERS: readonly (readonly [from: number, to: number])[] = [
  [18, 20], // journal mode
  [24, 28], // changes
  [40, 44], // changes of the schema
  [92, 100], // who wrote last, and when by that count
];

function withoutCounters(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (const [from, to] of COUNTERS) copy.fill(0, from, to);
  return copy;
}
