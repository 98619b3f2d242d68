import type { RunEvent } from '../engine/events.ts';
import type { Json } from '../json.ts';
import type { AuditRecord } from '../phasegate.ts';
import type { ArchivedBundle } from './archives.ts';

/** An audit record before the store gives it its place in a chain. */
export interface AuditDraft {
  readonly time: string;
  readonly principal: string;
  readonly event: RunEvent['type'] | ProjectEvent | NoteEvent;
  readonly data: Json;
}

/** A draft with the canonical text of its data, made before anybody waits for it. */
export interface WrittenDraft extends AuditDraft {
  readonly dataText: string;
}

/** Events of the project's own chain. */
export type ProjectEvent =
  | 'run_started'
  | 'run_ended'
  | 'runs_archived'
  | 'human_added'
  | 'human_removed'
  | 'passphrase_changed'
  | 'passkey_added'
  | 'passkey_removed'
  | 'workflow_trusted'
  | 'credential_failed'
  | 'database_backed_up'
  | 'database_restored'
  | 'start_refused'
  | 'agent_added'
  | 'agent_removed'
  | 'webhook_added'
  | 'webhook_removed'
  | 'webhook_failed'
  | 'server_started'
  | 'server_stopped'
  | 'signed_in'
  /** A session was ended, by its human, by an admin, or by too many others of the same human. */
  | 'signed_out'
  | 'token_secret_rotated'
  | 'user_database_backed_up'
  | 'user_database_restored'
  /** Sessions without a run are free for a while: a human said so. */
  | 'pause_began'
  | 'pause_ended'
  /** A real client was tried, and this is what held. */
  | 'client_proven'
  /** A human signed that contents of files which no phase ended with are theirs. */
  | 'range_attested'
  /** Where all chains ended was signed and given to a place outside. */
  | 'audit_anchored'
  /** A human had dependencies installed into the engine's own folder. */
  | 'deps_frozen';

/** Events of a run's chain that change no state. */
export type NoteEvent =
  | 'tool_judged'
  | 'tool_executed'
  /** The engine ran a program for a check; with its receipt. */
  | 'check_executed'
  | 'command_refused'
  | 'token_issued'
  | 'token_refused'
  /** A client's session works on this run from now on. */
  | 'session_bound'
  /** What a client said came of a call that was judged; a claim. */
  | 'hook_reported'
  /** A client reported a call that was never judged. */
  | 'hook_forged'
  /** The contents a phase ended with, or a human accepted, path by path. */
  | 'files_recorded'
  /** What a session's transcript holds could not be compared with the audit yet. */
  | 'unreconciled'
  /** Files of the guard's own changed while no process looked, and there was no human to accept them. */
  | 'guarded_files_changed'
  /** A program changed files of the guard's own, and they were put back. */
  | 'guarded_files_restored'
  /** Nothing has happened for too long; said once for each visit of a phase. */
  | 'run_stuck';

/** What seals a chain and a row, and signs the head. Built from the project's keys; stores receive it. */
export interface Seal {
  /** Gives drafts their place after `head`. */
  chain(
    runId: string | null,
    head: ChainHead,
    drafts: readonly (AuditDraft | WrittenDraft)[],
  ): readonly SealedRecord[];
  /** Keyed MAC of a row: run id, version, newest seq and hash, state text. */
  mac(row: SealedRow): string;
  /** Keyed fingerprint of one chain's head, added up over all chains into the signed head. */
  fingerprint(runId: string, head: ChainHead): bigint;
  sign(text: string): string;
  verifySignature(text: string, signature: string): boolean;
}

/** A record with the canonical text of its data, which was made for its hash and can be stored as it is. */
export interface SealedRecord extends AuditRecord {
  readonly dataText: string;
}

/** The newest link of a chain; seq 0 and an empty hash before the first. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** What a row's MAC covers. */
export interface SealedRow {
  readonly runId: string;
  readonly version: number;
  readonly seq: number;
  readonly hash: string;
  readonly state: string;
}

/** What `audit verify` found. */
export interface AuditReport {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  /** Records newer than the signed head: covered by their run's seal, not yet by the head. */
  readonly unanchored: number;
  /** How many phases humans overrode; left out where none. */
  readonly overridden?: number;
  /** Where it was verified since an anchor: when that was made, and how many runs were read since, or by their ends alone. */
  readonly since?: { readonly anchor: string; readonly read: number; readonly byEnds: number };
  readonly findings: readonly AuditFinding[];
  /** Where all findings are about given anchors and archives that this project did not sign: the audit itself verifies. */
  readonly onlyGiven?: true;
  /** Where all are about given archives, and one of those was changed or cut short: the audit itself verifies. */
  readonly onlyArchives?: true;
  /** Anchors that nothing here proves or disproves; `ok` is false for them, too, and they stand in no finding. */
  readonly unproven?: UnprovenAnchors;
  /** Where all chains ended, signed by the project; only where it was asked for and nothing was found. */
  readonly anchor?: string;
  /** Where runs were archived to; left out where none was. They are not among `runs` and `records`. */
  readonly archived?: readonly ArchivedBundle[];
}

/** Anchors of a time when a run was under way that is archived by now, and whose archive is not there, or not what it was. */
export interface UnprovenAnchors {
  readonly anchors: number;
  /** When the first of them was made. */
  readonly first: string;
  /** The files that would tell. */
  readonly archives: readonly string[];
  /** Those of them in whose place is something else than was archived, and what is to be said after the name of each. */
  readonly replaced?: readonly { readonly file: string; readonly reason: string }[];
}

/** One thing wrong with the audit. */
export interface AuditFinding {
  readonly kind:
    | 'record_edited'
    | 'record_missing'
    | 'tail_cut'
    | 'run_dropped'
    | 'run_rolled_back'
    | 'state_edited'
    | 'head_invalid'
    | 'decision_forged'
    | 'archive_invalid';
  readonly run: string | null;
  readonly seq: number | null;
  readonly message: string;
}
