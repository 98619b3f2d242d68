import type { JsonObject } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { encodeBlockers } from '@phasegate/wire';
import type { MigrationCard } from '../../../runtime/ports.ts';
import type { CliCommand } from '../command.ts';
import { letCodeIn } from '../letCodeIn.ts';
import type { Paint } from '../paint.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { humanAndRun, runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { facts } from '../text/table.ts';
import { HUMAN_OPTIONS, LOCAL_AGENT } from '../unlockHuman.ts';

/** `phasegate migrate`: a run in flight goes on under its workflow as it is on disk now. */
export const migrate: CliCommand = {
  usage: ['migrate [RUN] [--to HASH] [--as NAME] [--passphrase-fd N]'],
  details:
    'A run keeps the workflow it was started with, whatever becomes of its files. Without `--to` this shows what has\n' +
    'changed since, and whether the run can be migrated, and changes nothing. With `--to` it is migrated: only to an\n' +
    'accepted workflow, and only where the model check proves that the run could be where it is in the new one.',
  examples: ['phasegate migrate RUN', 'phasegate migrate RUN --to 3f9a1c04', 'phasegate migrate RUN --json'],
  options: {
    to: {
      type: 'text',
      value: 'HASH',
      summary: 'hash of the workflow on disk, or its first 8 digits or more',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN'],
  runByDefault: true,
  async run(invocation) {
    const { args, out } = invocation;
    const to = args.text('to');
    if (to === undefined) {
      await letCodeIn(invocation);
      const runId = await runOf(invocation, LOCAL_AGENT, 'unfinished');
      const card = await (await invocation.open()).migrations.card(runId);
      await out.result(wireCard(card), () => cardText(card, out.paint));
      return isPossible(card) || card.from === card.to ? 0 : 1;
    }
    const { human, runId } = await humanAndRun(invocation, 'any unfinished');
    const submitted = await (await invocation.open()).migrations.migrate(runId, to, human);
    return reportToHuman(out, submitted);
  },
};

function isPossible({ verdict, trusted }: MigrationCard): boolean {
  return verdict.allowed && trusted;
}

function wireCard(card: MigrationCard): JsonObject {
  const { run, workflow, path, from, to, trusted, phases, besides, verdict, trace } = card;
  return {
    run,
    workflow,
    path,
    from,
    to,
    trusted,
    possible: isPossible(card),
    phases: phases.map(({ phase, change }) => ({ phase, change })),
    changed_besides: besides,
    blockers: verdict.allowed ? [] : encodeBlockers(verdict.blockers, { run }, SHELL),
    trace,
  };
}

function cardText(card: MigrationCard, paint: Paint): string {
  const { run, workflow, path, from, to, phases, besides, trace } = card;
  if (from === to) return `run ${run} has the workflow of \`${path}\` already (${from})`;
  const changed = phases
    .filter(({ change }) => change !== 'same')
    .map(({ phase, change }) => `${phase} ${paint.yellow(change)}`);
  const head = facts([
    ['run', run],
    ['workflow', `${workflow} (${path})`],
    ['has', from],
    ['on disk', to],
    ['phases', changed.length === 0 ? 'the same' : changed.join('\n')],
    ...(besides ? ([['besides', 'changed']] as const) : []),
    ...(trace.length === 0 ? [] : ([['reached by', trace.join('\n')]] as const)),
  ]);
  return `${head}\n\n${outlook(card, paint)}`;
}

function outlook(card: MigrationCard, paint: Paint): string {
  const { run, workflow, to, trusted, verdict } = card;
  if (!verdict.allowed) {
    const reasons = verdict.blockers.map(({ code, message }) => `  ${message} ${paint.dim(`[${code}]`)}`);
    return [`${paint.red('cannot be migrated:')}`, ...reasons].join('\n');
  }
  const command = `phasegate migrate ${run} --to ${to.slice(0, SHOWN)}`;
  if (trusted) return `can be migrated: ${command}`;
  return `can be migrated once its files are accepted: phasegate trust ${shellWord(workflow)}, then ${command}`;
}

const SHOWN = 12;
