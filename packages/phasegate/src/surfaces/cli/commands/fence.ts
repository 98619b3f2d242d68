import type { JsonObject } from '@phasegate/core';
import { changeText } from '@phasegate/core/engine';
import { isInHome, shellWord } from '@phasegate/core/model';
import { encodeFence, encodeSettled, encodeSubmitted } from '@phasegate/wire';
import type { FenceOrder, FenceReport } from '../../../runtime/ports.ts';
import { atRun } from '../atRun.ts';
import { Cancelled } from '../cancelled.ts';
import type { CliCommand, Invocation } from '../command.ts';
import type { Paint } from '../paint.ts';
import { humanAndRun, runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { describeRefusal } from '../text/describeAnswer.ts';
import { facts } from '../text/table.ts';
import { callerOf, HUMAN_OPTIONS, LOCAL_AGENT } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate fence`: what was changed outside a phase's scope, and what a human does about it. */
export const fence: CliCommand = {
  usage: [
    'fence [RUN] [--diff]',
    'fence RUN --diff PATH…',
    'fence RUN restore PATH… [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN quarantine PATH… [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN accept PATH… --reason TEXT [--shown HASH] [--as NAME] [--passphrase-fd N]',
    'fence RUN accept --all --reason TEXT [--shown HASH] [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'Compares the workspace with what it was when the phase was entered. Changes outside the scope refuse the phase\n' +
    'until they are undone or a human settles them: `restore` makes files what they were, `quarantine` moves them out\n' +
    'of the workspace, `accept` lets them stay. Files of the home folder (`~/`) can only be accepted, or put right by\n' +
    'hand. `accept --all` lets every such change stay, and takes a new measure where the old one is missing. A PATH is\n' +
    'from the root of the project, wherever you call it, and may be a folder. On a terminal the list is shown before it\n' +
    'is done. Without a terminal `--shown` must name the hash that the list was printed with. Nothing is done if the\n' +
    'workspace is another one by now. `fence RUN` exits 1 where it lists changes outside the scope, or\n' +
    'has nothing to compare with.',
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
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const [first = '', word = '', ...paths] = args.positionals;
    // What is done about changes is done to a run by its name.
    if (isAction(first))
      throw usageError(
        `RUN is missing before \`${first}\``,
        `\`phasegate fence\` shows which it is, and the whole command`,
      );
    if (isAction(word)) return settle(invocation, wishOf(invocation, word, paths));
    if (args.flag('all')) throw usageError('`--all` goes with `accept`');
    // Where the project is, anyone may look; a server asks who it is.
    const caller = invocation.server === null ? LOCAL_AGENT : await callerOf(invocation);
    const runId = await runOf(invocation, caller, 'unfinished');
    const { fencing } = await (await atRun(invocation, runId)).reach();
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
    await out.result(encodeFence(report), () =>
      reportText(report, { paint: out.paint, at: atServer(invocation) }),
    );
    return report.outside.length === 0 && report.problem === null ? 0 : 1;
  },
};

function isAction(word: string): word is FenceOrder['action'] {
  return word === 'restore' || word === 'quarantine' || word === 'accept';
}

/** What is to be done, before it is known what it is about. */
type Wish = Omit<FenceOrder, 'shown'>;

function wishOf(invocation: Invocation, action: FenceOrder['action'], paths: readonly string[]): Wish {
  const { args } = invocation;
  const reason = args.text('reason') ?? '';
  const all = args.flag('all');
  const named = shellWord(args.positionals[0] ?? 'RUN');
  if (args.flag('diff')) throw usageError(`\`--diff\` does not go with \`${action}\``);
  if (all && (action !== 'accept' || paths.length > 0))
    throw usageError('`--all` goes with `accept` and without paths');
  if (!all && paths.length === 0)
    throw usageError(
      `\`${action}\` needs the paths it is about`,
      `phasegate fence ${named} lists them; then phasegate fence ${named} ${action} PATH${action === 'accept' ? ' --reason TEXT' : ''}`,
    );
  if (action === 'accept' && reason.trim() === '')
    throw usageError(
      'accepting a change needs a reason',
      `phasegate fence ${named} accept PATH --reason TEXT`,
    );
  return { action, paths: all ? 'all' : paths, reason };
}

