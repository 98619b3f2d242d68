import type { Ring } from '@phasegate/core/model';
import type { HookClient } from './hooks.ts';

/** What a client was proven with: a proof is about nothing else. */
export interface ProvenWith {
  /** The program that was started. */
  readonly program: string;
  readonly version: string;
  /** SHA-256 over all files that are the client. */
  readonly sha256: string;
  /** SHA-256 over what the system says of these files: sizes, times, numbers. Cheap to look at again. */
  readonly identity: string;
  /** Every file it took settings from, with its SHA-256. */
  readonly settings: readonly { readonly path: string; readonly sha256: string }[];
  /** The kernel, and what walls can be made of it. */
  readonly kernel: string;
}

/** What was tried against one client, and what came of it. */
export interface ClientProof extends ProvenWith {
  readonly client: HookClient;
  readonly title: string;
  readonly at: string;
  /** What it comes to. */
  readonly ring: Ring;
  readonly walls: readonly ProvenWall[];
}

/** One thing an agent could try. */
export interface ProvenWall {
  readonly name: string;
  readonly title: string;
  /** `detected`: it happened, and Phasegate noticed. `untested`: nothing can be said, and the note says why. */
  readonly outcome: 'held' | 'detected' | 'missed' | 'untested';
  /** How long it took to notice, in milliseconds. */
  readonly after_ms?: number;
  readonly note?: string;
}

/** Notes on what was not tried, as there is nothing to try. */
export const NO_SUCH_TOOL = 'the client has no such tool';
export const NO_SUCH_SETTING = 'the client has no such setting';

/** What came of proving one client. */
export type Proving =
  | {
      readonly client: HookClient;
      readonly title: string;
      readonly status: 'proven';
      readonly proof: ClientProof;
    }
  | {
      readonly client: HookClient;
      readonly title: string;
      readonly status: 'not_installed' | 'not_attached' | 'not_run';
      readonly reason: string;
      readonly next_step?: string;
    };

/** Starts real clients against a copy of the project's settings, one after the other. */
export type ProveClients = (request: {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null for all. */
  readonly client: HookClient | null;
  /** Told what is being done. */
  told(line: string): void;
}) => Promise<readonly Proving[]>;

/** The proofs of a project. */
export interface ProofRecords {
  /** Takes the place of an earlier one of the same client; on the project's chain. */
  keep(proof: ClientProof): Promise<void>;
  all(): Promise<readonly KeptProof[]>;
}

/** A proof, and whether client, settings and kernel are still what they were. */
export interface KeptProof {
  readonly proof: ClientProof;
  readonly stands: boolean;
}
