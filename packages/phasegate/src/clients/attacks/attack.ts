import type { ClientKind } from '../clientKind.ts';
import type { Step, Thread } from '../script.ts';

/** Something an agent may not do in the phase it is in, as a script for any client. */
export interface Attack {
  /** Short and stable: tables and stored proofs name it so. */
  readonly name: string;
  /** What is tried, in a few words. */
  readonly title: string;
  /** Null where the client cannot do it. */
  script(target: Target): AttackScript | null;
  /** Whether it came to something, looked at afterwards and from outside. */
  worked(target: Target): Promise<boolean>;
}

/** Where and with which client it is tried. */
export interface Target {
  readonly kind: ClientKind;
  /** Absolute path of the project. */
  readonly project: string;
}

/** What the model says for it. */
export interface AttackScript {
  readonly turns: readonly Step[];
  readonly threads?: readonly Thread[];
}

/** Several attacks as one script, one after the other, ended by words. */
export function scriptOf(scripts: readonly AttackScript[]): AttackScript {
  return {
    turns: [...scripts.flatMap(({ turns }) => turns), { text: 'that is all' }],
    threads: scripts.flatMap(({ threads = [] }) => threads),
  };
}
