import { hash, hkdfSync } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import {
  acceptingFolders,
  hasStateIn,
  namedFolder,
  requireAcceptedWorktree,
  requireSamePlace,
  stateOf,
} from './acceptedFolders.ts';
import { BOOT_CLOCK } from './bootClock.ts';
import { databaseAddress, placeOf } from './config/databaseAddress.ts';
import { measuresFolder } from './config/measuresFolder.ts';
import { refuseUnsupported } from './config/refuseUnsupported.ts';
import { sharedKeysFile } from './config/sharedKeys.ts';
import {
  isMarkedProject,
  loadConfig,
  ownStateDir,
  realpathOfExisting,
  stateDirFor,
  worktreeRecordIn,
} from './config.ts';
import { enterProject, requireAcceptedNested } from './enterProject.ts';
import { lazyAnchors } from './lazyAnchors.ts';
import { lazy, lazyPort } from './lazyPort.ts';
import { lazyRanges } from './lazyRanges.ts';
import { listingFile } from './listingFile.ts';
import { configuredServers, lazyServers } from './localAttached.ts';
import { lazyDatabases } from './localDatabases.ts';
import { lazyFence } from './localFence.ts';
import { lazyAcceptedFiles, lazyGuardedFiles } from './localGuarded.ts';
import { maskingFor } from './localMasking.ts';
import { lazySandbox } from './localSandbox.ts';
import { lazyStandards } from './localStandards.ts';
import {
  DATABASE,
  isInFile,
  makeFolders,
  openFile,
  openState,
  type StatePlace,
  sealFor,
} from './localStore.ts';
import { lazyVerify } from './localVerify.ts';
import { newRunId } from './newRunId.ts';
import { createCodeGate, type ProjectGate } from './runtime/codeGate.ts';
import type { KeyDerivation } from './runtime/humanKeys.ts';
import type { ProjectKeys } from './runtime/keys.ts';
import { hasWorkflows } from './runtime/listing/hasWorkflows.ts';
import type { ListingIndex } from './runtime/listing/listingIndex.ts';
import type { Catalog, CodeGate, Functions, OpenProject, Project } from './runtime/ports.ts';

/** Where a project is looked for, and in which environment. */
export interface LocalProjectOptions {
  /** Default: the nearest folder upward that is a project, else the current one. */
  readonly projectDir?: string;
  /** Opened to look at it or to set it up: also where no human of a project around it has accepted it. */
  readonly anywhere?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether code may be run. Default: as the humans of this project accepted. */
  readonly codeGate?: CodeGate;
  /** How keys of humans are derived. Default: each with a salt of its own, and nothing remembered. */
  readonly keys?: KeyDerivation;
}

/**
 * Puts a project on this machine together from all the rooms. Rooms are imported when they are first needed:
 * completing a phase must not pay for loading YAML, and validating a file must not pay for opening a database.
 */
