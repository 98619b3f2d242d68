import type { Phasegate, Principal, RunQuery } from '@phasegate/core';
import { RUN_STATUSES } from '@phasegate/core/contract';
import { type Goal, goalAuthor } from '@phasegate/core/engine';
import { didYouMean, oneLine } from '@phasegate/core/model';
import { encodeLine } from '@phasegate/wire';
import type { Arguments, CliCommand, Invocation } from '../command.ts';
import { overriddenMark, paintStatus } from '../text/describeRun.ts';
import { table } from '../text/table.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate runs`: the runs the caller may see, newest first. */
export const runs: CliCommand = {
  usage: ['runs [--status STATUS] [--workflow WORKFLOW] [--limit N]'],
  details:
    'Without a credential it shows what an agent may see; with `--as` or `--passphrase-fd` what a human may.',
  examples: ['phasegate runs', 'phasegate runs --status waiting', 'phasegate runs --json'],
  options: {
    status: { type: 'text', value: 'STATUS', summary: RUN_STATUSES.join(', ') },
    workflow: { type: 'text', value: 'WORKFLOW', summary: 'only runs of this workflow' },
    limit: { type: 'text', value: 'N', summary: 'at most so many (default 100)' },
    ...HUMAN_OPTIONS,
  },
  positionals: [],
  server: 'used',
  async run(invocation) {
    const { args, out } = invocation;
    const query = queryOf(args);
    const caller = await callerOf(invocation);
    const gate = (await invocation.reach()).as(caller);
    const found = await gate.runs(query);
    if (found.length === 0) await demandKnown(invocation, { caller, gate, workflow: query.workflow });
    const none = found.length === 0 && !out.json ? await noRunsText(invocation, caller) : '';
    await out.result({ runs: found.map(encodeLine) }, () => {
      if (found.length === 0) return none;
      const goals = found.some(({ goal }) => goal !== undefined);
      return table([
        ['run', 'workflow', 'status', 'phase', 'target', ...(goals ? ['goal'] : []), 'changed'].map((title) =>
          out.paint.dim(title),
        ),
        ...found.map(({ run, workflow, status, phase, target, goal, overridden, updatedAt }) => [
          run,
          workflow,
          `${paintStatus(status, out.paint)}${overriddenMark(overridden, out.paint)}`,
          phase === null ? '' : String(phase),
          oneLine(target ?? ''),
          ...(goals ? [goal === undefined ? '' : inBrief(goal)] : []),
          updatedAt,
        ]),
      ]);
    });
    return 0;
  },
};

/**
 * INVARIANT: whether runs that are not shown to the caller are of that workflow changes nothing: they are not counted.
 * Runs outlive the files of their workflow, and are asked for by its name all the same.
 */
async function demandKnown(
  invocation: Invocation,
  { caller, gate, workflow }: Asked & { readonly workflow: string | undefined },
): Promise<void> {
  if (workflow === undefined || invocation.server !== null) return;
  const unknown = await unknownText(invocation, workflow);
  if (unknown === null || (await gate.runs({ workflow, limit: 1 })).length > 0) return;
  const others = await noRunsText(invocation, caller);
  throw usageError(unknown, `\`phasegate list\` shows them${others === NONE ? '' : `; ${others}`}`);
}

interface Asked {
  readonly caller: Principal;
  readonly gate: Pick<Phasegate, 'runs'>;
}

const NONE = 'no runs';

/** INVARIANT: an agent is not told whether others have runs; the same is said wherever there may be some. */
async function noRunsText(invocation: Invocation, { kind }: Principal): Promise<string> {
  if (kind !== 'agent' || invocation.server !== null) return NONE;
  const { humans, agents } = await invocation.open();
  const mayBeMore = (await humans.list()).length > 0 || (await agents.list()).length > 0;
  return mayBeMore
    ? 'no runs of yours; those that agents with keys hold are shown with `--as NAME`, to a human'
    : NONE;
}

/** A name that no workflow has here; null where it has one, or where that cannot be known. */
async function unknownText({ server, project }: Invocation, workflow: string): Promise<string | null> {
  if (server !== null) return null;
  try {
    const known = (await (await project()).catalog.list()).map(({ id }) => id);
    if (known.includes(workflow)) return null;
    return `there is no workflow \`${oneLine(workflow)}\`${didYouMean(workflow, known)}`;
  } catch {
    // Runs are there whatever lies among the workflows.
    return null;
  }
}

/** The beginning of a goal, with whose words it is: all of it is in `status`. */
function inBrief(goal: Goal): string {
  const text = oneLine(goal.text);
  const characters = [...text];
  const brief = characters.length > BRIEF ? `${characters.slice(0, BRIEF - 1).join('')}…` : text;
  return `${goalAuthor(goal)}: ${brief}`;
}

const BRIEF = 48;

function queryOf(args: Arguments): RunQuery {
  const status = args.text('status');
  const workflow = args.text('workflow');
  const limit = args.text('limit') ?? '100';
  const known = RUN_STATUSES.find((candidate) => candidate === status);
  if (status !== undefined && known === undefined) {
    throw usageError(`there is no status \`${status}\``, `statuses: ${RUN_STATUSES.join(', ')}`);
  }
  if (!/^[1-9]\d{0,6}$/.test(limit))
    throw usageError('`--limit` needs a number from 1', 'leave it out for 100');
  return {
    limit: Number(limit),
    ...(known === undefined ? {} : { status: known }),
    ...(workflow === undefined ? {} : { workflow }),
  };
}
