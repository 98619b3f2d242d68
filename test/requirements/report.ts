// Prints how much of each design is proven by tests, and what is not: `npm run requirements [-- --json]`.
import { DESIGNS, type Design, readCitations, readLedger, tiersOf, unknownCitations } from './ledger.ts';

/** What stands proven in one design, and what does not. */
interface DesignReport {
  readonly design: Design;
  readonly proven: number;
  readonly total: number;
  readonly open: readonly string[];
  /** Proven by tests of the full tier alone. */
  readonly full: readonly string[];
}

const NAMES: Readonly<Record<Design, string>> = {
  S0: 'phase gating',
  S1: 'dynamic workflows',
  S2: 'enforcement by contract',
  S3: 'code-defined workflows',
  S4: 'steps and outcomes',
  C: 'decisions',
  adv: 'the adversary',
  fail: 'mistakes of others',
};

const ledger = readLedger();
const citations = readCitations(process.cwd());
const unknown = unknownCitations(ledger, citations);
const tiers = tiersOf(citations);
const reports: readonly DesignReport[] = DESIGNS.map((design) => {
  const all = ledger.filter((requirement) => requirement.design === design);
  const [open = [], full = []] = [undefined, 'full'].map((tier) =>
    all.filter(({ id }) => tiers.get(id) === tier).map(({ id }) => id),
  );
  return { design, proven: all.length - open.length, total: all.length, open, full };
});

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ designs: reports, unknown }, null, 2));
} else {
  for (const report of reports) {
    const share = `${report.proven}/${report.total}`;
    console.log(`${report.design.padEnd(5)}${share.padStart(8)}  ${NAMES[report.design]}`);
    for (const line of wrapped(report.open)) console.log(`      ${line}`);
    for (const line of wrapped(report.full)) console.log(`      in the full tier alone: ${line}`);
  }
}
for (const { id, file, line } of unknown)
  console.error(`${file}:${line}: cites \`${id}\`, which does not exist`);
if (unknown.length > 0) process.exitCode = 1;

/** Ids without their common beginning, runs of neighbours as ranges, in lines of readable length. */
function wrapped(ids: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const range of ranges(ids)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + range.length > 96) lines.push(range);
    else lines[lines.length - 1] = `${last} ${range}`;
  }
  return lines;
}

function ranges(ids: readonly string[]): readonly string[] {
  const found: { readonly stem: string; readonly first: number; last: number }[] = [];
  for (const id of ids) {
    const [, stem = '', digits = ''] = /^(.*?)(\d+)$/.exec(id) ?? [];
    const number = Number(digits);
    const newest = found.at(-1);
    if (newest !== undefined && newest.stem === stem && newest.last === number - 1) newest.last = number;
    else found.push({ stem, first: number, last: number });
  }
  return found.map(({ stem, first, last }) => `${stem}${first}${last > first ? `-${last}` : ''}`);
}