/** INVARIANT: nothing is settled unseen. The workspace may have changed since the line was copied that is now pasted. */
function demandShown(invocation: Invocation): void {
  const { args, prompts } = invocation;
  if (prompts !== null || args.text('shown') !== undefined) return;
  const [runId = 'RUN'] = args.positionals;
  throw usageError(
    '`--shown HASH` is missing: there is no terminal to show the changes on, so say which list was read',
    `\`phasegate fence ${shellWord(runId)}${atServer(invocation)}\` prints the list and its hash`,
  );
}

/** The server, where the command line named it and so must name it again. */
function atServer({ server }: Invocation): string {
  return server?.from === '--url' ? ` --url ${shellWord(server.url)}` : '';
}

/** The hash of what this human has seen: on a terminal the list is on the screen before anything is done. */
async function showFirst(invocation: Invocation, runId: string, wish: Wish): Promise<string> {
  const { args, out, prompts } = invocation;
  const given = args.text('shown');
  if (prompts === null) return given ?? '';
  const report = await (await invocation.reach()).fencing.report(runId);
  // Another list than the one that was read is not shown in its place: the order is refused.
  if (given !== undefined && given !== report.shown) return given;
  await out.log(reportText(report, { paint: out.paint, at: null }));
  await prompts.forget();
  const about = wish.paths === 'all' ? 'all of it' : wish.paths.join(', ');
  if (!(await prompts.confirm(`${QUESTIONS[wish.action]} ${about}?`))) throw new Cancelled();
  return report.shown ?? '';
}

const QUESTIONS = { accept: 'Accept', restore: 'Restore', quarantine: 'Move aside' } as const;

async function settle(invocation: Invocation, wish: Wish): Promise<0 | 1> {
  const { out } = invocation;
  demandShown(invocation);
  const { human, runId } = await humanAndRun(invocation, 'unfinished');
  const there = await atRun(invocation, runId);
  const order: FenceOrder = { ...wish, shown: await showFirst(there, runId, wish) };
  const { submitted, done } = await (await there.reach()).fencing.settle(runId, order, human);
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

function reportText(report: FenceReport, { paint, at }: Told): string {
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
  const commands = at === null ? '' : `\n${commandLines(report, at).map(paint.cyan).join('\n')}`;
  if (problem !== null) return `${head}\n\n${paint.red(problem)}${shown === null ? '' : commands}`;
  if (outside.length === 0) return `${head}\n\nnothing was changed outside the scope`;
  return `${head}\n\n${waysText(outside)}${commands === '' ? '' : '\nit is done only while this is so:'}${commands}`;
}

/** How a report is told: with the commands that settle it, at the server that was named; null where one is under way. */
interface Told {
  readonly paint: Paint;
  readonly at: string | null;
}

/** Whole commands, for the first path that is named. */
function commandLines({ run, outside, shown, problem }: FenceReport, at: string): readonly string[] {
  const call = `phasegate fence ${shellWord(run)}`;
  const bound = `${shown === null ? '' : ` --shown ${shown}`}${at}`;
  const all = `${call} accept --all --reason TEXT${bound}`;
  const first = outside.find(({ path }) => !isInHome(path)) ?? outside[0];
  if (problem !== null || first === undefined) return [all];
  const path = shellWord(first.path);
  const accept = `${call} accept ${path} --reason TEXT${bound}`;
  if (isInHome(first.path)) return [accept, all];
  return [
    `${call} --diff${at}`,
    `${call} restore ${path}${bound}`,
    `${call} quarantine ${path}${bound}`,
    accept,
    all,
  ];
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