export async function openLocalProject({ projectDir, env, ...given }: LocalProjectOptions): Promise<Project> {
  const at = async (folder: string) =>
    (await openLocalProject({ projectDir: folder, env, anywhere: true })).open();
  await requireSamePlace(projectDir ?? namedFolder(env), { env, open: at });
  const { root, notes } =
    projectDir === undefined
      ? await enterProject(process.cwd(), { env, open: at })
      : // A link could lead elsewhere by the time checks are looked at, and the state is that of where it leads now.
        { root: realpathOfExisting(resolve(projectDir)), notes: [] };
  await requireAcceptedWorktree(root, { env, open: at });
  let database: string | undefined;
  // Asked for when it is needed: reading a definition in a folder that can have no state is no mistake.
  const where: Where = {
    root,
    env,
    get stateDir() {
      return stateDirFor(root, env);
    },
  };
  const { gate, opened } = createCodeGate({
    hasState: () => hasStateIn(stateOf(root, env)),
    openStore: async () => (await openState({ ...where, database })).store,
  });
  // Without `--project` it was found by going through every project around it.
  const demandAccepted = async () => {
    if (projectDir !== undefined) await requireAcceptedNested(root, { env, open: at });
  };
  const codeGate = given.codeGate ?? {
    ...gate,
    async refusal(code) {
      await demandAccepted();
      return gate.refusal(code);
    },
  };
  const functions: Functions = lazyPort(
    lazy(async () =>
      (await import('./loaders/typescript/functionHost.ts')).createFunctions({
        root,
        gate: codeGate,
        // In a folder that can have no state, nothing has to be hidden either.
        sandboxing: lazySandbox({ root, env, stateDir: stateOf(root, env) }),
      }),
    ),
    { calls: ['call'], ends: ['close'] },
  );
  const standards = lazyStandards(where);
  const sources = lazy(async () => (await import('@phasegate/markdown/tasks-md')).createSourceParsers()).get;
  const index = listingFile({
    root,
    stateDir: () => (hasStateIn(stateOf(root, env)) ? where.stateDir : null),
    seal: (stateDir) => sealFor({ root, stateDir, env }),
  });
  const catalog: Catalog = lazyPort(
    lazy(() => makeCatalog(root, { functions, standards, sources, index })),
    { calls: ['list', 'describe', 'load', 'validate'] },
  );

  return {
    root,
    notes,
    get stateDir() {
      return where.stateDir;
    },
    keysFile: () => sharedKeysFile(root, env) ?? join(where.stateDir, 'keys.json'),
    runsIn() {
      const address = databaseAddress(where.stateDir, env, database);
      return address === null ? null : placeOf(address.url);
    },
    demandPlaces: () => void measuresFolder(where),
    keysNotice: async () => (await import('./keysNotice.ts')).keysNotice({ ...where, database }),
    exists: async () =>
      isMarkedProject(root) || hasStateIn(stateOf(root, env)) || (await hasWorkflows(catalog)),
    measures: async (folder) =>
      (await import('./workspace/fence/measuresBelow.ts')).measuresBelow(root, folder, env),
    unverified: async (workflow) =>
      (await import('./verify/unverifiedHere.ts')).unverifiedHere({ root, env }, workflow),
    catalog,
    codeGate,
    standards,
    sources,
    ranges: lazyRanges(root, env),
    anchors: lazyAnchors(where),
    async open() {
      if (given.anywhere !== true) await demandAccepted();
      const { stateDir } = where;
      return open({ root, env, stateDir, database, catalog, functions, opened, keys: given.keys });
    },
    async readRates(file, text, workflow) {
      return (await import('./loaders/rates/readRates.ts')).readRates(file, text, workflow);
    },
    async importWorkflow(request) {
      const [{ importWorkflow }, { knownChecks }] = await Promise.all([
        import('./loaders/import/importWorkflow.ts'),
        import('./checks/index.ts'),
      ]);
      const known = { checks: knownChecks() };
      const { createMarkdownLoader } = await import('@phasegate/markdown');
      const folders = createMarkdownLoader({ known, sources, standards, reader: definitionReader });
      const loadFolder = async (folder: string, path: string) => folders.load({ root: folder, path });
      return importWorkflow(request, { known, sources, loadFolder });
    },
    async rotateTokenSecret() {
      const { rotateTokenSecret } = await import('./runtime/keys.ts');
      makeFolders(where.stateDir);
      const shared = sharedKeysFile(root, env);
      return { kid: rotateTokenSecret(where.stateDir, shared).tokens.current.kid };
    },
    keepRunsIn(named) {
      // A wrong address is told before anything is made for it.
      isInFile({ ...where, database: named });
      database = named;
    },
    moveRunsTo: async (to, told) =>
      (await import('./localMove.ts')).moveRuns({ ...where, database: to }, told),
    openMoved: async (to, anchors) =>
      (await import('./localMoved.ts')).openMoved({ ...where, database: to, anchors, keys: given.keys }),
    async openBackup(from) {
      requireFile({ ...where, database });
      const { createHumans } = await import('./runtime/openProject.ts');
      const copy = await verifiedCopy(where, resolve(from));
      const { store } = await openFile(where, copy.draft);
      const close = async () => {
        await store.close();
        copy.drop();
      };
      return { humans: createHumans(store, () => new Date().toISOString(), given.keys), close };
    },
    async restore(from, human) {
      const { stateDir } = where;
      requireFile({ ...where, database });
      const file = join(stateDir, DATABASE);
      const copy = await verifiedCopy(where, resolve(from));
      let kept: string | null;
      try {
        kept = copy.install();
      } finally {
        copy.drop();
      }
      const { store: project } = await openFile(where, file);
      const data = { from: resolve(from), kept };
      const principal = `human:${human.principal.name}`;
      await project.note(null, [
        { time: new Date().toISOString(), principal, event: 'database_restored', data },
      ]);
      await project.close();
    },
  };
}

