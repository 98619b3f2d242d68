import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckInput, FreeProgram } from '../../runtime/ports.ts';
import { readBeneath } from '../../workspace/readBeneath.ts';
import { type Order, type Outcome, runOrder } from '../runOrder.ts';

/** What came of a run, and the report it made. */
export interface Reported {
  readonly outcome: Outcome;
  /** Standard output, or the file that it was told to write; null where it wrote none. */
  readonly report: Buffer | null;
  /** Whether it is standard output, which a process that was left behind could write to as well. */
  readonly isPrinted: boolean;
}

/**
 * Runs tests. `{report}` in a word is a file in a folder that was made for this run and that nobody else can enter: many
 * runners open what they write their report to, and standard output cannot be opened once more.
 */
export async function withReport(order: Order, input: CheckInput): Promise<Reported> {
  if (!order.argv.some((word) => word.includes(REPORT))) {
    const outcome = await runOrder(order, input);
    return { outcome, report: outcome.kind === 'exited' ? outcome.stdout : null, isPrinted: true };
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-report-')));
  try {
    const [program, ...rest] = order.argv.map((word) => word.replaceAll(REPORT, join(folder, NAME)));
    const { enclose } = input;
    const shown = (free: FreeProgram) => ({ ...free, write: [...(free.write ?? []), folder] });
    const around = enclose === undefined ? {} : { enclose: (free: FreeProgram) => enclose(shown(free)) };
    const told = { ...order, argv: [program as string, ...rest], writes: folder } as const;
    const outcome = await runOrder(told, { ...input, ...around });
    const read = readBeneath(folder, NAME, order.maxOutputBytes);
    return { outcome, report: await read.then(({ content }) => content).catch(() => null), isPrinted: false };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const REPORT = '{report}';
const NAME = 'report';
