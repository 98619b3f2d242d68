import { type JsonObject, own, type Phase, type PhaseId, type Principal, type Run } from '@phasegate/core';
import type { Question } from '@phasegate/core/engine';
import type { Attempt, DriveRequest, EngineProgram } from '../runtime/ports.ts';

/** What the runner is given beside the request. */
export interface RunnerParts {
  /** Opens terminals for agents, where a human can watch them: the adapter `tmux`. */
  readonly terminal: Terminal;
  /** The words that start this program itself. */
  readonly launcher: readonly [string, ...string[]];
}

/** A way to start a program in a terminal of its own, and to know when it ends. */
export interface Terminal {
  start(launch: TerminalLaunch): Promise<{
    readonly where: string;
    readonly exited: Promise<TerminalExit>;
    stop(): Promise<void>;
  }>;
}

/** A program for a terminal. Nothing secret is among its words. */
export interface TerminalLaunch {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The text on file descriptor 3. */
  readonly credentials: string;
  /** A folder only this user may enter. */
  readonly folder: string;
  /** In the sandbox of a run's phase, and without the descriptor; absent: not held. */
  readonly held?: HeldInTerminal;
}

/** What a program in a terminal has in its sandbox beside the scope of its phase. */
export interface HeldInTerminal {
  readonly run: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly engine: EngineProgram;
}

/** How a program in a terminal ended. */
export type TerminalExit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not_started'; readonly code: string };

/** A run being driven. */
export interface Driving {
  readonly request: DriveRequest;
  readonly parts: RunnerParts;
  readonly principal: Principal & { readonly kind: 'agent' };
  /** Aborted when driving is interrupted, or when the run is no longer ours to drive. */
  readonly signal: AbortSignal;
  /** How often a step may still be begun anew because someone else wrote to the database meanwhile. */
  readonly redo: { left: number };
}

/** One piece of work: the current phase of a run, or one item of it. */
export interface Step {
  readonly run: Run;
  readonly phase: Phase;
  /** Key of the item, in a parallel phase. */
  readonly item: string | null;
}

/** A step with the copy of the workflow's database it works on, where there is one. */
export interface StepAtWork extends Step {
  readonly attempt: Attempt | null;
}

/** What came of the work itself, before the engine has judged it. */
export type StepEnd =
  | {
      readonly kind: 'result';
      readonly evidence: JsonObject;
      /** `fail` where a sub-agent said so and the workflow has a way for it. */
      readonly outcome?: 'ok' | 'fail';
      readonly reason?: string;
      /** Where the step expects to go. */
      readonly target?: PhaseId;
    }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'asked'; readonly questions: readonly Question[] }
  /** An agent has handed it in itself, or left it to a human. */
  | { readonly kind: 'moved'; readonly accepted: boolean; readonly message: string }
  /** Nobody is there to do it: the prompt was printed. */
  | { readonly kind: 'awaited' }
  | { readonly kind: 'aborted' };

/** How often the work of a step has failed so far. */
export function attemptsOf(run: Run, item: string | null): number {
  return item === null ? run.work.attempts : (run.work.items?.[item]?.attempts ?? 0);
}

/** Why the attempt before this one failed; null at the first. */
export function failureOf(run: Run, item: string | null): string | null {
  return item === null ? run.work.failure : (run.work.items?.[item]?.error ?? null);
}

/** True where what a step worked on is open still, as it was when the step began. */
export function isStillOpen(now: Run, { run, phase, item }: Step): boolean {
  if (now.status !== 'active' || now.phase !== phase.id) return false;
  if (visitOf(now, phase.id) !== visitOf(run, phase.id)) return false;
  return item === null || now.work.items?.[item]?.status === 'pending';
}

/** The how-manieth visit of a phase it is. */
export function visitOf({ visits }: Run, phase: PhaseId): number {
  return Number(own(visits, String(phase)) ?? 0);
}