/**
 * A copy of a backup that is known to be whole and this project's own. INVARIANT: nothing is replaced by a backup, and
 * nobody believed because of it, before all of it was verified: a state that cannot be read could not be put right.
 */
async function verifiedCopy(where: Where, from: string) {
  const { stateDir } = where;
  makeFolders(stateDir);
  const { stageBackup, installStaged, dropStaged } = await import('./stores/sqlite/restoreSqlite.ts');
  const to = join(stateDir, DATABASE);
  const { draft } = stageBackup({ from, to, seal: await sealFor(where) });
  const copy = { draft, install: () => installStaged(draft, to), drop: () => dropStaged(draft) };
  try {
    const { store } = await openFile(where, draft);
    const { findings } = await store.verify().finally(() => store.close());
    const [first] = findings;
    if (first === undefined) return copy;
    throw new PhasegateError('audit_broken', `\`${from}\` does not verify: ${first.message}`, {
      hint: 'nothing was changed; restore another backup',
    });
  } catch (error) {
    copy.drop();
    throw error;
  }
}

interface Opening extends Where {
  readonly catalog: Catalog;
  readonly functions: Functions;
  readonly opened: ProjectGate['opened'];
  readonly keys: KeyDerivation | undefined;
  readonly database: string | undefined;
}

/** What a file could replace is a file. */
function requireFile(place: StatePlace): void {
  const address = databaseAddress(place.stateDir, place.env, place.database);
  if (address === null) return;
  const schema = new URL(address.url).searchParams.get('schema') ?? 'public';
  const make = schema === 'public' ? '' : ` that you made before (\`CREATE SCHEMA "${schema}"\`)`;
  throw new PhasegateError('usage', 'the runs of this project are in PostgreSQL', {
    hint: `put a backup back with its own tools, into an empty schema${make}: \`pg_restore --exit-on-error --schema=${schema} --dbname=URL FILE\``,
  });
}

