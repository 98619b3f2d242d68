/** A script: `node runOwnership.ts URL-OF-CORE FIRST-SEED CASES` prints what was tried and the first thing that made a difference. */
import { loadParts } from './engineParts.ts';
import { tryOwnership } from './tryOwnership.ts';

const [core = '', first = '1', cases = '1000'] = process.argv.slice(2);
const parts = await loadParts(core);
const counts: Record<string, number> = {};
const count = (name: string) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
let held = 0;
let found: string | null = null;
for (let seed = Number(first); held < Number(cases) && found === null; seed++) {
  const tried = tryOwnership(parts, seed, count);
  if (tried === null) held++;
  found = tried ?? null;
}
process.stdout.write(JSON.stringify({ held, found, counts }));
