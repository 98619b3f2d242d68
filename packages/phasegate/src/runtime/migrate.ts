import {
  type Command,
  canonicalJson,
  type Decision,
  decide,
  type Json,
  type Phase,
  PhasegateError,
  type Principal,
  phaseById,
  type Run,
  type Workflow,
} from '@phasegate/core';
import { eventOfRecord, workspaceHold } from '@phasegate/core/engine';
import { shellWord, type Unaccepted } from '@phasegate/core/model';
import { provesReachable } from '@phasegate/proofs';
import { nameOf } from './auditDrafts.ts';
import { workspaceHolder } from './fence/workspaceHolder.ts';
import type {
  ArchiveStore,
  AuditStore,
  CatalogWorkflow,
  HumanStore,
  MigrationCard,
  Migrations,
  RunFinder,
  RunStore,
  StoredRun,
  TrustStore,
} from './ports.ts';
import { chainOf } from './recordings.ts';
import { demandRole } from './roles.ts';
import type { Runtime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { timeFor } from './timeFor.ts';
import { isLastAccepted } from './trust/acceptance.ts';
import { unknownRun } from './unknownRun.ts';

/** What migrations are built from. */
export interface MigrationParts extends Pick<RuntimeParts, 'catalog' | 'now'> {
  readonly store: ArchiveStore & AuditStore & HumanStore & RunFinder & RunStore & TrustStore;
  readonly runtime: Pick<Runtime, 'submit'>;
}

/** Migrates runs in flight. The one place that makes the command: the engine takes its word for what was proven. */
export function createMigrations(parts: MigrationParts): Migrations {
  const { store, catalog } = parts;

  async function load(runId: string): Promise<StoredRun> {
    const stored = await store.load(runId);
    if (stored !== undefined) return stored;
    throw await unknownRun(store, runId);
  }

  /** As at a start: the files may be made for this very run. */
  async function onDisk({ workflow, params, target }: Run): Promise<CatalogWorkflow & { trusted: boolean }> {
    const found = await catalog.load(workflow.id, { params, target }).catch((error: unknown) => {
      if (!(error instanceof PhasegateError) || error.code !== 'workflow_ambiguous') throw error;
      // A run knows its workflow by its id alone, so there is no file to be named here.
      const message = `several files define \`${workflow.id}\`, and the run does not say which is its own`;
      throw new PhasegateError('workflow_ambiguous', message, { cause: error, hint: 'phasegate list' });
    });
    return { ...found, trusted: await isLastAccepted(found.closure, store) };
  }

  async function commandFor(run: Run, found: Awaited<ReturnType<typeof onDisk>>) {
    const { workflow, hash, trusted, rulePlaces: places } = found;
    const records = await chainOf(store, run.id);
    const events = records.map(eventOfRecord).filter((event) => event !== null);
    const proof = provesReachable(workflow, run, events);
    const where = places === undefined ? {} : { places };
    return { kind: 'migrate', workflow, workflowHash: hash, trusted, proof, ...where } as const;
  }

  /** A run under way does not come to have a workspace to itself in which another one works. */
  async function demandWorkspace(run: Run): Promise<void> {
    const holder = workspaceHold(run) === null ? undefined : await workspaceHolder(store, run);
    if (holder === undefined) return;
    const message = `run \`${holder.run}\` of \`${holder.workflow}\` works in the same workspace, which the new workflow does not share`;
    throw new PhasegateError('not_permitted', message, {
      hint: `finish \`${holder.run}\` first, or say \`enforcement: { workspace: shared }\` in both workflows`,
    });
  }

  function decided(run: Run, command: Command, principal: Principal): Decision {
    return decide(run, command, { principal, now: timeFor(parts.now, run), facts: {} });
  }

  /** The command for a run as it is, where its files are those that a human names and has accepted. */
  async function accepted(run: Run, to: string, by: Principal): Promise<Command> {
    const refuse = async (path: string, unaccepted?: Unaccepted): Promise<never> => {
      const message = `no human has accepted \`${path}\` as it is now`;
      const data = { command: 'migrate', blockers: [{ code: 'untrusted_workflow', message }] };
      const event = 'command_refused' as const;
      await store.note(run.id, [{ time: timeFor(parts.now, run), principal: nameOf(by), event, data }]);
      const hint = `phasegate trust ${shellWord(run.workflow.id)}`;
      throw new PhasegateError('untrusted_workflow', message, { hint, ...(unaccepted && { unaccepted }) });
    };
    const found = await onDisk(run).catch((error: unknown) => {
      if (!(error instanceof PhasegateError) || error.unaccepted === undefined) throw error;
      return refuse(error.unaccepted.path, error.unaccepted);
    });
    requireHash(run, found, to);
    return found.trusted ? commandFor(run, found) : refuse(found.path);
  }

  return {
    async card(runId) {
      const { run } = await load(runId);
      const found = await onDisk(run);
      const command = await commandFor(run, found);
      const { verdict } = decided(run, command, { kind: 'human', name: 'anyone' });
      const { path, hash, trusted } = found;
      return {
        run: runId,
        workflow: run.workflow.id,
        path,
        from: run.workflowHash,
        to: hash,
        trusted,
        ...changesOf(run.workflow, found.workflow),
        verdict,
        trace: command.proof.reachable ? command.proof.trace : [],
      };
    },

    async migrate(runId, to, { principal }) {
      await demandRole(store, principal, { least: 'admin', what: 'moving a run to another workflow' });
      const make = async (run: Run) => {
        const command = await accepted(run, to, principal);
        if (command.kind === 'migrate') await demandWorkspace({ ...run, workflow: command.workflow });
        return command;
      };
      return (await parts.runtime.submit(runId, { make }, { principal })).submitted;
    },
  };
}

/** A beginning of a hash this long is nobody else's. */
const SHORTEST_HASH = 8;

/** INVARIANT: a human says which workflow it is to be, so that one that was edited meanwhile is not taken unseen. */
function requireHash(run: Run, { hash, path }: CatalogWorkflow, to: string): void {
  const hint = `phasegate migrate ${run.id}`;
  if (to.length < SHORTEST_HASH || !/^[0-9a-f]+$/.test(to)) {
    throw new PhasegateError('usage', `\`${to}\` is not a hash of a workflow, nor 8 or more digits of one`, {
      hint,
    });
  }
  if (hash.startsWith(to)) return;
  const message = `\`${path}\` now has the hash \`${hash}\`, which does not begin with \`${to}\``;
  throw new PhasegateError('workflow_unknown', message, { hint });
}

function changesOf(before: Workflow, after: Workflow): Pick<MigrationCard, 'phases' | 'besides'> {
  const gone = before.phases.filter(({ id }) => phaseById(after, id) === undefined);
  return {
    phases: [
      ...after.phases.map((phase) => ({
        phase: phase.id,
        change: changeOf(phaseById(before, phase.id), phase),
      })),
      ...gone.map(({ id }) => ({ phase: id, change: 'removed' as const })),
    ],
    besides: !same({ ...before, phases: [] }, { ...after, phases: [] }),
  };
}

function changeOf(before: Phase | undefined, after: Phase): 'added' | 'changed' | 'same' {
  if (before === undefined) return 'added';
  // Its number only says where it stands.
  return same({ ...before, number: 0 }, { ...after, number: 0 }) ? 'same' : 'changed';
}

function same(one: unknown, other: unknown): boolean {
  return canonicalJson(one as Json) === canonicalJson(other as Json);
}
