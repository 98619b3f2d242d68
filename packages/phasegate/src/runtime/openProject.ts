import { canonicalJson, PhasegateError, type Run } from '@phasegate/core';
import type { GateDecision } from '@phasegate/core/engine';
import type { Unaccepted } from '@phasegate/core/model';
import { createKeptAnswers } from '../limits/keptAnswers.ts';
import { isAccepted, isLastAccepted, trustText } from './acceptance.ts';
import { createAgents } from './agents.ts';
import { nameOf } from './auditDrafts.ts';
import { backupOnRecord } from './backupOnRecord.ts';
import { createCallsUnderWay } from './callsUnderWay.ts';
import { createClaims } from './claims.ts';
import { createFeed } from './feed.ts';
import { createGuard, restoredMessage } from './guard.ts';
import { guardedChecks } from './guardedChecks.ts';
import { createGuardedTrust } from './guardedTrust.ts';
import { verifyHumanSignature } from './humanKeys.ts';
import { lookingAgain } from './lookingAgain.ts';
import { createNestedTrust } from './nestedTrust.ts';
import { createHumans } from './people.ts';
import type {
  ConfiguredServer,
  DatabaseBackup,
  Databases,
  GuardedFiles,
  HumanRecord,
  Migrations,
  OpenProject,
  Seal,
  ToolImplementation,
  TrustCard,
  TrustRecord,
  UnlockedHuman,
} from './ports.ts';
import type { Processes } from './processes.ts';
import { recordingsIn, refusedStartsIn } from './recordings.ts';
import { createRefusalNotes } from './refusalNotes.ts';
import { createReleases } from './releases.ts';
import { createRenewals } from './renewals.ts';
import { createRuntime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { createServerTrust } from './serverTrust.ts';
import type { Tokens } from './tokens.ts';
import { type AttachedTools, createToolbox } from './toolbox.ts';
import { keepWatch, type Watch, type WatchSettings } from './watch.ts';
import { createDelivery } from './webhookDelivery.ts';
import { createWebhooks } from './webhooks.ts';

export { createHumans } from './people.ts';

/** What an open project is built from: the runtime's parts, tokens, tools, and where backups go. */
export interface ProjectParts extends Omit<RuntimeParts, 'signed' | 'heard' | 'calls'> {
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
  const { store, catalog, tokens } = parts;
  const onError = parts.onError ?? (() => undefined);
  const now = () => new Date(parts.now()).toISOString();
  const means = { store, now: parts.now, onError };
  const renewals = createRenewals(means);
  const refusals = createRefusalNotes(means);
  const calls = createCallsUnderWay({ ...parts, onError });
  const stopping = new AbortController();
  const watches = new Set<Watch>();
  const accepted = (trust: TrustRecord) => isAccepted(trust, store);
  const guardedTrust = createGuardedTrust({
    store,
    files: parts.guarded,
    isPartOfWorkflow: acceptedFile,
    keep: keepTrust,
    isSigned: accepted,
    hash: parts.hash,
  });
  const guard = createGuard({
    files: parts.guarded,
    load,
    accepted: guardedTrust.isAccepted,
    asksHuman: async () => (await store.humans()).length > 0,
    note: async (runId, drafts) => void (await store.note(runId, drafts)),
    now: parts.now,
  });
  const runtime = createRuntime({
    ...parts,
    checks: async () => guardedChecks(await parts.checks(), guard),
    calls,
    guard,
    heard: renewals.heard,
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

  async function keepTrust(
    human: UnlockedHuman,
    what: Pick<TrustRecord, 'hash' | 'workflow' | 'files'>,
  ): Promise<TrustRecord> {
    const [by, at] = [human.principal.name, now()];
    const signature = human.sign(trustText({ hash: what.hash, workflow: what.workflow, by, at }));
    const trust: TrustRecord = { ...what, by, at, signature };
    const data = { workflow: trust.workflow, closure: trust.hash, signature };
    await store.putTrust(trust, [{ time: at, principal: `human:${by}`, event: 'workflow_trusted', data }]);
    return trust;
  }

  const nestedTrust = createNestedTrust({ store, keep: keepTrust, accepted, hash: parts.hash });
  const serverTrust = createServerTrust({
    store,
    servers: parts.servers ?? (async () => []),
    keep: keepTrust,
    accepted,
    hash: parts.hash,
  });

  // Loaded when asked for: the proof needs all of `check`, and few processes migrate a run.
  async function migrations(): Promise<Migrations> {
    const { createMigrations } = await import('./migrate.ts');
    return createMigrations({ ...parts, runtime });
  }

  /** Whether the newest acceptance of a workflow of the project has this file with this content. */
  async function acceptedFile(path: string, digest: string): Promise<boolean> {
    for (const { id } of await catalog.list()) {
      const trust = await store.trustedBefore(id);
      if (trust !== undefined && trust.files[path] === digest && (await accepted(trust))) return true;
    }
    return false;
  }

  async function load(runId: string): Promise<Run> {
    const stored = await store.load(runId);
    if (stored === undefined) throw new PhasegateError('run_unknown', `there is no run \`${runId}\``);
    return stored.run;
  }

  /** A workflow's files: of code that nobody accepted, what can be read without running it. */
  async function readable(name: string): Promise<Unaccepted> {
    try {
      const { workflow, path, closure, files } = await catalog.load(name);
      return { workflow: workflow.id, path, closure, files };
    } catch (error) {
      if (error instanceof PhasegateError && error.unaccepted !== undefined) return error.unaccepted;
      throw error;
    }
  }

  return {
    as: (principal, around) => runtime.as(principal, around),
    load,
    recordings: (of) => recordingsIn(store, load, of),
    refusedStarts: (closure) => refusedStartsIn(store, closure),
    lookingAgain: () => lookingAgain(parts),
    databases,
    async backUpFor(runId) {
      const { workflow } = await load(runId);
      if (workflow.database === undefined) return null;
      const backup = await databases.backup(runId, workflow.database);
      const { file } = workflow.database;
      const data = { run: runId, id: backup.id, file, path: backup.path, ...hashOf(backup) };
      const event = 'user_database_backed_up' as const;
      await store.putBackup(backup, [{ time: now(), principal: 'engine:phasegate', event, data }]);
      return backup;
    },
    databaseBackups: () => store.databaseBackups(),
    async restoreDatabase(backupId, human) {
      const backup = (await store.databaseBackups()).find(({ id }) => id === backupId);
      const database = backup?.run == null ? undefined : (await load(backup.run)).workflow.database;
      if (backup === undefined || database === undefined) {
        throw new PhasegateError('usage', `there is no backup \`${backupId}\` of a run's database`, {
          hint: 'phasegate database backups',
        });
      }
      // Linked to the same run, so that what was there before can be found and put back as well.
      const onRecord = await backupOnRecord(store, backup);
      const before = { ...(await databases.restore(onRecord, database)), run: backup.run };
      const { file } = database;
      const data = { backup: backup.id, run: backup.run, file, before: before.id, ...hashOf(before) };
      const event = 'user_database_restored' as const;
      const note = { time: now(), principal: `human:${human.principal.name}`, event, data };
      if (before.id === backup.id) await store.note(null, [note]);
      else await store.putBackup(before, [note]);
      return before;
    },
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
    migrationCard: async (runId) => (await migrations()).migrationCard(runId),
    migrate: async (runId, to, human) => (await migrations()).migrate(runId, to, human),
    webhooks: createWebhooks({ store, now }),

    noteCredentialFailure: (data) => refusals.note({ run: null, principal: 'unknown', data }),

    async noteServer(event, principal, data) {
      await store.note(null, [{ time: now(), principal: nameOf(principal), event, data }]);
    },

    watch() {
      const settings = parts.watching ?? {};
      const watch = keepWatch({
        ...means,
        runtime,
        releases,
        agents,
        settings,
        delivery: createDelivery(means),
      });
      watches.add(watch);
      return {
        async stop() {
          watches.delete(watch);
          await watch.stop();
        },
      };
    },

    async gateCard(runId) {
      const found = await runtime.card(await load(runId));
      return found === null ? null : { ...found, gate: String(found.card.gate) };
    },

    async trustCard(name): Promise<TrustCard> {
      const { workflow, path, closure, files } = await readable(name);
      const trusted = await isLastAccepted(closure, store);
      const before = (await store.trustedBefore(workflow))?.files ?? {};
      const paths = [...new Set([...Object.keys(before), ...Object.keys(files)])].sort();
      const shown = paths.map((file) => ({
        path: file,
        change: changeOf(before[file], files[file]),
        sha256: files[file] ?? null,
      }));
      return { workflow, path, closure, trusted, files: shown };
    },

    async trust(name, closure, human): Promise<TrustRecord> {
      const { workflow, path, closure: hash, files } = await readable(name);
      if (hash !== closure) {
        throw new PhasegateError('untrusted_workflow', `\`${path}\` changed since it was shown; look again`, {
          hint: `phasegate trust ${workflow}`,
        });
      }
      return keepTrust(human, { hash, workflow, files });
    },

    serverCards: () => serverTrust.cards(),
    trustServer: (name, hash, human) => serverTrust.trust(name, hash, human),
    guardedCards: () => guardedTrust.cards(),
    trustGuarded: (path, hash, human) => guardedTrust.trust(path, hash, human),
    guardedFiles: {
      hold: (runId) => guard.hold(runId),
      async settle(runId) {
        const restored = await guard.settle(runId);
        return restored.length === 0 ? null : restoredMessage(restored);
      },
    },
    mayEnter: (folder) => nestedTrust.mayEnter(folder),
    trustNested: (folder, human) => nestedTrust.trust(folder, human),
    trustWorktree: (folder, human) => nestedTrust.trust(folder, human),
    attachServers: async () => undefined,

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
  const text = canonicalJson({ run: run.id, gate, option, input, shown, by });
  // Whoever was removed and added again has a key for each time.
  return humans
    .filter((record) => record.name === by)
    .some(({ publicKey }) => verifyHumanSignature(publicKey, text, signature));
}

function changeOf(
  before: string | undefined,
  after: string | undefined,
): TrustCard['files'][number]['change'] {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return before === after ? 'same' : 'changed';
}

function hashOf({ sha256 }: DatabaseBackup): { readonly sha256?: string } {
  return sha256 === undefined ? {} : { sha256 };
}

/** Stands where nobody gave a way to authors' databases: every use of one is refused. */
const NO_DATABASES: Databases = {
  begin: async () => refuseDatabase(),
  waiting: async () => refuseDatabase(),
  drop: async () => undefined,
  recover: async () => undefined,
  backup: async () => refuseDatabase(),
  restore: async () => refuseDatabase(),
  migrate: async () => refuseDatabase(),
  protect: async () => undefined,
  protection: async () => () => false,
};

function refuseDatabase(): never {
  throw new PhasegateError('usage', 'this project was opened without a way to databases of workflows');
}
