import type { PhaseId } from '@phasegate/core';
import type { FenceAct, FenceAction, ToldFile, TreeChange } from '@phasegate/core/engine';
import type { Ring } from '@phasegate/core/model';
import type { FenceFiles, FenceReport } from '@phasegate/core/ports';
import type { Violation } from './answers.ts';

/** How the workspace differs from what it was when the phase was entered. */
export function encodeFence(report: FenceReport): FenceState {
  const { run, phase, ring, writes, tree, problem, shown, outside, more, noticed, inside, notes, settled } =
    report;
  return {
    run,
    phase,
    ring,
    writes,
    tree,
    problem,
    shown,
    outside: outside.map(encodeChange),
    more,
    noticed: noticed.map(encodeChange),
    inside,
    notes,
    settled: settled.map(({ action, phase: of, paths, reason, by, at }) => ({
      action,
      phase: of,
      paths,
      reason,
      by,
      at,
    })),
  };
}

/** The report an answer holds. */
export function decodeFence({ outside, noticed, ...rest }: FenceState): FenceReport {
  return { ...rest, outside: outside.map(decodeChange), noticed: noticed.map(decodeChange) };
}

/** What became of the paths a human settled. */
export function encodeSettled(
  run: string,
  action: FenceSettled['action'],
  { done }: FenceFiles,
): FenceSettled & { readonly settled: true } {
  return { run, action, settled: true, paths: done.map(({ path, what }) => ({ path, what })) };
}

/** How the workspace differs from what it was when the phase was entered. */
export type FenceState = {
  readonly run: string;
  readonly phase: PhaseId;
  readonly ring: Ring;
  /** What the phase may write. */
  readonly writes: readonly string[];
  /** Hash of the measure it is compared with. */
  readonly tree: string | null;
  /** Why nothing can be compared; null where it can. */
  readonly problem: string | null;
  /** Hash of what is outside or noticed; an order that names it is carried out only while that is so. */
  readonly shown: string | null;
  /** What refuses the phase. */
  readonly outside: readonly FencedPath[];
  /** How many more do. */
  readonly more: number;
  /** What is on record and refuses nothing. */
  readonly noticed: readonly FencedPath[];
  /** How many paths changed inside the scope. */
  readonly inside: number;
  /** What could not be taken into account, in words. */
  readonly notes: readonly string[];
  /** What humans did about it so far. */
  readonly settled: readonly FenceAct[];
};

/** A path that is not as it was, and which tool call did it, where the audit knows. */
export type FencedPath = Omit<Violation, 'by'> & { readonly by: string | null };

/** How what was changed differs, as text. */
export type FenceDiff = {
  readonly run: string;
  readonly diff: string;
  /** The rest was left out. */
  readonly truncated: boolean;
};

/** Files that a phase changed until its gate opened; of one that was asked for, with its difference. */
export type GateFiles = {
  readonly run: string;
  readonly files: readonly ToldFile[];
  readonly total: number;
  readonly next_offset: number | null;
};

/** What became of the paths a human settled. */
export type FenceSettled = {
  readonly run: string;
  readonly action: FenceAction;
  readonly settled: boolean;
  readonly paths: readonly { readonly path: string; readonly what: string }[];
};

function encodeChange({ path, how, by }: TreeChange): FenceState['outside'][number] {
  return { path, how, by: by ?? null };
}

function decodeChange({ path, how, by }: FenceState['outside'][number]): TreeChange {
  return { path, how, ...(by === null ? {} : { by }) };
}
