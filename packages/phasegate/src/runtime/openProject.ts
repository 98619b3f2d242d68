import { PhasegateError, type Run } from '@phasegate/core';
import { createKeptAnswers } from '../limits/keptAnswers.ts';
import { createAgents } from './agents.ts';
import { archiveRuns } from './archiveRuns.ts';
import { demandHere } from './boundFolder.ts';
import { createCallsUnderWay } from './callsUnderWay.ts';
import { createDatabaseBackups, NO_DATABASES } from './databaseBackups.ts';
import { endInOrder } from './endInOrder.ts';
import { createFeed } from './feed/feed.ts';
import { createChangesAtGate } from './fence/changesAtGate.ts';
import { createFencing } from './fence/fencing.ts';
import { createWorkspaceFence } from './fence/workspaceFence.ts';
import { createGates, createSignatures } from './gates.ts';
import { createGuard, restoredMessage } from './guard/guard.ts';
import { guardedChecks } from './guard/guardedChecks.ts';
import type { HookParts, HookSettings } from './hooks/hooks.ts';
import { createPauses } from './hooks/pauses.ts';
import type { ProofParts } from './hooks/proofs.ts';
import { allSessions } from './hooks/sessionList.ts';
import { sessionReports } from './hooks/sessionReports.ts';
import type { KeyDerivation } from './humanKeys.ts';
import { createClaims } from './leases/claims.ts';
import { createReleases } from './leases/releases.ts';
import { createRenewals } from './leases/renewals.ts';
import { lookingAgain } from './lookingAgain.ts';
import type { MigrationParts } from './migrate.ts';
import { createObserving } from './observing.ts';
import { createHumans } from './people.ts';
import type {
  AcceptedFiles,
  ConfiguredServer,
  Dependencies,
  Fence,
  GuardedFiles,
  HookedRing,
  Hooks,
  Migrations,
  OpenProject,
  Passkeys,
  ProofRecords,
  RangeRecords,
  Seal,
  ToolImplementation,
  Verifying,
} from './ports.ts';
import type { Processes } from './processes.ts';
import type { RangeRecordParts } from './range/rangeRecords.ts';
import { recordingsIn, refusedStartsIn } from './recordings.ts';
import { createRefusalNotes } from './refusalNotes.ts';
import { demandRole } from './roles.ts';
import { createRuntime } from './runtime.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { createSandboxes } from './sandboxes.ts';
import { createServerDuties } from './serverDuties.ts';
import { settling } from './settling.ts';
import type { Tokens } from './tokens/tokens.ts';
import { type AttachedTools, createToolbox } from './toolbox.ts';
import { createProjectTrust } from './trust/projectTrust.ts';
import { unknownRun } from './unknownRun.ts';
import { createReceiptList } from './verify/receiptList.ts';
import type { WatchSettings } from './watch.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export { decisionIsSigned } from './gates.ts';
export { createHumans } from './people.ts';

