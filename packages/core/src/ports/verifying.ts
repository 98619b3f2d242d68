import type { Check, Phase } from '../model/workflow.ts';
import type { UnlockedHuman } from './humans.ts';
import type { Enclose } from './sandbox.ts';
import type { Receipt } from './tools.ts';

/** Gives rooms in which the engine runs what it is to have verified. */
export interface Verifying {
  room(asked: RoomRequest): Promise<RoomAnswer>;
}

/** What a room is asked for. */
export interface RoomRequest {
  readonly run: string;
  /** Who waits for the answer: rooms are few, and shared out among those who ask. */
  readonly agent: string;
  /** The measure that it is a copy of. */
  readonly tree: string;
  /** Whose write scope must not hold the verifier. */
  readonly phase: Phase;
  readonly check: Check;
}

/** A room, or what is missing for one. */
export type RoomAnswer = { readonly ok: true; readonly room: VerifiedRoom } | ({ readonly ok: false } & Lack);

/** Why something is not `verified`, and what a human does about it. */
export interface Lack {
  readonly code:
    | 'no_sandbox'
    | 'no_measure'
    | 'tree_not_kept'
    | 'verifier_in_scope'
    | 'verifier_unknown'
    | 'deps_missing'
    | 'deps_stale'
    | 'deps_changed'
    | 'deps_unknown';
  readonly reason: string;
  readonly nextStep: string;
}

/** A copy of a measured tree in the engine's own folder, with frozen dependencies: nothing of it is an agent's to write. */
export interface VerifiedRoom {
  /** Absolute path of the copy. */
  readonly workspace: string;
  readonly enclose: Enclose;
  /** Hash of what the tree holds, as receipts have it. */
  readonly state: string;
  /** Hash of the frozen dependencies; null where the tree has none. */
  readonly dependencies: string | null;
  /** Folders with programs of the dependencies, before the search path. */
  readonly path: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Where a path of the room lies on this machine: dependencies are mounted, and not in the copy itself. */
  locate(path: string): string;
  /** Makes the copy anew: what ran in it may have changed it. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** The receipts of runs. */
export interface Receipts {
  /** Oldest first; with `verify` each is looked at. */
  list(runId: string, how: { readonly verify: boolean }): Promise<readonly JudgedReceipt[]>;
}

/** A receipt, and whether it stands. */
export interface JudgedReceipt {
  readonly receipt: Receipt;
  /** Whether this project signed it as it is; null where nobody asked. */
  readonly signed: boolean | null;
  /** Whether the workspace holds what it held then; null where nobody asked. */
  readonly tree: 'current' | 'void' | 'unknown' | null;
}

/** The engine's own copies of dependencies. */
export interface Dependencies {
  /** What the project's lockfiles ask for, and what is frozen of it. */
  list(): Promise<readonly DependencySet[]>;
  /** Installs what a lockfile names into the engine's own folder. */
  freeze(order: FreezeOrder, human: UnlockedHuman): Promise<FrozenSet>;
}

/** One lockfile and its copy. */
export interface DependencySet {
  readonly kind: DependencyKind;
  /** Its path in the project. */
  readonly lockfile: string;
  /** SHA-256 of the lockfile. */
  readonly hash: string;
  readonly state: 'frozen' | 'stale' | 'missing' | 'changed' | 'empty';
  /** Packages that want to run something when they are installed, where the lockfile says so. */
  readonly wantsScripts: readonly string[];
  /** Hosts that it takes packages from, beside those of the public registry. */
  readonly hosts: readonly string[];
  /** All hosts that freezing it reaches, those among them. */
  readonly reaches: readonly string[];
  /** Packages that it takes from files of the project, which an agent can write; paths are relative to the lockfile. */
  readonly local: readonly { readonly name: string; readonly file: string }[];
  readonly frozen: FrozenSet | null;
}

/** The programs that install dependencies. */
export type DependencyKind = 'npm' | 'pnpm' | 'pip' | 'uv' | 'go' | 'cargo';

/** What is to be frozen. */
export interface FreezeOrder {
  readonly kind: DependencyKind;
  readonly lockfile: string;
  /** SHA-256 that the lockfile had when it was shown. */
  readonly hash: string;
  /** Packages whose install scripts, or builds, may run. */
  readonly scripts: readonly string[];
  /** Hosts beside those that the lockfile names. */
  readonly hosts: readonly string[];
  /** Files of the project that packages may be taken from, as they were shown. */
  readonly files: readonly string[];
}

/** A frozen copy as it is on record. */
export interface FrozenSet {
  readonly kind: DependencyKind;
  readonly lockfile: string;
  readonly hash: string;
  /** SHA-256 over every path and content of the copy. */
  readonly content: string;
  readonly files: number;
  readonly scripts: readonly string[];
  readonly by: string;
  readonly at: string;
}
