import type { Json, JsonObject } from '../json.ts';
import type { PhaseId } from '../model/workflow.ts';

/** What the record of a run says was done with tools before its gate opened, and what was refused. */
export interface WorkFacts {
  /** Paths that calls were allowed to write, by phase; what a program wrote by itself is not among them. */
  readonly changed: readonly { readonly phase: PhaseId; readonly paths: readonly string[] }[];
  /** Allowed writes in this visit of the phase whose paths were too long to be recorded. */
  readonly unnamed: number;
  /** Programs that were allowed in this visit of the phase: what they changed nobody recorded. */
  readonly programs: readonly AllowedProgram[];
  /** What the engine carried out itself in this visit, with a receipt for each. */
  readonly receipts: readonly ReceiptCount[];
  /** What was refused in this visit: completions and calls. */
  readonly refused: readonly RefusedTry[];
}

/** A command line that was allowed. */
export interface AllowedProgram {
  readonly tool: string;
  readonly command: string;
  readonly times: number;
}

/** How often a tool was carried out, and how often without success. */
export interface ReceiptCount {
  readonly tool: string;
  readonly times: number;
  readonly failed: number;
}

/** Something the agent tried that was not allowed. */
export interface RefusedTry {
  /** `completion`, or the tool. */
  readonly what: string;
  readonly code: string;
  readonly message: string;
  readonly times: number;
}

/** Of many, so many are on the card, and how many more there are. */
const MOST_PATHS = 100;
const MOST_PROGRAMS = 20;
const MOST_REFUSED = 20;
const LONGEST = 500;

/** The sections of a gate card about it; nothing is written where there is nothing to tell. */
export function workSections({ changed, unnamed, programs, receipts, refused }: WorkFacts): JsonObject {
  return {
    ...list('changed', changed.map(changedIn)),
    ...(unnamed === 0 ? {} : { changed_unnamed: unnamed }),
    ...list('programs', cut(programs.map(programOf), MOST_PROGRAMS)),
    ...list(
      'receipts',
      receipts.map((receipt) => ({ ...receipt })),
    ),
    ...list('refused', cut(refused.map(refusedOf), MOST_REFUSED)),
  };
}

function changedIn({ phase, paths }: WorkFacts['changed'][number]): JsonObject {
  const more = paths.length - MOST_PATHS;
  return { phase, paths: paths.slice(0, MOST_PATHS), ...(more > 0 ? { more } : {}) };
}

function programOf({ tool, command, times }: AllowedProgram): JsonObject {
  return { tool, command: brief(command), times };
}

function refusedOf({ what, code, message, times }: RefusedTry): JsonObject {
  return { what, code, message: brief(message), times };
}

function brief(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
}

function cut(told: readonly JsonObject[], most: number): readonly Json[] {
  return told.length > most ? [...told.slice(0, most), { more: told.length - most }] : told;
}

function list(name: string, value: readonly Json[]): JsonObject {
  return value.length === 0 ? {} : { [name]: value };
}
