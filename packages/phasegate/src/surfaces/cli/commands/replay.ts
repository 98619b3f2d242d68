import { PhasegateError, type Principal, type Run, type Workflow } from '@phasegate/core';
import { holdsAnItem, RECORDING_VERSION } from '@phasegate/core/engine';
import {
  FLIPS,
  type Outlook,
  REPLAY_KINDS,
  type ReplayedStep,
  type ReplayKind,
  type ReplayReport,
  replayRun,
} from '@phasegate/proofs';
import type { Catalog, CatalogWorkflow } from '../../../runtime/ports.ts';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import { reportFailure } from '../failure.ts';
import { plain } from '../graph/label.ts';
import { letCodeIn } from '../letCodeIn.ts';
import { wholeRun } from '../runOf.ts';
import { showWork, type Work } from '../showWork.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate replay`: recorded runs decided again under a changed workflow. */
export const replay: CliCommand = {
  usage: ['replay RUN… --workflow NEW', 'replay --all --workflow NEW [--limit N]'],
  details:
    'Every recorded decision is made again, on its own, on the run as it stood before it, with what was found out then.\n' +
    'Prints each verdict that flips, with the reason. Exits 0 where nothing does, 1 where something flips or cannot be\n' +
    'told, 2 where a run or workflow is unknown or the recording cannot be read. Changes nothing. Without a credential\n' +
    'it replays what an agent may see; with `--as` or `--passphrase-fd` what a human may.',
  examples: [
    'phasegate replay RUN --workflow tdd',
    'phasegate replay --all --workflow tdd',
    'phasegate replay --all --workflow drafts.workflow.yaml --limit 100 --json',
  ],
  options: {
    workflow: { type: 'text', value: 'NEW', summary: 'the changed workflow: its id, title or file' },
    all: { type: 'flag', summary: 'every run of the workflow of that id, newest first' },
    limit: { type: 'text', value: 'N', summary: 'with --all: at most so many' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[RUN…]'],
  async run(invocation) {
    try {
      return await replayRuns(invocation);
    } catch (error) {
      if (!(error instanceof PhasegateError) || !BAD_INPUT.has(error.code)) throw error;
      await reportFailure(error, invocation.out, invocation.env);
      // 1 says that something flips, and that is not known here.
      return 2;
    }
  },
};

const BAD_INPUT: ReadonlySet<PhasegateError['code']> = new Set([
  'run_unknown',
  'run_archived',
  'workflow_unknown',
  'audit_broken',
]);

async function replayRuns(invocation: Invocation): Promise<ExitCode> {
  const { args, out } = invocation;
  const wanted = readWanted(args);
  const caller = (await letCodeIn(invocation))?.principal ?? (await callerOf(invocation));
  const { catalog } = await invocation.project();
  const changed = await catalog.load(wanted.workflow);
  const project = await invocation.open();
  const named = wanted.runs?.map((word) => wholeRun(invocation, caller, word));
  const ids =
    named === undefined
      ? await allRuns(invocation, caller, { ...wanted, workflow: changed.workflow.id })
      : [...new Set(await Promise.all(named))];
  const inTime = changedFor(catalog, wanted.workflow, changed);
  const looking = await project.records.lookingAgain();
  const reports: ReplayReport[] = [];
  const lost: LostRun[] = [];
  const work = showWork(out, 'replaying');
  let looked = 0;
  for await (const recorded of shownWhile(project.records.runs({ runs: ids }), work)) {
    work.report(`${++looked} of ${ids.length} runs`);
    const { run } = recorded;
    demandMine(run, caller);
    const made = await inTime(run);
    if (made instanceof PhasegateError) {
      lost.push({ run: run.id, error: made });
      if (wanted.runs !== null) break;
      continue;
    }
    const report = await replayRun({ ...recorded, changed: made, ...looking });
    if (wanted.runs !== null) demandReadable(report);
    reports.push(report);
  }
  // Among all runs one whose source is gone must not hide what becomes of the others.
  if (lost[0] !== undefined && (wanted.runs !== null || reports.length === 0)) throw lostError(lost[0]);
  const totals = totalsOf(reports);
  const { workflow, path, hash } = changed;
  const flips = FLIPS.reduce((sum, flip) => sum + totals[flip], 0);
  const runs = reports.map(asJson);
  const left = lost.map(({ run, error: { code, message } }) => ({ run, error: code, message }));
  const value = {
    workflow: workflow.id,
    path,
    hash,
    flips,
    totals,
    runs,
    ...(left[0] && { not_replayed: left }),
  };
  await out.result(value, () =>
    [
      ...reports.map(runText),
      ...left.map(({ run, message }) => `${run}: not replayed: ${plain(message, LONGEST)}`),
      totalText(workflow, totals, flips) + (left[0] ? `; ${countOf(left.length, 'run')} not replayed` : ''),
    ].join('\n'),
  );
  return flips + totals.unknown + totals.unrecorded + left.length === 0 ? 0 : 1;
}

/** A run for which there is no changed workflow. */
interface LostRun {
  readonly run: string;
  readonly error: PhasegateError;
}

function lostError({ run, error }: LostRun): PhasegateError {
  const { code, message, problems, hint } = error;
  const more = { cause: error, problems, ...(hint === undefined ? {} : { hint }) };
  return new PhasegateError(code, `for run \`${run}\`: ${message}`, more);
}

interface Wanted {
  readonly workflow: string;
  /** Null for all there are. */
  readonly runs: readonly string[] | null;
  readonly limit: number;
}

function readWanted(args: Arguments): Wanted {
  const workflow = args.text('workflow');
  const limit = args.text('limit');
  const all = args.flag('all');
  const runs = [...new Set(args.positionals)];
  if (workflow === undefined) {
    throw usageError('`--workflow` must say under which workflow', '`phasegate list` shows those there are');
  }
  if (all && runs.length > 0) throw usageError('name the runs, or say `--all`, not both');
  if (!all && runs.length === 0) {
    throw usageError('name the runs, or say `--all`', '`phasegate runs` lists the runs there are');
  }
  if (limit !== undefined && !all) throw usageError('`--limit` goes with `--all`');
  if (limit !== undefined && !/^[1-9]\d{0,6}$/.test(limit))
    throw usageError('`--limit` needs a number from 1');
  return {
    workflow,
    runs: all ? null : runs,
    limit: limit === undefined ? Number.MAX_SAFE_INTEGER : Number(limit),
  };
}

async function allRuns(
  { open }: Invocation,
  caller: Principal,
  { workflow, limit }: { readonly workflow: string; readonly limit: number },
): Promise<readonly string[]> {
  const runs = await (await open()).as(caller).runs({ workflow, limit });
  // Nothing replayed is not the same as nothing that flips.
  if (runs.length === 0) {
    throw usageError(
      `there is no run of \`${workflow}\` to replay`,
      '`phasegate runs` lists those you may see',
    );
  }
  return runs.map(({ run }) => run);
}

/** The changed workflow for a run, or why there is none: what is made from a source is made from the run's own. */
function changedFor(
  catalog: Catalog,
  name: string,
  { workflow, format }: CatalogWorkflow,
): (run: Run) => Promise<Workflow | PhasegateError> {
  const made = new Map<string, Promise<Workflow>>();
  return async ({ params, target }) => {
    if (format !== 'markdown') return workflow;
    const key = JSON.stringify([params, target]);
    const making = made.get(key) ?? catalog.load(name, { params, target }).then((found) => found.workflow);
    made.set(key, making);
    return making.catch((cause: unknown) => {
      if (!(cause instanceof PhasegateError)) throw cause;
      return cause;
    });
  };
}

/** As with the audit: an agent sees runs that it holds, and those that nobody does. */
function demandMine(run: Run, caller: Principal): void {
  if (caller.kind !== 'agent' || run.holder === null || run.holder === caller.name) return;
  if (holdsAnItem(run, caller.name)) return;
  throw new PhasegateError('not_permitted', `run \`${run.id}\` is held by another agent`, {
    hint: 'a human may replay every run: `--as NAME`',
  });
}

/** A run that was asked for by name and cannot be replayed is a mistake of the call, not a result. */
function demandReadable({ run, otherVersions, counts, decisions }: ReplayReport): void {
  if (otherVersions.length > 0) {
    throw usageError(
      `run \`${run}\` is recorded in form ${otherVersions.join(' and ')}, and this version of Phasegate reads form ${RECORDING_VERSION}`,
      'replay it with the version that recorded it, or leave it out',
    );
  }
  if (counts.unrecorded < decisions) return;
  throw usageError(
    `none of the ${decisions} decisions of run \`${run}\` can be made again: what they were made from was not kept`,
    'runs are recorded from this version of Phasegate on; leave out the older ones',
  );
}

type Totals = Record<ReplayKind | 'runs' | 'decisions', number>;

function totalsOf(reports: readonly ReplayReport[]): Totals {
  const sum = (of: (report: ReplayReport) => number) => reports.reduce((total, one) => total + of(one), 0);
  const kinds = REPLAY_KINDS.map((kind) => [kind, sum(({ counts }) => counts[kind])]);
  const counted = Object.fromEntries(kinds) as Record<ReplayKind, number>;
  return { runs: reports.length, decisions: sum(({ decisions }) => decisions), ...counted };
}

function asJson({ otherVersions, steps, ...report }: ReplayReport): object {
  const told = steps.map(({ by, ...step }) => ({ ...step, by: `${by.kind}:${by.name}` }));
  return { ...report, steps: told, ...(otherVersions.length === 0 ? {} : { other_versions: otherVersions }) };
}

function runText(report: ReplayReport): string {
  const { run, decisions, counts, steps, otherVersions } = report;
  const strange =
    otherVersions.length === 0
      ? ''
      : ` (recorded in form ${otherVersions.join(' and ')}, which this version does not read)`;
  const shown = steps.filter(({ kind }) => kind !== 'unrecorded').map((step) => stepText(run, step));
  return [
    `${run}: ${countOf(decisions, 'decision')}, ${kindsText(counts)}${strange}`,
    ...shown,
    ...lostText(steps),
  ].join('\n');
}

/** What an agent wrote stands on one line: it must not look like lines of the report. */
const LONGEST = 500;

function stepText(run: string, { seq, phase, by, asked, kind, was, would, reason }: ReplayedStep): string {
  const where = phase === null ? '' : ` in \`${phase}\``;
  const then = was === null ? 'not known' : outlookText(was);
  const now = would === null ? 'not known' : outlookText(would);
  return [
    `  ${kind}  ${run} #${seq}${where}, ${by.kind}:${by.name}: ${plain(asked, LONGEST)}`,
    `    was ${then}; would be ${now}`,
    `    ${plain(reason, 4 * LONGEST)}`,
  ].join('\n');
}

function outlookText({ verdict, leads }: Outlook): string {
  const said = verdict === 'let_through' ? 'refused but let through' : verdict;
  if (leads === '') return said;
  return verdict === 'refused' ? `${said}, then at ${leads}` : `${said}, on to ${leads}`;
}

/** Decisions that cannot be made again, by why, with where they stand. */
function lostText(steps: readonly ReplayedStep[]): readonly string[] {
  const lost = steps.filter(({ kind }) => kind === 'unrecorded');
  return [...Map.groupBy(lost, ({ reason }) => reason)].map(([reason, some]) => {
    const places = some.map(({ seq }) => `#${seq}`);
    const more = places.length > 10 ? ` and ${places.length - 10} more` : '';
    return `  unrecorded  ${places.slice(0, 10).join(', ')}${more}: ${reason}`;
  });
}

function totalText({ id }: Workflow, totals: Totals, flips: number): string {
  const { runs, decisions } = totals;
  const flipped =
    flips === 0 ? 'no verdict flips' : `${countOf(flips, 'verdict')} ${flips === 1 ? 'flips' : 'flip'}`;
  return `${id}: ${countOf(runs, 'run')}, ${countOf(decisions, 'decision')}: ${flipped}; ${kindsText(totals)}`;
}

function kindsText(counts: Readonly<Record<ReplayKind, number>>): string {
  const there = REPLAY_KINDS.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`);
  return there.length === 0 ? 'none' : there.join(', ');
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Ends the work with what it was about, however that ends. */
async function* shownWhile<T>(values: AsyncIterable<T>, work: Work): AsyncGenerator<T> {
  try {
    yield* values;
  } finally {
    await work.end();
  }
}
