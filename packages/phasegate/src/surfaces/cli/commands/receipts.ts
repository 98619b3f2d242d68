import { oneLine } from '@phasegate/core/model';
import type { JudgedReceipt } from '../../../runtime/ports.ts';
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
    'what came of it. --verify checks the signature of each, and whether the workspace still holds what it held then: one of\n' +
    'another tree is void for what comes next. Exits with 1 where a signature does not verify.',
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
      () =>
        found.length === 0 ? 'no receipt: nothing was run' : table(found.map((one) => rowOf(one, out.paint))),
    );
    return forged.length === 0 ? 0 : 1;
  },
};

function rowOf({ receipt, signed, tree }: JudgedReceipt, paint: Paint): readonly string[] {
  const { id, phase, tool, check, argv, exit_code: code, ok } = receipt;
  const what = check ?? (argv === undefined ? tool : `${tool}: ${argv.join(' ')}`);
  return [
    id,
    String(phase),
    oneLine(what).slice(0, MOST),
    receipt.class ?? 'observed',
    ok ? paint.green('ok') : paint.red(code === null ? 'failed' : `failed, exit ${code}`),
    signed === null ? '' : signed ? 'signed' : paint.red('not signed by this project'),
    tree === null ? '' : tree,
  ];
}

const MOST = 60;
