import type { JsonObject } from '@phasegate/core';
import { changeText, type TreeChange } from '@phasegate/core/engine';
import { encodeSubmitted } from '@phasegate/wire';
import type { FenceOrder, FenceReport } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import type { Paint } from '../paint.ts';
import { SHELL } from '../spell.ts';
import { describeRefusal } from '../text/describeAnswer.ts';
import { facts } from '../text/table.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate fence`: what was changed outside a phase's scope, and what a human does about it. */
export const fence: CliCommand = {
  usage: [
    'fence RUN [--diff] [PATH…]',
    'fence RUN restore PATH… [--as NAME] [--passphrase-fd N]',
    'fence RUN quarantine PATH… [--as NAME] [--passphrase-fd N]',
    'fence RUN accept PATH… --reason TEXT [--as NAME] [--passphrase-fd N]',
    'fence RUN accept --all --reason TEXT [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'Compares the workspace with what it was when the phase was entered. Changes outside the scope refuse the phase\n' +
    'until they are undone or a human settles them: `restore` makes files what they were, `quarantine` moves them out\n' +
    'of the workspace, `accept` lets them stay. `accept --all` takes a new measure of everything, also where the old\n' +
    'one is missing. A PATH may be a folder.',
  examples: [
    'phasegate fence RUN',
    'phasegate fence RUN --diff',
    'phasegate fence RUN restore package.json',
    'phasegate fence RUN accept docs/ --reason "I wrote these myself"',
  ],
  options: {
    diff: { type: 'flag', summary: 'show how files differ' },
    all: { type: 'flag', summary: 'accept the workspace as it is now' },
    reason: { type: 'text', value: 'TEXT', summary: 'why' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN', '[PATH…]'],
  async run(invocation) {
    const { args, out } = invocation;
    const [runId = '', word, ...paths] = args.positionals;
    if (word === 'restore' || word === 'quarantine' || word === 'accept') {
      return settle(invocation, runId, orderOf(invocation, word, paths));
    }
    if (args.flag('all')) throw usageError('`--all` goes with `accept`');
    const { fencing } = await invocation.open();
    const named = args.positionals.slice(1);
    if (args.flag('diff')) {
      const text = await fencing.diff(runId, named);
      await out.result({ run: runId, diff: text }, () =>
        text === '' ? 'nothing is different' : text.trimEnd(),
      );
      return 0;
    }
    if (named.length > 0) {
      throw usageError(`\`${named[0]}\` is neither restore, quarantine nor accept`, 'phasegate fence --help');
    }
    const report = await fencing.report(runId);
    await out.result(wireReport(report), () => reportText(report, out.paint));
    return report.outside.length === 0 && report.problem === null ? 0 : 1;
  },
};

function orderOf({ args }: Invocation, action: FenceOrder['action'], paths: readonly string[]): FenceOrder {
  const reason = args.text('reason') ?? '';
  const all = args.flag('all');
  if (args.flag('diff')) throw usageError(`\`--diff\` does not go with \`${action}\``);
  if (all && (action !== 'accept' || paths.length > 0))
    throw usageError('`--all` goes with `accept` and without paths');
  if (!all && paths.length === 0)
    throw usageError(`\`${action}\` needs the paths it is about`, 'phasegate fence RUN');
  if (action === 'accept' && reason.trim() === '')
    throw usageError('accepting a change needs a reason', 'phasegate fence RUN accept PATH --reason TEXT');
  return { action, paths: all ? 'all' : paths, reason };
}

async function settle(invocation: Invocation, runId: string, order: FenceOrder): Promise<0 | 1> {
  const { out } = invocation;
  const human = await unlockHuman(invocation);
  const { submitted, done } = await (await invocation.open()).fencing.settle(runId, order, human);
  const { verdict } = submitted;
  const answer: JsonObject = {
    run: runId,
    action: order.action,
    settled: verdict.allowed,
    paths: done.map(({ path, what }) => ({ path, what })),
    ...(verdict.allowed ? {} : encodeSubmitted(submitted, SHELL)),
  };
  await out.result(answer, () => {
    if (!verdict.allowed) return describeRefusal(answer, out.paint);
    if (done.length === 0)
      return 'nothing was changed since the phase was entered; the workspace was measured anew';
    return done.map(({ path, what }) => `${path}: ${what}`).join('\n');
  });
  return verdict.allowed ? 0 : 1;
}

function wireReport(report: FenceReport): JsonObject {
  const { run, phase, ring, writes, tree, problem, outside, noticed, inside, notes, settled } = report;
  return {
    run,
    phase,
    ring,
    writes,
    tree,
    problem,
    outside: outside.map(wireChange),
    noticed: noticed.map(wireChange),
    inside,
    notes,
    settled: settled.map((act) => ({ ...act })),
  };
}

function wireChange({ path, how, by }: TreeChange): JsonObject {
  return { path, how, by: by ?? null };
}

function reportText(report: FenceReport, paint: Paint): string {
  const { run, phase, ring, writes, problem, outside, noticed, inside, notes, settled } = report;
  const head = facts([
    ['run', run],
    ['phase', String(phase)],
    ['ring', ring],
    ['may write', writes.length === 0 ? 'nothing' : writes.join(', ')],
    ['inside', `${inside} ${inside === 1 ? 'path' : 'paths'} changed`],
    ...(outside.length === 0
      ? []
      : ([['outside', outside.map((one) => paint.red(changeText(one))).join('\n')]] as const)),
    ...(noticed.length === 0 ? [] : ([['noticed', noticed.map(changeText).join('\n')]] as const)),
    ...(notes.length === 0 ? [] : ([['note', notes.join('\n')]] as const)),
    ...(settled.length === 0
      ? []
      : ([
          [
            'settled',
            settled
              .map(
                ({ action, by, paths, reason }) =>
                  `${by}: ${action} ${paths.join(', ')}${reason === '' ? '' : ` (${reason})`}`,
              )
              .join('\n'),
          ],
        ] as const)),
  ]);
  if (problem !== null) return `${head}\n\n${paint.red(problem)}`;
  if (outside.length === 0) return `${head}\n\nnothing was changed outside the scope`;
  return `${head}\n\nsettle it with restore, quarantine or accept; \`--diff\` shows how files differ`;
}
