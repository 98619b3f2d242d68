import {
  type Circumstance,
  type Command,
  type Decision,
  decide,
  decideOrLook,
  type Fact,
  type Facts,
  type Look,
  type Principal,
  type Run,
  type Workflow,
} from '@phasegate/core';
import type { Recording } from '@phasegate/core/engine';
import type { Ring } from '@phasegate/core/model';
import { ENGINE } from './engine.ts';
import { createStillness } from './fence/stillness.ts';
import { rememberGate, timeAtGate } from './gateClock.ts';
import { guardedFunctions } from './guard/guardedFunctions.ts';
import { CodeChanged, type Looking, lookAt } from './look.ts';
import { type CheckImplementation, sameCodeAgain } from './ports.ts';
import { modulePath } from './rendering.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { encloseFor, needsSandbox } from './sandboxing.ts';
import { shownCard } from './shownCard.ts';
import type { StagedCopy } from './stagedCopy.ts';
import { timeFor } from './timeFor.ts';
import { createProving, type Proving } from './verify/proving.ts';

/** Has looked at what the engine asks for, and decided. Nothing is written here. */
export interface Judging {
  /** Looks of one round do not depend on each other. */
  lookAll(
    looks: readonly Look[],
    workflow: Workflow,
    facts: Record<string, Fact>,
    around?: LookingAround,
  ): Promise<void>;
  /** The decision, with the author's database prepared for it. */
  judge(
    run: Run,
    command: Command,
    how: { readonly principal: Principal; readonly copy: StagedCopy },
  ): Promise<Judged>;
}

/** What is looked at for a run beside its workflow. */
export interface LookingAround {
  /** The copy of the author's database that an attempt works on. */
  readonly copy?: string | null;
  /** Of the run, where there is one yet. */
  readonly ring?: Ring;
  /** Rooms of the engine's own, and receipts; where there is a run. */
  readonly proving?: Proving;
}

/** A decision with the command it answers, for whom, and what it was made from. */
export type Judged = Decision & {
  readonly command: Command;
  readonly by: Principal;
  readonly recording: Recording;
};

/** Builds it over the shelf of checks and the functions of workflows. */
export function createJudging(parts: RuntimeParts): Judging {
  let shelf: Promise<ReadonlyMap<string, CheckImplementation>> | undefined;
  const checks = () => {
    shelf ??= parts.checks().then((list) => new Map(list.map((check) => [check.name, check])));
    return shelf;
  };

  let root: Promise<string> | undefined;
  const workspace = () => {
    root ??= import('node:fs/promises').then(({ realpath }) => realpath(parts.workspace));
    return root;
  };

  const functions =
    parts.guard === undefined ? parts.functions : guardedFunctions(parts.functions, parts.guard);

  const looking = (workflow: Workflow, { copy = null, proving, ...ring }: LookingAround): Looking => ({
    ...(proving === undefined ? {} : { proving }),
    checks,
    functions,
    workspace: parts.workspace,
    module: modulePath(parts.workspace, workflow.module),
    database: copy ?? modulePath(parts.workspace, workflow.database?.file ?? null),
    held: needsSandbox({ workflow, ...ring }),
    enclose: async (phase) =>
      encloseFor({ workflow, phase, ...ring }, { ...parts, workspace: await workspace() }),
  });

  async function lookAll(
    looks: readonly Look[],
    workflow: Workflow,
    facts: Record<string, Fact>,
    around: LookingAround = {},
  ): Promise<void> {
    const shelves = looking(workflow, around);
    const answers = await Promise.all(looks.map((look) => lookAt(look, shelves)));
    looks.forEach((look, index) => {
      facts[look.id] = answers[index] as Fact;
    });
  }

  async function judgeCommand(
    run: Run,
    command: Command,
    {
      principal,
      copy,
      known = {},
    }: { readonly principal: Principal; readonly copy: StagedCopy; readonly known?: Facts },
  ): Promise<Judged> {
    const now = await timeAtGate(parts, run, timeFor(parts.now, run));
    const measured = {
      ...(await parts.fence?.measuredFor(run, command)),
      ...(parts.folder === undefined || command.kind !== 'claim' ? {} : { folder: parts.folder }),
    };
    const bare: Circumstance = { principal, now, facts: {}, ...measured, ...(await shownFor(run, command)) };
    const still = createStillness(parts.fence, run);
    const facts: Record<string, Fact> = { ...known };
    const about = {
      run,
      facts,
      command,
      agent: run.holder ?? principal.name,
      item: itemOf(command, principal),
    };
    const proven = parts.proving === undefined ? {} : { proving: createProving(parts.proving, about) };
    try {
      for (;;) {
        const step = decideOrLook(run, command, { ...bare, ...copy.known(), facts });
        if ('looks' in step) {
          const others = await still.look(step.looks, facts);
          await lookAll(others, run.workflow, facts, {
            copy: await copy.fileFor(others, facts),
            ring: run.ring,
            ...proven,
          });
        } else if (!(await copy.sealFor(step, facts)) && (await still.holds(step, facts)))
          return {
            ...step,
            command,
            by: principal,
            recording: { command, facts, ...measured, ...copy.known() },
          };
      }
    } catch (error) {
      if (!(error instanceof CodeChanged)) throw error;
      const message = `${error.message}: ${sameCodeAgain(run)}`;
      const escalate: Command = { kind: 'escalate', reason: 'code_changed', message };
      return {
        ...decide(run, escalate, { principal: ENGINE, now: bare.now, facts: {} }),
        command,
        by: ENGINE,
        recording: { command: escalate, facts: {} },
      };
    }
  }

  async function shownFor(run: Run, command: Command): Promise<Pick<Circumstance, 'shown' | 'humans'>> {
    if (command.kind !== 'decide') return {};
    const [card, humans] = [await shownCard(parts, run), await parts.humans?.()];
    return {
      ...(card === null ? {} : { shown: card.shown }),
      ...(humans === undefined ? {} : { humans }),
    };
  }

  return {
    lookAll,
    /** A copy that turns out to be one that cannot be installed any more is decided on, with what was seen before. */
    async judge(run, command, how) {
      const first = await judgeCommand(run, command, how);
      const isPrepared = await how.copy.prepare(first);
      const decision = isPrepared
        ? first
        : await judgeCommand(run, command, { ...how, known: first.recording.facts });
      await rememberGate(parts, run, decision.run);
      return decision;
    },
  };
}

/** Whose evidence for which item a command hands in; null where it is none of an item. */
function itemOf(command: Command, principal: Principal): { key: string; agent: string } | null {
  const key = command.kind === 'complete' ? command.item : undefined;
  return key === undefined ? null : { key, agent: principal.name };
}