async function open(opening: Opening): Promise<OpenProject> {
  const { root, env, stateDir, catalog, functions, opened, keys } = opening;
  const [{ createOpenProject }, { createTokens }, { tokenSecretsOf }, { store, seal, keys: sealing }] =
    await Promise.all([
      import('./runtime/openProject.ts'),
      import('./runtime/tokens/tokens.ts'),
      import('./runtime/keys.ts'),
      openState({ root, stateDir, env, database: opening.database }),
    ]);
  // Nodes that share a store go by its clock: one whose own is wrong must not end a lease, nor believe a token for longer.
  const now = store.now ?? Date.now;
  // Asked when the first tool of a server is: by then the project is open.
  const sandboxing = lazySandbox({ root, stateDir, env });
  const attached = lazyServers({ root, env, sandboxing }, () => project.trust.servers.cards());
  const databases = lazyDatabases({ root, stateDir, now }, async (runId) => (await store.load(runId))?.run);
  const measuring = lazyFence({ root, stateDir, env, databases: databases.port });
  // What a crash left between a run and its database is finished before anyone looks at either.
  if (existsSync(join(stateDir, 'attempts'))) await databases.open();
  const project: OpenProject = createOpenProject({
    store,
    servers: () => configuredServers(root),
    catalog,
    checks: async () => (await import('./checks/index.ts')).CHECKS,
    functions,
    databases: databases.port,
    workspace: root,
    ...boundTo(root, env),
    now,
    steady: BOOT_CLOCK,
    newId: newRunId,
    hash: (text) => hash('sha256', text, 'hex'),
    backupFile: () => join(stateDir, 'backups', `state-${new Date().toISOString().replace(/[:.]/g, '-')}.db`),
    archiveFile: () => archiveFile(stateDir),
    tokens: createTokens({
      secrets: tokenSecretsOf(stateDir, sharedKeysFile(root, env)),
      environment: env,
      now,
    }),
    seal,
    publicKey: sealing.audit.publicKey,
    ...(store.now === undefined ? {} : { nodesKey: nodesKeyOf(sealing) }),
    keys,
    tools: async () => (await import('./localTools.ts')).localTools({ root, stateDir, env }),
    guarded: lazyGuardedFiles({ root, stateDir, seal }),
    acceptedFiles: lazyAcceptedFiles({ root, stateDir }),
    sandboxing,
    masking: await maskingFor(root, sealing),
    measuring,
    ...lazyVerify({ root, stateDir, env, seal, store, fence: measuring, sandbox: sandboxing.sandbox }),
    attached,
    attach: attached.read,
    hooking: async () => {
      const { hookSettings } = await import('./localHooks.ts');
      return hookSettings({ root, stateDir, env }, async () => (await store.humans()).length > 0);
    },
  });
  const closed = opened(store);
  return {
    ...project,
    trust: acceptingFolders(project.trust, { root, env }),
    async close() {
      closed();
      await project.close();
      await attached.close();
    },
  };
}

/** Of its own, derived from the one key that every node has and that is never rotated: it says nothing about seals. */
function nodesKeyOf({ rows }: Pick<ProjectKeys, 'rows'>): Uint8Array {
  const key = Buffer.from(rows, 'base64url');
  return new Uint8Array(hkdfSync('sha256', key, '', 'phasegate challenges of nodes v1', 32));
}

/** Where runs are worked on that are opened here: a worktree that shares a state, or the project's own folder. */
function boundTo(root: string, env: Where['env']): { readonly folder?: string; readonly madeFor?: string } {
  const folder = realpathOfExisting(root);
  const record = worktreeRecordIn(ownStateDir(folder, env));
  if (record === null) return {};
  return { folder, ...(record.run === undefined ? {} : { madeFor: record.run }) };
}

function archiveFile(stateDir: string): string {
  const folder = join(stateDir, 'archives');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `runs-${new Date().toISOString().replace(/[:.]/g, '-')}.jsonl`);
}

/** What loaders need beside files. */
interface Shelves extends Pick<Project, 'standards' | 'sources'> {
  readonly functions: Functions;
  readonly index: ListingIndex;
}

/** Where a project is, and in which environment. */
interface Where {
  readonly root: string;
  readonly stateDir: string;
  readonly env: LocalProjectOptions['env'];
}

async function definitionReader() {
  return (await import('./loaders/yaml/definitionReader.ts')).definitionReader;
}

async function makeCatalog(
  root: string,
  { functions, standards, sources, index }: Shelves,
): Promise<Catalog> {
  const [
    { createCatalog },
    { createYamlLoader },
    { createTypeScriptLoader },
    { createMarkdownLoader },
    { knownChecks },
    config,
  ] = await Promise.all([
    import('./runtime/catalog.ts'),
    import('./loaders/yaml/yamlLoader.ts'),
    import('./loaders/typescript/typeScriptLoader.ts'),
    import('@phasegate/markdown'),
    import('./checks/index.ts'),
    loadConfig(root),
  ]);
  refuseUnsupported(config);
  const known = { checks: knownChecks() };
  const loaders = [
    createYamlLoader({ known }),
    createTypeScriptLoader({ known, functions }),
    createMarkdownLoader({ known, sources, standards, reader: definitionReader }),
  ];
  return createCatalog({ root, loaders, globs: config.workflows, index });
}
