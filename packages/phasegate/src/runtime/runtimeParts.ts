import type { Command, Principal, Run } from '@phasegate/core';
import type { CallsUnderWay, CallWaits } from './callsUnderWay.ts';
import type { WorkspaceFence } from './fence/workspaceFence.ts';
import type { SteadyClock } from './gateClock.ts';
import type { Guard } from './guard/guard.ts';
import type { Masking } from './masking.ts';
import type { Catalog, CheckImplementation, Databases, Functions, HookedRing, Store } from './ports.ts';
import type { Sandboxing } from './sandboxing.ts';
import type { ProvingParts } from './verify/proving.ts';

/** What the runtime is built from; `main.ts` chooses. */
export interface RuntimeParts {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The shelf of checks, asked for when there is something to look at. */
  readonly checks: () => Promise<readonly CheckImplementation[]>;
  readonly functions: Functions;
  /** The authors' own databases; absent where there can be none. */
  readonly databases?: Databases;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** The git worktree of the project that the workspace is; absent: it is the project's own folder. */
  readonly folder?: string | undefined;
  /** The one run the worktree was made for; absent: it is for any. */
  readonly madeFor?: string | undefined;
  /** Masks secrets in what agents hand in and in what is recorded of their calls; absent: nothing is masked. */
  readonly masking?: Masking;
  /** Holds programs that are run; absent where none are, or none can be held. */
  readonly sandboxing?: Sandboxing;
  /** How the ring `hooked` is judged; absent: no agent has it. */
  readonly hooked?: Pick<HookedRing, 'takeStart' | 'problem'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Measures how long gates are open; absent: `now` does. */
  readonly steady?: SteadyClock;
  readonly newId: () => string;
  /** SHA-256, hex. */
  readonly hash: (text: string) => string;
  /** Whether a human's decision, or override, carries that human's own signature. */
  readonly signed: (
    run: Run,
    principal: Principal,
    command: Extract<Command, { kind: 'decide' | 'override' }>,
  ) => Promise<boolean>;
  /** Names of the humans there are; left out: not known. */
  readonly humans?: () => Promise<readonly string[]>;
  /** The tool calls under way, which a run is not changed under. */
  readonly calls: CallsUnderWay;
  readonly waits?: CallWaits;
  /** Keeps the guard's own files; absent where no programs are run. */
  readonly guard?: Pick<Guard, 'hold' | 'settle' | 'release'>;
  /** Compares the workspace with what it was; absent where runs have none. */
  readonly fence?: WorkspaceFence;
  /** What the engine establishes things with, and signs what it saw; absent where it runs nothing for checks. */
  readonly proving?: ProvingParts;
  /**
   * Of the votes at the gate a run waits at, the places of those that no human of today signed, and whose keys were made
   * since the run began. Left out: all are good.
   */
  readonly votes?: (run: Run) => Promise<Pick<Extract<Command, { kind: 'decide' }>, 'voided' | 'madeBy'>>;
  /** An agent acted on what it holds: the one who keeps leases renews its. */
  readonly hear?: (run: Run, agent: string) => void;
}
