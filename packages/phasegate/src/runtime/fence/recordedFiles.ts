import { hash } from 'node:crypto';
import type { Phase, Run, RunEvent } from '@phasegate/core';
import { isInHome } from '@phasegate/core/model';
import { nameOf } from '../auditDrafts.ts';
import { ENGINE } from '../engine.ts';
import type { AuditDraft, FenceChange } from '../ports.ts';

/** A path with the mode git gives it and the SHA-256 of its content; the path alone where it is gone. */
export type RecordedFile = readonly [path: string, mode: string, sha256: string] | readonly [path: string];

/** A phase that is left, and what changed in it within its scope. */
export interface PhaseEnding {
  readonly phase: Phase;
  readonly left: Extract<RunEvent, { type: 'phase_completed' }>;
  readonly files: readonly FenceChange[];
}

/**
 * The contents a phase ended with, for the chain of its run. Commits are judged by them. Nothing is noted of a phase that
 * changed nothing, unless one before it ended otherwise than well: what that one left may be what this one ends with.
 */
export function filesAtEnd({ completions }: Run, ending: PhaseEnding): readonly AuditDraft[] {
  const { phase, left, files } = ending;
  const isCarrying = completions.some(({ outcome }) => outcome !== 'ok');
  if (files.length === 0 && !isCarrying) return [];
  const told = {
    phase: phase.id,
    outcome: left.outcome,
    would_refuse: left.wouldRefuse.length,
    writes: [...phase.writes],
  };
  return drafts({ at: left.at, principal: nameOf(ENGINE) }, told, files);
}

/** The contents that a human accepted though no phase may write them. */
export function acceptedContents(
  run: Run,
  by: { readonly human: string; readonly at: string },
  files: readonly FenceChange[],
): readonly AuditDraft[] {
  const told = { phase: run.phase, accepted_by: by.human };
  return drafts({ at: by.at, principal: `human:${by.human}` }, told, files);
}

function drafts(
  { at, principal }: { readonly at: string; readonly principal: string },
  told: Readonly<Record<string, string | number | null | string[]>>,
  changes: readonly FenceChange[],
): readonly AuditDraft[] {
  const all = changes.flatMap(recordedFile);
  const files = all.slice(0, MOST_FILES);
  const parts = Math.max(1, Math.ceil(files.length / FILES_PER_RECORD));
  return Array.from({ length: parts }, (_, part) => ({
    time: at,
    principal,
    event: 'files_recorded' as const,
    data: {
      ...told,
      files: files.slice(part * FILES_PER_RECORD, (part + 1) * FILES_PER_RECORD).map((file) => [...file]),
      part: part + 1,
      parts,
      // Nothing is known about those, so no commit of them passes.
      more: all.length - files.length,
    },
  }));
}

/** One record stays small enough to be read in one piece, and a phase small enough to be written in one transaction. */
const FILES_PER_RECORD = 1_000;
const MOST_FILES = 20_000;

function recordedFile({ path, how, content, link, mode }: FenceChange): readonly RecordedFile[] {
  if (isInHome(path)) return [];
  if (how === 'removed') return [[path]];
  if (link !== undefined) return [[path, '120000', hash('sha256', link, 'hex')]];
  // A pipe, a device, or what cannot be read: git has none of them.
  if (content === null || mode === null) return [];
  return [[path, (mode & 0o100) === 0 ? '100644' : '100755', content]];
}
