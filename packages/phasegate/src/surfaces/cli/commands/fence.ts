import type { JsonObject } from '@phasegate/core';
import { changeText } from '@phasegate/core/engine';
import { isInHome, shellWord } from '@phasegate/core/model';
import { encodeFence, encodeSettled, encodeSubmitted } from '@phasegate/wire';
import type { FenceOrder, FenceReport } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import type { Paint } from '../paint.ts';
import { SHELL } from '../spell.ts';
import { describeRefusal } from '../text/describeAnswer.ts';
import { facts } from '../text/table.ts';
import { callerOf, HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate fence`: what was changed outside a phase's scope, and what a human does about it. */
export const fence: CliCommand = {
  usage: [
    'fence RUN [--diff] [PATH…]',
    'fence RUN restore PATH… [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN quarantine PATH… [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN accept PATH… --reason TEXT [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN accept --all --reason TEXT [--shown HASH] [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'Compares the workspace with what it was when the phase was entered. Changes outside the scope refuse the phase\n' +
    'until they are undone or a human settles them: `restore` makes files what they were, `quarantine` moves them out\n' +
    'of the workspace, `accept` lets them stay. Files of the home folder (`~/`) can only be accepted, or put right by\n' +
    'hand. `accept --all` lets every such change stay, and takes a new measure where the old one is missing. A PATH may\n' +
    'be a folder. On a terminal the list is shown before it is done. Without a terminal `--shown` must name the hash that\n' +
    'the list was printed with. Nothing is done if the workspace is another one by now.',
  examples: [
    'phasegate fence RUN',
    'phasegate fence RUN --diff',
    'phasegate fence RUN restore package.json',
    'phasegate fence RUN accept docs/ --reason "I wrote these myself"',
    'phasegate fence RUN restore package.json --shown HASH --passphrase-fd 3 3<~/secret',
  ],
  options: {
    diff: { type: 'flag', summary: 'show how files differ' },
    all: { type: 'flag', summary: 'accept the workspace as it is now' },
    reason: { type: 'text', value: 'TEXT', summary: 'why' },
    shown: {
      type: 'text',
      value: 'HASH',
      summary: 'the hash of the list that was read; needed where there is no terminal',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN', '[PATH…]'],
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const [runId = '', word, ...paths] = args.positionals;
    if (word === 'restore' || word === 'quarantine' || word === 'accept') {
      return settle(invocation, runId, wishOf(invocation, word, paths));
    }
    if (args.flag('all')) throw usageError('`--all` goes with `accept`');
    // Where the project is, anyone may look; a server asks who it is.
    if (invocation.server !== null) await callerOf(invocation);
    const { fencing } = await invocation.reach();
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
    await out.result(encodeFence(report), () => reportText(report, out.paint));
    return report.outside.length === 0 && report.problem === null ? 0 : 1;
  },
};

/** What is to be done, before it is known what it is about. */
type Wish = Omit<FenceOrder, 'shown'>;

function wishOf(invocation: Invocation, action: FenceOrder['action'], paths: readonly string[]): Wish {
  const { args } = invocation;
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

/** INVARIANT: nothing is settled unseen. The workspace may have changed since the line was copied that is now pasted. */
function demandShown({ args, prompts, server }: Invocation, runId: string): void {
  if (prompts !== null || args.text('shown') !== undefined) return;
  const at = server?.from === '--url' ? ` --url ${shellWord(server.url)}` : '';
  throw usageError(
    '`--shown HASH` is missing: there is no terminal to show the changes on, so say which list was read',
    `\`phasegate fence ${shellWord(runId)}${at}\` prints the list and its hash`,
  );
}

/** The hash of what this human has seen: on a terminal the list is on the screen before anything is done. */
async function showFirst(invocation: Invocation, runId: string, wish: Wish): Promise<string> {
  const { args, out, prompts } = invocation;
  const given = args.text('shown');
  if (prompts === null) return given ?? '';
  const report = await (await invocation.reach()).fencing.report(runId);
  // Another list than the one that was read is not shown in its place: the order is refused.
  if (given !== undefined && given !== report.shown) return given;
  await out.log(reportText(report, out.paint));
  await prompts.forget();
  const about = wish.paths === 'all' ? 'all of it' : wish.paths.join(', ');
  if (!(await prompts.confirm(`${QUESTIONS[wish.action]} ${about}?`)))
    throw usageError('cancelled: nothing was changed');
  return report.shown ?? '';
}

const QUESTIONS = { accept: 'Accept', restore: 'Restore', quarantine: 'Move aside' } as const;

async function settle(invocation: Invocation, runId: string, wish: Wish): Promise<0 | 1> {
  const { out } = invocation;
  demandShown(invocation, runId);
  const human = await unlockHuman(invocation);
  const order: FenceOrder = { ...wish, shown: await showFirst(invocation, runId, wish) };
  const { submitted, done } = await (await invocation.reach()).fencing.settle(runId, order, human);
  const { verdict } = submitted;
  const answer: JsonObject = {
    ...encodeSettled(runId, order.action, { done }),
    ...(verdict.allowed ? {} : { ...encodeSubmitted(submitted, SHELL), settled: false }),
  };
  await out.result(answer, () => {
    if (!verdict.allowed) return describeRefusal(answer, out.paint);
    if (done.length === 0) return 'nothing is outside the scope any more';
    return done.map(({ path, what }) => `${path}: ${what}`).join('\n');
  });
  return verdict.allowed ? 0 : 1;
}

function reportText(report: FenceReport, paint: Paint): string {
  const { run, phase, ring, writes, problem, outside, more, noticed, inside, notes, settled, shown } = report;
  const head = facts([
    ['run', run],
    ['phase', String(phase)],
    ['ring', ring],
    ['may write', writes.length === 0 ? 'nothing' : writes.join(', ')],
    ['inside', `${inside} ${inside === 1 ? 'path' : 'paths'} changed`],
    ...(outside.length === 0
      ? []
      : ([['outside', [...outside.map(changeText), ...unnamed(more)].map(paint.red).join('\n')]] as const)),
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
  const bound =
    shown === null ? '' : `\nwithout a terminal add \`--shown ${shown}\`: it is done only while this is so`;
  if (problem !== null) return `${head}\n\n${paint.red(problem)}${bound}`;
  if (outside.length === 0) return `${head}\n\nnothing was changed outside the scope`;
  return `${head}\n\n${waysText(outside)}${bound}`;
}

/** Only what works: nothing is moved, written or shown in the home folder. */
function waysText(outside: FenceReport['outside']): string {
  const atHome = outside.filter(({ path }) => isInHome(path)).length;
  const here = 'settle it with restore, quarantine or accept; `--diff` shows how files differ';
  if (atHome === 0) return here;
  const there =
    'with accept, or put it right by hand: Phasegate writes, moves and shows nothing in the home folder';
  if (atHome === outside.length) return `settle it ${there}. ${WROTE_IT}`;
  return `${here}\nwhat begins with \`~/\` is settled ${there}. ${WROTE_IT}`;
}

const WROTE_IT =
  'Such a change may be your own, as by `phasegate init --user` or `phasegate uninit` in another project';

function unnamed(more: number): readonly string[] {
  return more === 0 ? [] : [`${more} more`];
}
