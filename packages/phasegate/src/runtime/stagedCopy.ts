import {
  type Command,
  type Decision,
  type Fact,
  type Look,
  own,
  PhasegateError,
  phaseById,
  type Run,
  type RunEvent,
} from '@phasegate/core';
import { approvalOf } from '@phasegate/core/model';
import { attemptFor } from './attemptFor.ts';
import type { Attempt, WaitingAt } from './ports.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/**
 * The copy of the author's database that a command is about: what an attempt worked on, or what waits at a gate. It is
 * sealed before anything but a handler looks at it, and what becomes of it the decision's events say.
 */
export interface StagedCopy {
  /** What is looked at, and what a handler writes to; null for the author's own database. */
  fileFor(looks: readonly Look[], facts: Facts): Promise<string | null>;
  /** What the engine is told of it. */
  known(): { readonly database?: string };
  /** Whether it was sealed just now for this decision, which has then to be made again, with the hash. */
  sealFor(decision: Decision, facts: Facts): Promise<boolean>;
  /** Before the run is saved. False where it can no longer be installed: that has to be decided on, too. */
  prepare(decision: Decision): Promise<boolean>;
  /** After the run was saved: installed, kept for a human, or dropped. */
  settle(decision: Decision): Promise<void>;
  /** However it ended. */
  end(): Promise<void>;
}

type Facts = Readonly<Record<string, Fact>>;
type Complete = Extract<Command, { kind: 'complete' }>;

/** Where no database is concerned. */
export const NO_COPY: StagedCopy = {
  fileFor: async () => null,
  known: () => ({}),
  sealFor: async () => false,
  prepare: async () => true,
  settle: async () => undefined,
  end: async () => undefined,
};

/** The copy a command is about; `given` is one that somebody began, and ends, himself. */
export async function stagedCopy(
  parts: Pick<RuntimeParts, 'databases'>,
  run: Run,
  { command, given }: { readonly command: Command; readonly given: Attempt | undefined },
): Promise<StagedCopy> {
  const at = waitingAt(run);
  if (at !== null && parts.databases !== undefined) return waitingCopy(parts.databases, run, { command, at });
  if (command.kind !== 'complete') return NO_COPY;
  const attempt = given ?? (await attemptFor(parts, run, command));
  if (attempt === undefined) return NO_COPY;
  const worked = workedCopy(attempt, run, command);
  return given === undefined ? { ...worked, end: () => attempt.discard() } : worked;
}

function workedCopy(attempt: Attempt, run: Run, command: Complete): StagedCopy {
  let hash: string | null = null;
  let isSealed = false;
  const item = command.item ?? null;
  const seal = async () => {
    const sealed = await attempt.seal();
    isSealed = true;
    hash = sealed.hash;
    return sealed.file;
  };
  return {
    ...NO_COPY,
    async fileFor(looks, facts) {
      if (looks.some(({ kind }) => kind === 'handler')) return attempt.file;
      // What did not come off is dropped: anyone who looks now looks at the database as it will be.
      return installs(command, facts) ? seal() : null;
    },
    known: () => (hash === null ? {} : { database: hash }),
    async sealFor({ events }, facts) {
      // A refused join completes its last item all the same.
      if (isSealed || !events.some(({ type }) => TAKES_WORK.includes(type)) || !installs(command, facts))
        return false;
      await seal();
      return hash !== null;
    },
    async prepare({ run: after }) {
      const fate = fateOf(hash, run, { after, item });
      const mark = { run: run.id, epoch: run.epoch, item };
      // INVARIANT: from before the run is saved until its database is, a crash can be recovered from.
      if (fate !== 'dropped') await attempt.prepare({ ...mark, completions: run.completions.length });
      return true;
    },
    async settle({ run: after }) {
      const fate = fateOf(hash, run, { after, item });
      if (fate === 'installed') await attempt.install();
      else if (fate === 'waits') await attempt.keep();
      else await attempt.discard();
    },
  };
}

/** At an open gate: only a decision needs the copy itself, and whatever else ends the wait drops it. */
async function waitingCopy(
  databases: NonNullable<RuntimeParts['databases']>,
  run: Run,
  { command, at }: { readonly command: Command; readonly at: WaitingAt },
): Promise<StagedCopy> {
  const { hash } = at;
  let copy = command.kind === 'decide' ? await databases.waiting(at) : null;
  return {
    ...NO_COPY,
    fileFor: async () => (copy !== null && saysYes(run, command) ? copy.file : null),
    known: () => (copy === null ? {} : { database: hash }),
    async prepare({ run: after }) {
      if (copy === null || fateOf(hash, run, { after, item: null }) !== 'installed') return true;
      try {
        await copy.prepare({ run: run.id, epoch: run.epoch, item: null });
        return true;
      } catch (error) {
        if (!(error instanceof PhasegateError) || error.code !== 'database_changed') throw error;
        copy = null;
        return false;
      }
    },
    async settle({ run: after }) {
      const fate = fateOf(hash, run, { after, item: null });
      if (fate === 'installed') await copy?.install();
      else if (fate === 'dropped') await databases.drop(at);
    },
    end: async () => copy?.keep(),
  };
}

/** The copy that waits for the decision at the open gate; null where none does. */
function waitingAt(run: Run): WaitingAt | null {
  const { database } = run.workflow;
  const hash = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.database : undefined;
  return hash === undefined || database === undefined ? null : { run: run.id, database, hash };
}

/** Whether the work came off, by what its handler or the one who did it said. */
function installs(command: Complete, facts: Facts): boolean {
  const handler = Object.values(facts).find((fact) => fact.kind === 'handler');
  const outcome = handler?.result.ok === true ? handler.result.outcome : (command.outcome ?? 'ok');
  return outcome === 'ok' || outcome === 'iterate';
}

/**
 * Whether the work is to stand, so that what comes next is judged with its database. Where only the way tells, the
 * way is asked with it.
 */
function saysYes(run: Run, command: Command): boolean {
  if (command.kind !== 'decide') return false;
  const phase = phaseById(run.workflow, run.phase);
  const option = phase?.humanGate?.options.find(({ label }) => label === command.option);
  return phase !== undefined && option !== undefined && approvalOf(run.workflow, phase, option) !== 'no';
}

/** Events by which work is accepted, for good or until a human has decided. */
const TAKES_WORK: readonly RunEvent['type'][] = ['phase_completed', 'item_completed', 'gate_opened'];

/** As a crash is settled, too: by what the run says afterwards. An item that is open again has nothing to install. */
function fateOf(
  hash: string | null,
  before: Run,
  { after, item }: { readonly after: Run; readonly item: string | null },
): 'installed' | 'waits' | 'dropped' {
  if (hash === null) return 'dropped';
  if (waitingAt(after)?.hash === hash) return 'waits';
  if (item !== null && own(own(after.work.items, item), 'database') === hash) return 'installed';
  const since = after.completions.slice(before.completions.length);
  return since.some(({ database }) => database === hash) ? 'installed' : 'dropped';
}
