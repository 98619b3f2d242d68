import {
  answerFor,
  type Command,
  canonicalJson,
  type Decision,
  decide,
  eventOfRecord,
  type Json,
  type Phase,
  PhasegateError,
  type Principal,
  phaseById,
  provesReachable,
  type Run,
  type Submitted,
  viewFor,
  type Workflow,
} from '@phasegate/core';
import { drafts, nameOf } from './auditDrafts.ts';
import type { InFlight } from './inFlight.ts';
import type { CatalogWorkflow, MigrationCard, Migrations, Store, StoredRun } from './ports.ts';
import { chainOf } from './recordings.ts';
import type { Rendering } from './rendering.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** What migrations are built from. */
export interface MigrationParts extends Pick<RuntimeParts, 'catalog' | 'accepted' | 'now'> {
  readonly store: Store;
  readonly inFlight: InFlight;
  readonly renderSaved: Rendering['renderSaved'];
}

/** Migrates runs in flight. The one place that makes the command: the engine takes its word for what was proven. */
export function createMigrations(parts: MigrationParts): Migrations {
  const { store, catalog, inFlight } = parts;

  async function load(runId: string): Promise<StoredRun> {
    const stored = await store.load(runId);
    if (stored !== undefined) return stored;
    throw new PhasegateError('run_unknown', `there is no run \`${runId}\``, { hint: 'phasegate runs' });
  }

  /** As at a start: the files may be made for this very run. */
  async function onDisk({ workflow, params, target }: Run): Promise<CatalogWorkflow & { trusted: boolean }> {
    const found = await catalog.load(workflow.id, { params, target }).catch((error: unknown) => {
      if (!(error instanceof PhasegateError) || error.code !== 'workflow_ambiguous') throw error;
      // A run knows its workflow by its id alone, so there is no file to be named here.
      const message = `several files define \`${workflow.id}\`, and the run does not say which is its own`;
      throw new PhasegateError('workflow_ambiguous', message, { cause: error, hint: 'phasegate list' });
    });
    const trust = await store.trusted(found.closure);
    return { ...found, trusted: trust !== undefined && (await parts.accepted(trust)) };
  }

  async function commandFor(run: Run, { workflow, hash, trusted }: Awaited<ReturnType<typeof onDisk>>) {
    const records = await chainOf(store, run.id);
    const events = records.map(eventOfRecord).filter((event) => event !== null);
    const proof = provesReachable(workflow, run, events);
    return { kind: 'migrate', workflow, workflowHash: hash, trusted, proof } as const;
  }

  /** INVARIANT: time never goes back past what the run has seen. */
  function timeFor({ updatedAt }: Run): string {
    const clock = new Date(parts.now()).toISOString();
    return updatedAt > clock ? updatedAt : clock;
  }

  function decided(run: Run, command: Command, principal: Principal): Decision {
    return decide(run, command, { principal, now: timeFor(run), facts: {} });
  }

  /** A refusal changes nothing, and is on record all the same. */
  async function noteRefused(run: Run, principal: Principal, blockers: Json): Promise<void> {
    const data = { command: 'migrate', blockers };
    const event = 'command_refused' as const;
    await store.note(run.id, [{ time: timeFor(run), principal: nameOf(principal), event, data }]);
  }

  /** Null where someone else changed the run meanwhile: what was proven was proven of another state. */
  async function attempt({ run, version }: StoredRun, to: string, by: Principal): Promise<Submitted | null> {
    const found = await onDisk(run);
    requireHash(run, found, to);
    if (!found.trusted) {
      const message = `no human has accepted \`${found.path}\` as it is now`;
      await noteRefused(run, by, [{ code: 'untrusted_workflow', message }]);
      throw new PhasegateError('untrusted_workflow', message, { hint: `phasegate trust ${run.workflow.id}` });
    }
    const command = await commandFor(run, found);
    const decision = decided(run, command, by);
    const { verdict, events } = decision;
    if (!verdict.allowed) {
      // The chain may have grown since the run was read, and the two together are no state at all.
      if ((await load(run.id)).version !== version) return null;
      const blockers = verdict.blockers.map(({ code, message }) => ({ code, message }));
      await noteRefused(run, by, blockers);
    } else if (!(await store.save(decision.run, version, drafts(events, by, { command, facts: {} })))) {
      return null;
    }
    const rendered = await parts.renderSaved(decision.run, by);
    const answer = answerFor(run, command, decision);
    return { verdict, view: viewFor(decision.run, by, rendered), answer };
  }

  return {
    async migrationCard(runId) {
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
      // What the old workflow allowed must not go on under the new one.
      const reopen = await inFlight.close(runId, GRACE_MS);
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          const submitted = await attempt(await load(runId), to, principal);
          if (submitted !== null) return submitted;
        }
      } finally {
        reopen();
      }
      throw new PhasegateError(
        'run_changed',
        `run \`${runId}\` was changed by someone else at the same time`,
        {
          hint: `phasegate status ${runId}`,
        },
      );
    },
  };
}

/** How long allowed calls may go on once their workflow is to be replaced. */
const GRACE_MS = 5_000;
const ROUNDS = 3;
/** A beginning of a hash this long is nobody else's. */
const SHORTEST_HASH = 8;

/** INVARIANT: a human says which workflow it is to be, so that one that was edited meanwhile is not taken unseen. */
function requireHash(run: Run, { hash, path }: CatalogWorkflow, to: string): void {
  const hint = `phasegate migrate ${run.id}`;
  if (to.length < SHORTEST_HASH || !/^[0-9a-f]+$/.test(to)) {
    throw new PhasegateError('usage', `\`${to}\` is no hash of a workflow, nor 8 or more digits of one`, {
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