/** What an open project is built from: the runtime's parts, tokens, tools, and where backups go. */
export interface ProjectParts extends Omit<RuntimeParts, 'signed' | 'hear' | 'calls' | 'fence' | 'proving'> {
  /** Absolute path for a backup made without naming a file. */
  readonly backupFile: () => string;
  /** Absolute path for an archive made without naming a file. Default: one has to be named. */
  readonly archiveFile?: () => string;
  /** From `createTokens`, with `tokenSecretsOf(stateDir)` for secrets, so that a rotation is noticed. */
  readonly tokens: Tokens;
  /** How keys of humans are derived. Default: each with a salt of its own, and nothing remembered. */
  readonly keys?: KeyDerivation | undefined;
  /** Signs receipts. */
  readonly seal: Pick<Seal, 'sign' | 'verifySignature'>;
  /** The public half of what signs; absent: nobody elsewhere can check a signature. */
  readonly publicKey?: string;
  /** A key of its own that every node of the store has; absent where there is one server, which remembers sign-ins itself. */
  readonly nodesKey?: Uint8Array;
  /** Gives rooms in which the engine verifies; absent where there are none. */
  readonly verifying?: Verifying;
  /** The engine's own copies of dependencies; absent where there can be none. */
  readonly dependencies?: Dependencies;
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
  /** The files of workflows, and what was accepted of them; absent, no difference can be told. */
  readonly acceptedFiles?: AcceptedFiles;
  /** Measures the workspace; absent where runs have none. */
  readonly measuring?: Fence;
  readonly watching?: WatchSettings;
  /** Where clients' hooks are answered. Default: for the workspace alone. */
  readonly hooking?: () => Promise<HookSettings>;
  /** How processes are told apart. Default: as this machine does. */
  readonly processes?: Processes;
  /** What went wrong where nobody waits for an answer: renewals, the watch, deliveries. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/** A project with its store open: the runtime, its humans and agents, what is trusted, and the audit. */
export function createOpenProject(parts: ProjectParts): OpenProject {
  const { store, tokens } = parts;
  const works = createWorks(parts);
  const { load, now, means, runtime, calls, guard, trust, renewals, fence, hooked } = works;
  const refusals = createRefusalNotes(means);
  const stopping = new AbortController();
  const releases = createReleases({ store, runtime, calls, now: parts.now });
  const agents = createAgents({ store, now, releaseAll: releases.releaseAll });
  const feed = createFeed(store);
  const { toolbox, settled } = settling(
    createToolbox({
      ...parts,
      judge: runtime.judge,
      load,
      calls,
      guard,
      signal: stopping.signal,
      async note(runId, drafts) {
        await store.note(runId, drafts);
      },
    }),
  );
  const databases = parts.databases ?? NO_DATABASES;
  const sandboxes = createSandboxes(parts, async (runId) => {
    const run = await load(runId);
    demandHere(parts, run);
    return run;
  });
  const { watching, attach } = parts;
  const { end, ...server } = createServerDuties({
    ...means,
    steady: parts.steady,
    runtime,
    releases,
    agents,
    watching,
    attach,
    tokens,
    here: parts,
  });
  return {
    as: (principal, around) => runtime.as(principal, around),
    load,
    look: runtime.look,
    countRuns: () => store.countByStatus(),
    ...createGates(runtime, parts.masking),
    records: {
      runs: (of) => recordingsIn(store, load, of),
      refusedStarts: (closure) => refusedStartsIn(store, closure),
      lookingAgain: () => lookingAgain(parts),
    },
    migrations: lateMigrations({ ...parts, runtime }),
    fencing: createFencing({
      fence: parts.measuring,
      judged: fence,
      runtime,
      load,
      demand: (human) => demandRole(store, human, { least: 'approver', what: 'settling changed files' }),
      here: parts,
    }),
    changesAtGate: createChangesAtGate(parts.measuring, load),
    databases,
    databaseBackups: createDatabaseBackups({ store, databases, load, now }),
    trust,
    humans: createHumans(store, now, parts.keys),
    passkeys: latePasskeys(store, now),
    agents,
    claims: createClaims({
      ...means,
      runtime,
      tokens,
      renewals,
      refusals,
      releases,
      hooked,
      here: parts,
      checks: parts.checks,
    }),
    toolbox,
    sandboxes,
    observing: createObserving({ ...parts, load }),
    dependencies: dependenciesOf(parts),
    receipts: createReceiptList({ ...parts, load }),
    hooks: lateHooks({ ...parts, runtime, sandboxes }),
    proofs: lateProofs(parts),
    feed,
    answers: createKeptAnswers(parts.newId),
    webhooks: createWebhooks({ store, now }),
    server,
    // Loaded when asked for: only a server signs anybody in.
    signIns: async () => (await import('./signIns/signIns.ts')).createSignIns(parts),
    noteCredentialFailure: (data) => refusals.note({ run: null, principal: 'unknown', data }),
    guardedFiles: {
      keepFirst: () => guard.keepFirst(),
      hold: (runId) => guard.hold(runId),
      async settle(runId) {
        const restored = await guard.settle(runId);
        return restored.length === 0 ? null : restoredMessage(restored);
      },
    },
    ranges: lateRanges({ ...parts, now }),
    verifyAudit: (options) => store.verify(options),
    takesWrites: async () => (await store.takesWrites?.()) ?? true,
    backup: (file) => store.backup(file ?? parts.backupFile()),
    archiveFiles: async () => (await store.archiveFiles?.()) ?? [],
    archive: (wanted, human) => archiveRuns(parts, wanted, human),
    async close() {
      stopping.abort();
      feed.close();
      await endInOrder([settled, calls.settle, end, () => parts.functions.close(), () => store.close()]);
    },
  };
}

/** A project in memory has no folder to put any in. */
/** INVARIANT: what the engine will trust as a verifier's dependencies is chosen by an admin, by whatever door. */
function dependenciesOf({ store, dependencies = NO_DEPENDENCIES }: ProjectParts): Dependencies {
  return {
    list: () => dependencies.list(),
    async freeze(order, human) {
      await demandRole(store, human.principal, { least: 'admin', what: 'freezing dependencies' });
      return dependencies.freeze(order, human);
    },
  };
}

const NO_DEPENDENCIES: Dependencies = {
  list: async () => [],
  async freeze() {
    throw new PhasegateError('deps_not_frozen', 'this project has no folder for dependencies of its own');
  },
};

/** The runtime with what it stands on: leases, calls under way, what is trusted, and the guard's own files. */
function createWorks(parts: ProjectParts) {
  const { store } = parts;
  const onError = parts.onError ?? (() => undefined);
  const now = () => new Date(parts.now()).toISOString();
  const means = { store, now: parts.now, onError };
  const renewals = createRenewals(means);
  const calls = createCallsUnderWay({ ...parts, onError });
  const trust = createProjectTrust({ ...parts, now });

  async function load(runId: string): Promise<Run> {
    const stored = await store.load(runId);
    if (stored === undefined) throw await unknownRun(store, runId);
    return stored.run;
  }

  const asksHuman = async () => (await store.humans()).length > 0;
  const guard = createGuard({
    files: parts.guarded,
    load,
    accepted: trust.guarded.isAccepted,
    asksHuman,
    note: async (runId, drafts) => void (await store.note(runId, drafts)),
    now: parts.now,
  });
  const { measuring: files } = parts;
  const accepted = trust.guarded.isAccepted;
  const fence =
    files === undefined ? undefined : createWorkspaceFence({ fence: files, store, accepted, asksHuman });
  const hooked = lateHookedRing(parts);
  const runtime = createRuntime({
    ...parts,
    ...(fence === undefined ? {} : { fence }),
    ...createSignatures(store),
    checks: async () => guardedChecks(await parts.checks(), guard),
    calls,
    guard,
    hear: renewals.hear,
    hooked,
    proving: parts,
  });
  return { load, now, means, runtime, calls, guard, trust, renewals, fence, hooked };
}

/** Loaded when asked for: few processes are a client's hooks answered by. */
function lateHooks(parts: Omit<HookParts, 'settings'> & Pick<ProjectParts, 'hooking' | 'workspace'>): Hooks {
  let built: Promise<Pick<Hooks, 'handle'>> | undefined;
  const hooks = () => {
    built ??= Promise.all([
      import('./hooks/hooks.ts'),
      parts.hooking?.() ?? settingsFor(parts.workspace),
    ]).then(([{ createHooks }, settings]) => createHooks({ ...parts, settings }));
    return built;
  };
  return {
    handle: async (event) => (await hooks()).handle(event),
    // At hand: `status` asks, and is not to load the rest.
    sessions: () => allSessions(parts.store),
    reports: (session, run) => sessionReports(parts.store, session, run),
    ...createPauses(parts),
  };
}

function lateProofs(parts: ProofParts & Pick<ProjectParts, 'hooking'>): ProofRecords {
  const records = async () => {
    const { createProofRecords } = await import('./hooks/proofs.ts');
    return createProofRecords(parts, (await parts.hooking?.())?.lookAgain);
  };
  return {
    keep: async (proof) => (await records()).keep(proof),
    all: async () => (await records()).all(),
  };
}

/** Loaded when a workflow asks for hooks. */
function lateHookedRing(parts: ProofParts & Pick<ProjectParts, 'hooking' | 'store'>): HookedRing {
  let built: Promise<HookedRing> | undefined;
  const ring = () => {
    built ??= Promise.all([
      import('./hooks/hookedRuns.ts'),
      import('./hooks/proofs.ts'),
      parts.hooking?.(),
    ]).then(([{ createHookedRing }, { createProofs }, settings]) => {
      const proofs = createProofs(parts, settings?.lookAgain ?? (async () => null));
      return createHookedRing({ ...parts, proofs });
    });
    return built;
  };
  return {
    takeStart: async (workflow) => (await ring()).takeStart(workflow),
    problem: async (run, isAtWork) => (await ring()).problem(run, isAtWork),
    enclosed: async (run, agent) => (await ring()).enclosed(run, agent),
  };
}

/** Where nothing is said: the workspace alone, and no program of ours. */
function settingsFor(workspace: string): HookSettings {
  return {
    home: workspace,
    workspaceOf: () => workspace,
    closed: [],
    program: ['phasegate'],
    file: '',
    path: '',
    isSetUp: async () => true,
  };
}

/** Loaded when asked for: pages ask, and no other door. */
function latePasskeys(store: ProjectParts['store'], now: () => string): Passkeys {
  const passkeys = async () => (await import('./passkeys/passkeys.ts')).createPasskeys(store, now);
  return {
    list: async () => (await passkeys()).list(),
    add: async (added, by) => (await passkeys()).add(added, by),
    remove: async (id, by) => (await passkeys()).remove(id, by),
    challenge: async (text, nonce) => (await passkeys()).challenge(text, nonce),
    prove: async (human, act, assertion) => (await passkeys()).prove(human, act, assertion),
  };
}

/** Loaded when asked for: few processes judge commits. */
function lateRanges(parts: RangeRecordParts): RangeRecords {
  const records = async () => (await import('./range/rangeRecords.ts')).createRangeRecords(parts);
  return {
    established: async () => (await records()).established(),
    keys: async () => (await records()).keys(),
    sign: async (text) => (await records()).sign(text),
    attest: async (attestation, files) => (await records()).attest(attestation, files),
  };
}

/** Loaded when asked for: the proof needs all of `check`, and few processes migrate a run. */
function lateMigrations(parts: MigrationParts): Migrations {
  const migrations = async () => (await import('./migrate.ts')).createMigrations(parts);
  return {
    card: async (runId) => (await migrations()).card(runId),
    migrate: async (runId, to, human) => (await migrations()).migrate(runId, to, human),
  };
}
