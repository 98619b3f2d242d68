import type { EngineProgram } from '../runtime/ports.ts';

/** A way to start a program and to know when it ends. */
export interface AgentAdapter {
  start(launch: Launch): Promise<StartedAgent>;
}

/** A program to start, with what it is given. Nothing secret is among its words. */
export interface Launch {
  /** Of this start; part of the name others see. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A file to read as standard input; absent: the terminal, or nothing. */
  readonly inputFile?: string;
  /** The text on file descriptor 3. */
  readonly credentials: string;
  /** A folder only this user may enter. */
  readonly folder: string;
  /** In the sandbox of a run's phase, and without the descriptor; absent: not held. */
  readonly held?: HeldLaunch;
}

/** What a program has in its sandbox beside the scope of its phase. */
export interface HeldLaunch {
  /** Whose phase decides what it may write. */
  readonly run: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Speaks MCP for it, outside. */
  readonly engine: EngineProgram;
}

/** A program that was started. */
export interface StartedAgent {
  /** Where to find it, for a human. */
  readonly where: string;
  /** Settles when the program and what it left behind have ended. */
  readonly exited: Promise<Exit>;
  /** The last lines it printed, where they are kept. */
  lastLines?(): readonly string[];
  /** Ends the program and all it started. */
  stop(): Promise<void>;
}

/** How a program ended. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not_started'; readonly code: string };

/** How a program ended, in words. */
export function describeExit(exit: Exit): string {
  switch (exit.kind) {
    case 'exited':
      return `it ended with exit code ${exit.code}`;
    case 'killed':
      return `it was killed by ${exit.signal}`;
    case 'not_started':
      return `it could not be started: ${exit.code}`;
  }
}
