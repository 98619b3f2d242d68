import type { Json, JsonObject } from '../json.ts';
import { holdsMask } from '../model/masks.ts';
import type { PhaseId } from '../model/workflow.ts';
import { type FoldedPaths, foldPaths } from './foldPaths.ts';
import type { FilesChanged } from './run.ts';

/**
 * What the record of a run says was done with tools before its gate opened, and what was refused. Beside `changed`, which
 * is of the whole run, all of it is of the time since a human decided last, whatever phases it was in.
 */
export interface WorkFacts {
  /** Paths that calls were allowed to write, by phase; what a program wrote by itself is not among them. */
  readonly changed: readonly { readonly phase: PhaseId; readonly paths: readonly string[] }[];
  /** What the fence found changed within the scope of each phase that was left, and of the one that waits. */
  readonly files: readonly ({ readonly phase: PhaseId } & FilesChanged)[];
  /** Allowed writes whose paths were too long to be recorded. */
  readonly unnamed: readonly PhaseCount[];
  /** Programs that were allowed: what they changed no call says. */
  readonly programs: readonly AllowedProgram[];
  /** Allowed programs whose command lines were too long to be recorded. */
  readonly programsUnnamed: readonly PhaseCount[];
  /** Other calls that were allowed: those that read, and those of attached servers. */
  readonly calls: readonly AllowedCalls[];
  /** What the engine carried out itself, with a receipt for each. */
  readonly receipts: readonly ReceiptCount[];
  /** What was refused: completions and calls. */
  readonly refused: readonly RefusedTry[];
}

/** How often in a phase. */
export interface PhaseCount {
  readonly phase: PhaseId;
  readonly times: number;
}

/** A command line that was allowed. */
export interface AllowedProgram extends PhaseCount {
  readonly tool: string;
  readonly command: string;
}

/** A tool that is neither a program nor names what it writes. */
export interface AllowedCalls extends PhaseCount {
  readonly tool: string;
}

/** How often a tool was carried out, and how often without success. */
export interface ReceiptCount extends PhaseCount {
  readonly tool: string;
  readonly failed: number;
}

/** Something the agent tried that was not allowed. */
export interface RefusedTry extends PhaseCount {
  /** `completion`, or the tool. */
  readonly what: string;
  readonly code: string;
  readonly message: string;
}

/** Of many, so many of each phase are on the card, and how many more there are. */
export const MOST_PATHS = 100;
const MOST_TOLD = 20;

/** Of a long text so many characters of its beginning, and of its end. */
const HEAD = 350;
const TAIL = 150;

/** The sections of a gate card about it; nothing is written where there is nothing to tell. */
export function workSections(work: WorkFacts): JsonObject {
  return {
    ...list('files', cut(work.files, filesIn)),
    ...list('changed', work.changed.map(changedIn)),
    ...list('changed_unnamed', work.unnamed.map(plain)),
    ...list('programs', cut(work.programs, programOf)),
    ...list('programs_unnamed', work.programsUnnamed.map(plain)),
    ...list('calls', cut(work.calls, plain)),
    ...list('receipts', work.receipts.map(plain)),
    ...list('refused', cut(work.refused, refusedOf)),
  };
}

function filesIn({ phase, changes, ...folded }: WorkFacts['files'][number]): JsonObject {
  return { phase, files: changes.map(({ path, how }) => ({ path, how })), ...restOf(folded) };
}

function changedIn({ phase, paths }: WorkFacts['changed'][number]): JsonObject {
  const folded = foldPaths(paths, MOST_PATHS);
  return { phase, paths: folded.paths, ...restOf(folded) };
}

function restOf({ more, folders, moreFolders }: Omit<FoldedPaths, 'paths'>): JsonObject {
  return {
    ...(more === undefined ? {} : { more }),
    ...(folders === undefined ? {} : { folders: folders.map((one) => ({ ...one })) }),
    ...(moreFolders === undefined ? {} : { more_folders: moreFolders }),
  };
}

function plain(one: PhaseCount): JsonObject {
  return { ...one };
}

function programOf({ phase, tool, command, times }: AllowedProgram): JsonObject {
  // Of the whole of it: the mask may stand where the card has not the room to show it.
  const masked = holdsMask(command) ? { masked: true } : {};
  return { phase, tool, command: brief(command), ...masked, times };
}

function refusedOf({ phase, what, code, message, times }: RefusedTry): JsonObject {
  return { phase, what, code, message: brief(message), times };
}

/** What a long command does may stand at its end. */
function brief(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  return `${text.slice(0, HEAD)} … (${text.length} characters) … ${text.slice(-TAIL)}`;
}

/** The first and the last of each phase: what matters must not be pushed behind the end by what does not. */
function cut<T extends { readonly phase: PhaseId }>(
  told: readonly T[],
  write: (one: T) => JsonObject,
): readonly Json[] {
  return [...Map.groupBy(told, ({ phase }) => phase)].flatMap(([phase, of]) => {
    const more = of.length - MOST_TOLD;
    if (more <= 0) return of.map(write);
    const half = MOST_TOLD / 2;
    return [...of.slice(0, half).map(write), { phase, more }, ...of.slice(-half).map(write)];
  });
}

function list(name: string, value: readonly Json[]): JsonObject {
  return value.length === 0 ? {} : { [name]: value };
}
