import { hash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { foldStepwise } from '@phasegate/core/engine';
import { shellWord } from '@phasegate/core/model';
import { CHECKS } from './checks/index.ts';
import { createDatabases } from './database/index.ts';
import { placeOfKey } from './loaders/contracts/placeOfKey.ts';
import { readContract } from './loaders/contracts/readContract.ts';
import { createFunctions } from './loaders/typescript/functionHost.ts';
import { openLocalProject } from './localProject.ts';
import { driveLocalRun } from './localRunner.ts';
import { rememberingKeys } from './runtime/humanKeys.ts';
import { openKeys, tokenSecretsOf } from './runtime/keys.ts';
import { createOpenProject, decisionIsSigned } from './runtime/openProject.ts';
import type {
  CatalogWorkflow,
  ContractTests,
  Functions,
  Project,
  TestResult,
  TestWorkflow,
} from './runtime/ports.ts';
import { createSeal } from './runtime/seal.ts';
import { createTokens } from './runtime/tokens/tokens.ts';
import { createMemoryStore } from './stores/memory.ts';
import { answeredChecks, answeredFunctions } from './testing/answeredChecks.ts';
import type { Bed, Beds } from './testing/bed.ts';
import { observedBeds } from './testing/observedBeds.ts';
import { testWorkflow } from './testing/testWorkflow.ts';

/** Tests a workflow of a project on this machine. Nothing of the project is written, nor of its state. */
export const testLocalWorkflow: TestWorkflow = async (request) => {
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-test-'));
  const remove = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  // A second request to stop is not kept waiting, and `finally` is not reached.
  process.once('exit', remove);
  const environment = { ...request.environment, XDG_STATE_HOME: join(scratch, 'state') };
  let functions: Functions | undefined;
  const hurry = () => void functions?.close();
  request.signal.addEventListener('abort', hurry);
  // A copy is gone when its paths are read; the files they name are the project's.
  const told = (result: TestResult): TestResult => ({
    ...result,
    message: result.message.replaceAll(copyIn(scratch), request.project.root),
  });
  try {
    const first = await request.project.catalog.load(request.workflow);
    const contracts = await contractsBeside(request.project.root, first);
    const project = worksOnFiles(first, contracts)
      ? await openCopy(request.project, scratch, environment)
      : request.project;
    const starting =
      contracts[0] === undefined ? undefined : { params: contracts[0].params, target: contracts[0].target };
    const reload = () => project.catalog.load(request.workflow, starting);
    const found = await reload();
    if (worksOnFiles(found, contracts)) await demandAccepted(found, request.project);
    functions = createFunctions({ root: project.root, gate: request.project.codeGate });
    const beds = observedBeds(
      bedsIn({ project, functions, keys: join(scratch, 'keys'), environment }),
      request,
    );
    const results = await testWorkflow(
      {
        beds,
        found,
        contracts,
        reload,
        clock: () => performance.now(),
        placeOf: (param) =>
          Object.hasOwn(contracts[0]?.domains ?? {}, param)
            ? placeOfKey(project.root, contracts[0]?.file ?? '', ['domains', param])
            : placeOfKey(project.root, found.path, ['params', param]),
        hash: sha256,
        drive: async (bed, run, alone) => {
          const printed: string[] = [];
          const refused: string[] = [];
          const enough = new AbortController();
          const driven = await driveLocalRun({
            // The runner asks the catalog whether the code is still the same; it must ask about the same workflow.
            project: {
              ...project,
              root: project.root,
              stateDir: join(scratch, 'state'),
              catalog: only(project, alone, true),
            },
            open: bed.open,
            run,
            agent: 'tester',
            agentCommand: null,
            adapter: 'subprocess',
            workers: 1,
            stepTimeout: 60,
            environment,
            waitForHuman: false,
            signal: AbortSignal.any([request.signal, enough.signal]),
            report: (progress) => {
              if (progress.event === 'output') printed.push(progress.line);
              if (progress.event !== 'step_ended' || progress.accepted) return;
              refused.push(progress.message);
              // The second try of a run is for an agent; the same command would say the same.
              enough.abort();
            },
          });
          return { ...driven, message: refused[0] ?? driven.message, printed };
        },
      },
      { ...request, report: (result) => request.report(told(result)) },
    );
    return results.map(told);
  } finally {
    request.signal.removeEventListener('abort', hurry);
    await functions?.close();
    process.off('exit', remove);
    remove();
  }
};

interface BedParts {
  readonly project: Project;
  readonly functions: Functions;
  readonly keys: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function bedsIn({ project, functions, keys, environment }: BedParts): Beds {
  mkdirSync(keys, { recursive: true, mode: 0o700 });
  const seal = createSeal(openKeys(keys));
  // The humans of a bed are made up, and each bed makes its own: deriving their keys anew took most of the time.
  const humans = rememberingKeys();
  return {
    make: async (found, { real, asGiven = false }): Promise<Bed> => {
      const answering = { answers: {}, real, unanswered: new Set<string>() };
      const store = createMemoryStore({ seal, fold: foldStepwise, verifyDecision: decisionIsSigned });
      const newId = () => `db-${randomBytes(8).toString('hex')}`;
      const open = createOpenProject({
        store,
        catalog: only(project, found, asGiven),
        checks: async () => answeredChecks(CHECKS, found.workflow, answering),
        functions: answeredFunctions(functions, found.workflow, answering),
        databases: createDatabases({
          root: project.root,
          stateDir: keys,
          now: Date.now,
          newId,
          busyMs: 5000,
        }),
        workspace: project.root,
        now: Date.now,
        newId: () => `run-${randomBytes(10).toString('hex')}`,
        hash: sha256,
        backupFile: () => join(keys, 'backup.db'),
        tokens: createTokens({ secrets: tokenSecretsOf(keys), environment, now: Date.now }),
        seal,
        keys: humans,
        tools: async () => [],
      });
      return { open, store, answering, close: () => open.close() };
    },
  };
}

/** A catalog that knows this workflow as it was loaded; one that is made at the start is made for each run. */
function only({ catalog }: Project, found: CatalogWorkflow, asGiven: boolean): Project['catalog'] {
  const dynamic = !asGiven && found.workflow.templates !== null;
  return { ...catalog, load: async (name, starting) => (dynamic ? catalog.load(name, starting) : found) };
}

/** Commands and databases write: they get a copy of the project to write to. */
function worksOnFiles({ workflow }: CatalogWorkflow, contracts: readonly ContractTests[]): boolean {
  return (
    workflow.database !== undefined ||
    workflow.phases.some(({ work }) => work.kind === 'command') ||
    contracts.some(({ real, tests }) => real || tests.some((test) => test.real))
  );
}

/** Commands of a definition are code as well: they are run only where a human accepted them, or lets them run now. */
async function demandAccepted(
  { workflow, path, closure, files }: CatalogWorkflow,
  { codeGate }: Project,
): Promise<void> {
  if ((await codeGate.refusal({ workflow: workflow.id, files })) === null) return;
  throw new PhasegateError(
    'untrusted_workflow',
    `no human has accepted \`${path}\` as it is now, and its tests run commands`,
    {
      hint: `phasegate trust ${shellWord(workflow.id)}, or \`--as NAME\` to let this one command run them`,
      unaccepted: { workflow: workflow.id, path, closure, files },
    },
  );
}

const LEFT_OUT = new Set(['node_modules', '.git', '.phasegate']);

function copyIn(scratch: string): string {
  return join(scratch, 'project');
}

/** What may be run in the copy is what may be run in the project: its own state knows of no human. */
async function openCopy(
  { root, codeGate }: Project,
  scratch: string,
  env: BedParts['environment'],
): Promise<Project> {
  const copy = copyIn(scratch);
  cpSync(root, copy, { recursive: true, filter: (path) => path === root || !LEFT_OUT.has(basename(path)) });
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (existsSync(modules)) symlinkSync(realpathSync(modules), join(copy, 'node_modules'), 'junction');
    if (existsSync(modules) || folder === dirname(folder)) break;
  }
  return openLocalProject({ projectDir: copy, env, codeGate });
}

/** `NAME.contract.yaml` beside the workflow's file, NAME being its id or its file's name. */
async function contractsBeside(
  root: string,
  { path, format, workflow }: CatalogWorkflow,
): Promise<readonly ContractTests[]> {
  const folder = dirname(path);
  const stem = basename(path).replace(/(?:\.workflow)?\.[^.]+$/, '');
  const named = (file: string) => file.replace(/\.contract\.ya?ml$/, '');
  const files = readdirSync(join(root, folder))
    .filter((file) => named(file) !== file)
    .filter((file) => format === 'markdown' || [workflow.id, stem].includes(named(file)))
    .sort();
  return Promise.all(
    files.map((file) => readContract(root, folder === '.' ? file : `${folder}/${file}`, workflow)),
  );
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
