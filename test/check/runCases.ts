/** A script: `node runCases.ts FIRST-SEED CASES MOST-STATES` tries more cases than the test does. */
import { noTally, tryCase } from './cases.ts';

const [first = 1, cases = 1000, maxStates = 3000] = process.argv.slice(2).map(Number);
const tally = noTally();
for (let seed = first; seed < first + cases; seed++) tryCase(seed, tally, maxStates);
process.stdout.write(`${JSON.stringify(tally, null, 1)}\n`);
