import { oneLine, shellWord } from '@phasegate/core/model';
import type { JudgedReceipt, Receipt } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import type { Paint } from '../paint.ts';
import { runOf } from '../runOf.ts';
import { table } from '../text/table.ts';
import { LOCAL_AGENT } from '../unlockHuman.ts';

/** `phasegate receipts`: what the engine ran or saw in a run, and whether that still stands. */
export const receipts: CliCommand = {
  usage: ['receipts RUN [--verify]'],
  details:
    'Lists the receipts of a run, oldest first: what was run, by which program, on which tree, with which dependencies, and\n' +
    'what came of it. A run with a planted test that must fail says so. Words and hashes are shortened; --json has all of\n' +
    'them. --verify checks the signature of each, and whether the workspace still holds what it held then: one of another\n' +
    'tree is void for what comes next. Exits with 1 where a signature does not verify.',
  examples: ['phasegate receipts RUN', 'phasegate receipts RUN --verify --json'],
  options: { verify: { type: 'flag', summary: 'verify signatures, and compare with the workspace' } },
  positionals: ['RUN'],
  runByDefault: true,
  async run(invocation) {
    const { args, out } = invocation;
    const runId = await runOf(invocation, LOCAL_AGENT, 'unfinished');
    const { receipts: all } = await invocation.open();
    const verify = args.flag('verify');
    const found = await all.list(runId, { verify });
    const forged = found.filter(({ signed }) => signed === false);
    await out.result(
      {
        run: runId,
        receipts: found.map(({ receipt, signed, tree }) => ({
          ...receipt,
          ...(verify ? { signed, stands: tree } : {}),
        })),
        ...(verify ? { verified: forged.length === 0 } : {}),
      },
      () => (found.length === 0 ? 'no receipt: nothing was run' : listOf(found, out.paint)),
    );
    return forged.length === 0 ? 0 : 1;
  },
};

/** A row for each, and below it what was run, and on what. */
function listOf(found: readonly JudgedReceipt[], paint: Paint): string {
  const rows = table(found.map((one) => rowOf(one, paint))).split('\n');
  return found
    .flatMap(({ receipt }, index) => [
      rows[index] ?? '',
      ...detailsOf(receipt).map((line) => `  ${paint.dim(line)}`),
    ])
    .join('\n');
}

function rowOf({ receipt, signed, tree }: JudgedReceipt, paint: Paint): readonly string[] {
  const { id, phase, tool, check, exit_code: code, ok, canary } = receipt;
  // A test that must fail did, so the exit code of its run is none of a failure.
  const failed = code === null ? 'failed' : `failed, exit ${code}`;
  return [
    String(id ?? '?'),
    String(phase ?? '?'),
    shortened(String(check ?? tool ?? '?'), MOST),
    receipt.class ?? 'observed',
    ok ? paint.green('ok') : paint.red(failed),
    canary === true ? 'with a test that must fail' : '',
    signed === null ? '' : signed ? 'signed' : paint.red('not signed by this project'),
    tree === null ? '' : tree,
  ];
}

/** What nobody signed may have anything in a place, or nothing. */
function detailsOf(receipt: Receipt): readonly string[] {
  const { argv, program, program_hash: hash, tree, dependencies, counts, started_at: at } = receipt;
  const [first = '', ...words] = (Array.isArray(argv) ? argv : []).map(String);
  const started = String(program ?? first);
  const ran = [started, ...words].map((word) => shellWord(word)).join(' ');
  const told = Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${oneLine(what)}`);
  const known = [
    `at ${oneLine(String(at ?? 'a time that is not told'))}`,
    `tree ${typeof tree === 'string' ? digits(tree) : 'not measured'}`,
    ...(started === '' ? [] : [`program ${typeof hash === 'string' ? digits(hash) : 'not known'}`]),
    ...(started === ''
      ? []
      : [`dependencies ${typeof dependencies === 'string' ? digits(dependencies) : 'none'}`]),
    ...(told.length === 0 ? [] : [told.join(', ')]),
  ];
  return [...(started === '' ? [] : [shortened(ran, LONGEST)]), known.join('; ')];
}

function digits(hash: string): string {
  return oneLine(hash.slice(0, SHOWN_DIGITS));
}

function shortened(text: string, most: number): string {
  const line = oneLine(text);
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

const MOST = 60;
const LONGEST = 110;
const SHOWN_DIGITS = 12;
