import { type JsonObject, PhasegateError, type Run } from '@phasegate/core';
import { decisionText } from '@phasegate/core/contract';
import type { GateDecision } from '@phasegate/core/engine';
import { createKeptAnswers } from '../limits/keptAnswers.ts';
import { createAgents } from './agents.ts';
import { nameOf } from './auditDrafts.ts';
import { createCallsUnderWay } from './callsUnderWay.ts';
import { createDatabaseBackups, NO_DATABASES } from './databaseBackups.ts';
import { createFeed } from './feed/feed.ts';
import { createGuard, restoredMessage } from './guard/guard.ts';
import { guardedChecks } from './guard/guardedChecks.ts';
import { verifyHumanSignature } from './humanKeys.ts';
import { createClaims } from './leases/claims.ts';
import { createReleases } from './leases/releases.ts';
import { createRenewals } from './leases/renewals.ts';
import { lookingAgain } from './lookingAgain.ts';
import { createHumans } from './people.ts';
import type {
  ConfiguredServer,
  GuardedFiles,
  HumanRecord,
  Migrations,
  OpenProject,
  Seal,
  StoredRun,
  ToolImplementation,
} from './ports.ts';
import type { Processes } from './processes.ts';
import { recordingsIn, refusedStartsIn } from './recordings.ts';
import { createRefusalNotes } from './refusalNotes.ts';
import { createRuntime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import type { Tokens } from './tokens/tokens.ts';
import { type AttachedTools, createToolbox } from './toolbox.ts';
import { createProjectTrust } from './trust/projectTrust.ts';
import { keepWatch, type Watch, type WatchSettings } from './watch.ts';
import { createDelivery } from './webhooks/webhookDelivery.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export { createHumans } from './people.ts';

/** What an open project is built from: the runtime's parts, tokens, tools, and where backups go. */
export interface ProjectParts extends Omit<RuntimeParts, 'signed' | 'hear' | 'calls'> {
  /** Absolute path for a backup made without naming a file. */
  readonly backupFile: () => string;
  /** From `createTokens`, with `tokenSecretsOf(stateDir)` for secrets, so that a rotation is noticed. */
  readonly tokens: Tokens;
  /** Signs receipts. */
  readonly seal: Pick<Seal, 'sign'>;
  /** The tools that can be carried out, asked for when the first call comes. */
  readonly tools: () => Promise<readonly ToolImplementation[]>;
  /** Tools of attached servers. */
  readonly attached?: AttachedTools;
  /** Starts the servers that the config names. */
  readonly attach?: () => Promise<void>;
  /** The servers that the config names; none where there is no config. */
  readonly servers?: () => Promise<readonly ConfiguredServer[]>;
  /** The guard's own files in the workspace. */
  readonly guarded?: GuardedFiles;
  readonly watching?: WatchSettings;
  /** How processes are told apart. Default: as this machine does. */
  readonly processes?: Processes;
  /** What went wrong where nobody waits for an answer: renewals, the watch, deliveries. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/** A project with its store open: the runtime, its humans and agents, what is trusted, and the audit. */
export function createOpenProject(parts: ProjectParts): OpenProject {
  const { store, tokens } = parts;
  const onError = parts.onError ?? (() => undefined);
  const now = () => new Date(parts.now()).toISOString();
  const means = { store, now: parts.now, onError };
  const renewals = createRenewals(means);
  const refusals = createRefusalNotes(means);
  const calls = createCallsUnderWay({ ...parts, onError });
  const stopping = new AbortController();
  const watches = new Set<Watch>();
  const trust = createProjectTrust({ ...parts, now });
  const guard = createGuard({
    files: parts.guarded,
    load,
    accepted: trust.guarded.isAccepted,
    asksHuman: async () => (await store.humans()).length > 0,
    note: async (runId, drafts) => void (await store.note(runId, drafts)),
    now: parts.now,
  });
  const runtime = createRuntime({
    ...parts,
    checks: async () => guardedChecks(await parts.checks(), guard),
    calls,
    guard,
    hear: renewals.hear,
    async signed(run, principal, command) {
      const human = (await store.humans()).find((record) => record.name === principal.name);
      if (human === undefined) return false;
      const { gate, option, input = null, shown, signature } = command;
      return decisionIsSigned(run, { gate, option, input, shown, by: principal.name, signature }, [human]);
    },
    async voided(run) {
      const votes = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.votes : [];
      const humans = votes.length === 0 ? [] : await store.humans();
      return votes.flatMap((vote, place) => (decisionIsSigned(run, vote, humans) ? [] : [place]));
    },
  });
  const releases = createReleases({ store, runtime, calls, now: parts.now });
  const agents = createAgents({ store, now, releaseAll: releases.releaseAll });
  const feed = createFeed(store);
  const databases = parts.databases ?? NO_DATABASES;
  // A card that was shown stands for the run it was made of, for as long as somebody has it.
  const madeOf = new WeakMap<JsonObject, StoredRun>();

  // Loaded when asked for: the proof needs all of `check`, and few processes migrate a run.
  async function migrations(): Promise<Migrations> {
    const { createMigrations } = await import('./migrate.ts');
    return createMigrations({ ...parts, runtime });
  }

  function watch(): { stop(): Promise<void> } {
    const settings = parts.watching ?? {};
    const delivery = createDelivery(means);
    const watch = keepWatch({ ...means, runtime, releases, agents, settings, delivery });
    watches.add(watch);
    return {
      async stop() {
        watches.delete(watch);
        await watch.stop();
      },
    };
  }

  async function load(runId: string): Promise<Run> {
    const stored = await store.load(runId);
    if (stored === undefined) throw new PhasegateError('run_unknown', `there is no run \`${runId}\``);
    return stored.run;
  }

  return {
    as: (principal, around) => runtime.as(principal, around),
    load,
    async gateCard(runId) {
      const found = await runtime.card(runId);
      if (found === null) return null;
      const { card, shown, of } = found;
      if (of !== undefined) madeOf.set(card, of);
      return { card, shown, gate: String(card.gate) };
    },
    decide(runId, { gate, option, input, shown, card }, { principal, sign }) {
      const text = decisionText({
        run: runId,
        gate,
        option,
        input: input ?? null,
        shown,
        by: principal.name,
      });
      const said = input === undefined ? {} : { input };
      const command = { kind: 'decide' as const, gate, option, ...said, shown, signature: sign(text) };
      const of = card === undefined ? undefined : madeOf.get(card);
      const loaded = of?.run.id === runId ? of : undefined;
      return runtime.as(principal, { loaded }).submit(runId, command);
    },
    records: {
      runs: (of) => recordingsIn(store, load, of),
      refusedStarts: (closure) => refusedStartsIn(store, closure),
      lookingAgain: () => lookingAgain(parts),
    },
    migrations: {
      card: async (runId) => (await migrations()).card(runId),
      migrate: async (runId, to, human) => (await migrations()).migrate(runId, to, human),
    },
    databases,
    databaseBackups: createDatabaseBackups({ store, databases, load, now }),
    trust,
    humans: createHumans(store, now),
    agents,
    claims: createClaims({ store, runtime, tokens, renewals, refusals, releases, now: parts.now }),
    toolbox: createToolbox({
      ...parts,
      judge: runtime.judge,
      load,
      calls,
      endCall: store.endCall,
      guard,
      signal: stopping.signal,
      async note(runId, drafts) {
        await store.note(runId, drafts);
      },
    }),
    feed,
    answers: createKeptAnswers(parts.newId),
    webhooks: createWebhooks({ store, now }),

    server: {
      async note(event, principal, data) {
        await store.note(null, [{ time: now(), principal: nameOf(principal), event, data }]);
      },
      watch,
      attachServers: async () => parts.attach?.(),
    },
    noteCredentialFailure: (data) => refusals.note({ run: null, principal: 'unknown', data }),

    guardedFiles: {
      hold: (runId) => guard.hold(runId),
      async settle(runId) {
        const restored = await guard.settle(runId);
        return restored.length === 0 ? null : restoredMessage(restored);
      },
    },

    verifyAudit: () => store.verify(),
    backup: (file) => store.backup(file ?? parts.backupFile()),
    async close() {
      stopping.abort();
      feed.close();
      await Promise.all([...watches].map((watch) => watch.stop()));
      await parts.functions.close();
      await store.close();
    },
  };
}

/** Whether a decision carries the signature of the human it names. A decision is its signature, not its row. */
export function decisionIsSigned(
  run: Pick<Run, 'id'>,
  decision: Omit<GateDecision, 'at'>,
  humans: readonly HumanRecord[],
): boolean {
  const { gate, option, input, shown, by, signature } = decision;
  const text = decisionText({ run: run.id, gate, option, input, shown, by });
  // Whoever was removed and added again has a key for each time.
  return humans
    .filter((record) => record.name === by)
    .some(({ publicKey }) => verifyHumanSignature(publicKey, text, signature));
}
