import { hash } from 'node:crypto';
import { canonicalJson, type Phase, phaseById, type Run } from '@phasegate/core';
import { type ChangedFile, foldPaths, type GateDiff, mayWrite } from '@phasegate/core/engine';
import { isInHome } from '@phasegate/core/model';
import type { Fence, MeasuredChange, MeasuredFile } from '../ports.ts';

/** So many files are on a card; a hash stands for the others. */
const MOST_FILES = 60;
/** So many of them were there before, where files were added too. */
const MOST_KNOWN = 45;
/** A larger file is known by its hash. */
const LARGEST_TEXT = 512 * 1024;
/** Where one file is asked for. */
const LARGEST_ALONE = 4 * 1024 * 1024;

/**
 * What the phase changed until its gate opened, from the two measures that were taken then. INVARIANT: nothing is read in
 * the workspace, so that what is shown is what was judged, whatever stands there by now.
 */
export async function diffAtGate(
  fence: Pick<Fence, 'between' | 'contentOf'>,
  run: Run,
): Promise<GateDiff | undefined> {
  const between = await changesAtGate(fence, run);
  if (between === undefined) return undefined;
  const { phase, found } = between;
  if (typeof found === 'string') {
    return { files: [{ path: '.', how: 'unreadable', before: null, after: null, untold: found }] };
  }
  const told = chosenPaths(found);
  const [shown, others] = [
    found.filter(({ path }) => told.has(path)),
    found.filter(({ path }) => !told.has(path)),
  ];
  const files = await Promise.all(shown.map((change) => changedFile(fence, phase, change)));
  if (others.length === 0) return { files };
  const facts = others.map(({ path, how, before, after }) => [
    path,
    how,
    before?.content ?? null,
    after?.content ?? null,
    before?.mode ?? null,
    after?.mode ?? null,
  ]);
  return { files, rest: { files: others.length, hash: hash('sha256', canonicalJson(facts), 'hex') } };
}

/** Every file that the phase changed until its gate opened, without contents; undefined where nothing was measured. */
export async function filesAtGate(
  fence: Pick<Fence, 'between'>,
  run: Run,
): Promise<readonly ChangedFile[] | undefined> {
  const between = await changesAtGate(fence, run);
  if (between === undefined || typeof between.found === 'string') return undefined;
  const { phase, found } = between;
  return found.map((change) => factsOf(phase, change));
}

/** One of them with its texts, larger ones than a card has; null where it did not change. */
export async function fileAtGate(
  fence: Pick<Fence, 'between' | 'contentOf'>,
  run: Run,
  path: string,
): Promise<ChangedFile | null> {
  const between = await changesAtGate(fence, run);
  if (between === undefined || typeof between.found === 'string') return null;
  const change = between.found.find((one) => one.path === path);
  return change === undefined ? null : changedFile(fence, between.phase, { ...change, most: LARGEST_ALONE });
}

async function changesAtGate(
  fence: Pick<Fence, 'between'>,
  run: Run,
): Promise<{ readonly phase: Phase; readonly found: readonly MeasuredChange[] | string } | undefined> {
  const phase = phaseById(run.workflow, run.phase);
  const [from, to] = [
    run.work.tree,
    run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.tree : undefined,
  ];
  if (phase === undefined || from === undefined || to === undefined) return undefined;
  return { phase, found: await fence.between(run.id, { from, to }) };
}

/**
 * Of every folder some, so that nothing is pushed out of sight by a crowd. What was there before comes first: anyone can
 * add files and folders without end, and what the project runs already is where a change does most.
 */
function chosenPaths(found: readonly MeasuredChange[]): ReadonlySet<string> {
  const isNew = ({ before }: MeasuredChange) => before === null;
  const pathsOf = (changes: readonly MeasuredChange[]) => changes.map(({ path }) => path);
  const [fresh, known] = [pathsOf(found.filter(isNew)), pathsOf(found.filter((one) => !isNew(one)))];
  const first = foldPaths(known, Math.max(MOST_KNOWN, MOST_FILES - fresh.length)).paths;
  return new Set([...first, ...foldPaths(fresh, MOST_FILES - first.length).paths]);
}

async function changedFile(
  fence: Pick<Fence, 'contentOf'>,
  phase: Phase,
  change: MeasuredChange & { readonly most?: number },
): Promise<ChangedFile> {
  const { path, how, before, after, most = LARGEST_TEXT } = change;
  const facts = factsOf(phase, change);
  if (how === 'mode' || isInHome(path)) return facts;
  const [old, fresh] = [await textOf(fence, before, most), await textOf(fence, after, most)];
  if (typeof old === 'string' && typeof fresh === 'string') {
    return { ...facts, texts: { before: old, after: fresh } };
  }
  return { ...facts, untold: typeof old === 'string' ? (fresh as Untold).untold : (old as Untold).untold };
}

function factsOf(phase: Phase, { path, how, before, after }: MeasuredChange): ChangedFile {
  return {
    path,
    how,
    before: hashOf(before),
    after: hashOf(after),
    ...(isInHome(path) || !mayWrite(phase, path) ? { outside: true as const } : {}),
    ...permissionsOf(before, after),
  };
}

/** Told where they are others than before, and of a new file where it can be run. */
function permissionsOf(
  before: MeasuredFile | null,
  after: MeasuredFile | null,
): Pick<ChangedFile, 'permissions'> {
  const [was, is] = [before?.mode, after?.mode];
  if (is === undefined || was === is) return {};
  if (was !== undefined) return { permissions: `were ${was}, are ${is}` };
  return /[1357]/.test(is.slice(-3)) || is.length > 3 ? { permissions: `are ${is}` } : {};
}

interface Untold {
  readonly untold: string;
}

async function textOf(
  fence: Pick<Fence, 'contentOf'>,
  file: MeasuredFile | null,
  most: number,
): Promise<string | Untold> {
  if (file === null) return '';
  if (file.type === 'link') return `a link to ${file.content}\n`;
  if (file.type !== 'file') return { untold: 'it is not a file' };
  if (file.size > most) return { untold: `it is large (${file.size} bytes)` };
  const bytes = await fence.contentOf(file.content);
  if (bytes === null) return { untold: 'its content was not kept' };
  if (bytes.includes(0)) return { untold: `it is not text (${file.size} bytes)` };
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { untold: `it is not UTF-8 (${file.size} bytes)` };
  }
}

/** Of a link too: what it says is its content. */
function hashOf(file: MeasuredFile | null): string | null {
  if (file === null || (file.type !== 'file' && file.type !== 'link')) return null;
  return file.type === 'file' ? file.content : hash('sha256', file.content, 'hex');
}
