// Prints every trick of the adversary, the ring it is held in and the tests that prove it: `npm run adversary [-- --json]`.
import { EVIDENCE_ROWS } from '../adversary/evidenceRows.ts';
import { FENCE_ROWS } from '../adversary/fenceRows.ts';
import { GUARDED_ROUTES, GUARDED_SAMPLES } from '../adversary/guardedRoutes.ts';
import { ISOLATED_ROWS } from '../adversary/isolatedRows.ts';
import { SANDBOX_ROWS } from '../adversary/sandboxRows.ts';
import { type Citation, type Requirement, readCitations, readLedger, unknownCitations } from './ledger.ts';

/** One trick, and how it stands. */
interface Row {
  readonly id: string;
  readonly state: 'proven' | 'open';
  /** The weakest ring in which it holds, or has to once it is proven. */
  readonly ring: Requirement['ring'];
  readonly text: string;
  readonly tests: readonly Pick<Citation, 'file' | 'line' | 'title' | 'tier'>[];
}

const GROUPS: Readonly<Record<string, string>> = {
  A: 'the same effect through another tool',
  B: 'shell parsing',
  C: 'paths',
  D: 'subagents, background work, MCP',
  E: 'a hook that fails open',
  F: 'enforcement that was never loaded',
  G: 'the agent edits its guard',
  H: 'the control plane',
  I: 'evidence',
  J: 'the human gate',
  K: 'time, concurrency, context',
  L: 'false denials and endless loops',
  M: 'audit and operations',
  N: 'whose value it is',
  O: 'one bad agent, and everybody stands still',
  P: "the human's side",
  Q: 'code before trust',
};

const TRIED = FENCE_ROWS.filter(({ found }) => found !== null);
const citations = readCitations(process.cwd());
const unknown = unknownCitations(readLedger(), citations);
const rows: readonly Row[] = readLedger()
  .filter(({ design }) => design === 'adv')
  .map(({ id, ring, text }) => {
    const tests = citations
      .filter((citation) => citation.id === id)
      .map(({ file, line, title, tier }) => ({ file, line, title, tier }));
    return { id, state: tests.length > 0 ? 'proven' : 'open', ring, text, tests };
  });

if (process.argv.includes('--json'))
  console.log(
    JSON.stringify(
      {
        rows,
        fence: TRIED,
        guarded: GUARDED_ROUTES,
        sandbox: SANDBOX_ROWS,
        isolated: ISOLATED_ROWS,
        evidence: EVIDENCE_ROWS.map(({ name, ring, inRoom = false, proves, code }) => ({
          name,
          ring,
          in_room: inRoom,
          proves,
          code,
        })),
        unknown,
      },
      null,
      2,
    ),
  );
else print();
for (const { id, file, line } of unknown)
  console.error(`${file}:${line}: cites \`${id}\`, which does not exist`);
// A row that is still open is work to do; a citation of nothing is a mistake.
if (unknown.length > 0) process.exitCode = 1;

/** Whatever the sandbox refuses is detected by the fence in every ring, at the latest when the phase is completed. */
function printRow(refusedIn: string, trick: string): void {
  console.log(`  detected in served, refused in ${refusedIn.padEnd(11)}${trick}`);
}

function print(): void {
  let group = '';
  for (const { id, state, ring, text, tests } of rows) {
    const letter = id.slice(4, 5);
    if (letter !== group) console.log(`\n${letter}. ${GROUPS[letter] ?? ''}`);
    group = letter;
    console.log(`  ${id.slice(4).padEnd(5)}${state.padEnd(8)}${(ring ?? '').padEnd(11)}${text}`);
    for (const { file, line, tier } of tests) {
      console.log(`${' '.repeat(26)}${file}:${line}${tier === 'full' ? ' (full tier)' : ''}`);
    }
  }
  const proven = rows.filter(({ state }) => state === 'proven').length;
  console.log(`\n${rows.length} tricks: ${proven} proven, ${rows.length - proven} open`);
  console.log('\nTried for real past Phasegate (test/adversary/fence.test.ts):');
  for (const { name, inScope } of TRIED) printRow(inScope ? 'no ring' : 'sandboxed', name);
  console.log('\nEvery guarded file by every route (test/adversary/guardedRoutes.test.ts):');
  for (const { name, refusedIn, except } of GUARDED_ROUTES) {
    const count = GUARDED_SAMPLES.filter(({ path }) => except?.test(path) !== true).length;
    printRow(refusedIn, `${count} files and imports, changed by ${name}`);
  }
  console.log('\nTried for real by programs in a sandbox (test/adversary/sandbox.test.ts):');
  for (const { trick, refusedIn } of SANDBOX_ROWS) printRow(refusedIn, trick);
  console.log(
    '\nTried for real by an agent that is another user than the engine (test/adversary/isolated.test.ts):',
  );
  for (const { trick } of ISOLATED_ROWS) console.log(`  refused in isolated  ${trick}`);
  console.log('\nEvidence that is not there (test/adversary/evidence.test.ts):');
  for (const { name, ring, inRoom } of EVIDENCE_ROWS)
    console.log(`  refused in ${ring}${inRoom === true ? ', where the engine has a room' : ''}: ${name}`);
  console.log(
    `\n${TRIED.length + GUARDED_ROUTES.length} routes detected, ${SANDBOX_ROWS.length + ISOLATED_ROWS.length} refused by the operating system`,
  );
  console.log('The ring is the weakest one in which a trick fails, or has to once it is proven.');
}
