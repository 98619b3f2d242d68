import type { JsonObject, PhaseId, Run, RunStatus } from '@phasegate/core';
import type { OpenProject } from './openProject.ts';
import type { Project } from './project.ts';

/** A run to drive to its end, or to where a human must act. */
export interface DriveRequest {
  readonly project: Project;
  readonly open: OpenProject;
  readonly run: string;
  /** The run as the caller loaded it a moment ago: one that has ended is not driven. */
  readonly snapshot?: Run;
  /** As whom the runner works: the agent that holds the run. */
  readonly agent: string;
  /** What that agent can do; absent: nothing that is asked for. */
  readonly capabilities?: readonly string[];
  /** The program for agent steps and dispatched sub-agents, without a shell; null: the prompt is printed and the run pauses. */
  readonly agentCommand: readonly [string, ...string[]] | null;
  /** The name of a client that Phasegate knows how to start, in place of a command. */
  readonly agentPreset?: string;
  /** The agent as the caller named it, for the command that goes on. */
  readonly agentLine?: string;
  readonly adapter: 'subprocess' | 'tmux';
  /** Has every program in a sandbox of its phase, also where nobody asks for it. */
  readonly sandbox?: boolean;
  /** How many items of a parallel step at a time. */
  readonly workers: number;
  /** For steps that say nothing themselves, in seconds. */
  readonly stepTimeout: number;
  /** Environment of commands and agents, before it is cleaned. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Waits at gates and questions until a human has acted elsewhere, instead of ending. */
  readonly waitForHuman: boolean;
  /** Aborted by Ctrl-C: what runs is ended, and the run stays resumable. */
  readonly signal: AbortSignal;
  report(progress: RunnerProgress): void;
}

/** Something worth telling while a run is driven. */
export type RunnerProgress =
  | {
      readonly event: 'step_started';
      readonly run: string;
      readonly phase: PhaseId;
      readonly kind: 'command' | 'handler' | 'dispatch' | 'agent';
      readonly item: string | null;
      readonly attempt: number;
    }
  /** What a step printed, a line at a time. */
  | { readonly event: 'output'; readonly phase: PhaseId; readonly item: string | null; readonly line: string }
  | {
      readonly event: 'step_ended';
      readonly run: string;
      readonly phase: PhaseId;
      readonly item: string | null;
      readonly accepted: boolean;
      readonly message: string;
      readonly ms: number;
    }
  | { readonly event: 'prompt'; readonly phase: PhaseId; readonly text: string }
  | { readonly event: 'waiting'; readonly run: string; readonly what: JsonObject }
  | { readonly event: 'note'; readonly message: string };

/** How driving ended. */
export interface Driven {
  readonly run: string;
  readonly status: RunStatus;
  readonly phase: PhaseId | null;
  readonly outcome: 'completed' | 'stopped' | 'waiting' | 'escalated' | 'awaiting_agent' | 'interrupted';
  readonly message: string;
}

/** Drives a run. */
export type DriveRun = (request: DriveRequest) => Promise<Driven>;
