import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientKind } from '../clientKind.ts';
import type { InstalledClient } from '../findClient.ts';
import { PROOF_WORKFLOW } from './proofWorkflow.ts';
import { BESIDE_STATES, COPIED, OF_STATE, SETTINGS_FILES } from './settingsFiles.ts';
import { TRIALS, type TrialName, type TrialOrder, type TrialReport } from './trial.ts';
import type { TrialReports } from './wallsOf.ts';
import { hiddenPlaces, worldWords } from './worldWords.ts';

/** What a client is proven with. */
export interface ProofRequest {
  readonly kind: ClientKind;
  readonly found: InstalledClient;
  readonly project: string;
  readonly home: string;
  readonly stateDir: string;
  readonly path: string;
  /** Bubblewrap. */
  readonly wrapper: string;
  /** Phasegate's own program, as words. */
  readonly phasegate: readonly [string, string];
  told(line: string): void;
}

/** Plays every trial with one client, each in a world of its own that is gone afterwards. */
export async function proveClient(request: ProofRequest): Promise<TrialReports> {
  const reports: Partial<Record<TrialName, TrialReport>> = {};
  for (const name of TRIALS) {
    request.told(`${request.kind.title}: ${name.replaceAll('_', ' ')}`);
    reports[name] = await inWorld(request, name);
  }
  return reports;
}

const SESSION_MS = 120_000;
const TRIAL_MS = 180_000;

async function inWorld(request: ProofRequest, name: TrialName): Promise<TrialReport> {
  const { kind, found, project, home, stateDir, path, phasegate } = request;
  const base = await mkdtemp(join(tmpdir(), 'phasegate-proof-'));
  try {
    const copies = { project: join(base, 'project'), home: join(base, 'home'), state: join(base, 'state') };
    await copySettings(request, name, copies);
    const order: TrialOrder = {
      name,
      client: kind.name,
      program: found.program,
      phasegate,
      toolServer: [process.execPath, programFile('attacks/toolServer')],
      project,
      home,
      path,
      stateDir,
      limitMs: SESSION_MS,
    };
    const words = worldWords({
      project: { path: project, copy: copies.project },
      home: { path: home, copy: copies.home },
      state: { path: dirname(stateDir), copy: copies.state },
      shown: await shownPlaces(request),
    });
    return await enter(
      [request.wrapper, ...words, '--', process.execPath, programFile('prove/inside')],
      order,
    );
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** The settings as they are, and a project with nothing in it but a file to work on. */
async function copySettings(
  { kind, project, home, stateDir }: ProofRequest,
  name: TrialName,
  copies: { readonly project: string; readonly home: string; readonly state: string },
): Promise<void> {
  await mkdir(join(copies.project, 'src'), { recursive: true });
  await mkdir(copies.home, { recursive: true });
  const state = join(copies.state, basename(stateDir));
  await mkdir(state, { recursive: true, mode: 0o700 });
  await writeFile(join(copies.project, 'src/one.js'), 'export const one = 1;\n');
  await writeFile(join(copies.project, 'phasegate-proof.workflow.yaml'), PROOF_WORKFLOW);
  if (name === 'control') return;
  const places = SETTINGS_FILES[kind.name];
  for (const path of [...places.project, ...COPIED]) await copyIfThere(project, copies.project, path);
  for (const path of OF_STATE) await copyIfThere(stateDir, state, path);
  // The user's own settings start a program that leads to the project's.
  await copyIfThere(dirname(stateDir), copies.state, BESIDE_STATES);
  for (const path of places.home) await copyIfThere(home, copies.home, path);
}

async function copyIfThere(from: string, to: string, path: string): Promise<void> {
  const source = join(from, path);
  if ((await stat(source).catch(() => null)) === null) return;
  await mkdir(dirname(join(to, path)), { recursive: true });
  await cp(source, join(to, path), { recursive: true, verbatimSymlinks: true });
}

/** What programs need of places that are empty in the world. */
async function shownPlaces({ found, path, home, phasegate }: ProofRequest): Promise<readonly string[]> {
  const files = [found.program, ...found.files, process.execPath, ...phasegate, programFile('prove/inside')];
  const folders = path.split(delimiter).filter((entry) => entry.startsWith('/') && existsSync(entry));
  const places = [...files.map(wholePackage), ...folders, ...(await sourceTree(programFile('prove/inside')))];
  return hiddenPlaces(places, home);
}

/** The folder that holds a file with all it is installed with. */
function wholePackage(file: string): string {
  const at = file.indexOf('/node_modules/');
  return at < 0 ? dirname(file) : file.slice(0, at + '/node_modules'.length);
}

/** Where Phasegate is run from its sources, its packages lie in folders above. */
async function sourceTree(file: string): Promise<readonly string[]> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const linked = await stat(join(folder, 'node_modules/@phasegate/core')).catch(() => null);
    if (linked !== null) return [folder];
  }
  return [];
}

/** A program of this room: beside this file, or where the build left it. */
function programFile(name: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`../${name}.${extension}`, `../clients/${name}.js`];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? String(files[0]);
}

function enter(argv: readonly string[], order: TrialOrder): Promise<TrialReport> {
  const [program = '', ...words] = argv;
  const child = spawn(program, words, {
    env: { PATH: order.path, HOME: order.home, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: TRIAL_MS,
    killSignal: 'SIGKILL',
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  child.stdin.on('error', () => undefined).end(JSON.stringify(order));
  return new Promise((resolve) => {
    const failed = (why: string) =>
      resolve({ attacks: [], asked: false, fault: why.trim().slice(-300), milliseconds: 0 });
    child.once('error', (error) => failed(error.message));
    child.once('close', () => {
      try {
        resolve(JSON.parse(said.stdout) as TrialReport);
      } catch {
        failed(said.stderr === '' ? 'the trial did not end in time' : said.stderr);
      }
    });
  });
}
