import type { JsonObject } from '@phasegate/core';

/** What a scripted model plays to a real client: its own turns, and those of each agent that the client starts. */
export interface Script {
  readonly turns: readonly Step[];
  readonly threads?: readonly Thread[];
  /** What it says to questions beside its conversations, such as for a summary of one. */
  readonly aside?: string;
}

/** The turns of another conversation of the same client, such as a subagent's. */
export interface Thread {
  readonly name: string;
  /** Stands in what its user says before its model says anything. */
  readonly opening: string;
  readonly turns: readonly Step[];
}

/** One turn, or what makes it from what the model has just been shown. */
export type Step = Turn | ((shown: Exchange) => Turn | Promise<Turn>);

/** What the model says: words, calls of tools, or both; or an error of its server. */
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  /** The HTTP status of an error that is answered instead. */
  readonly status?: number;
  /** How many tokens the conversation is said to have; with very many, a client sums it up. */
  readonly tokens?: number;
}

/** One call of a tool. An input that is a text is for tools that take no JSON. */
export interface ToolCall {
  readonly tool: string;
  /** Where the client groups its tools. */
  readonly group?: string;
  readonly input: JsonObject | string;
}

/** One request of the client for a turn: all the model was shown since the one before it, and what it answered. */
export interface Exchange {
  readonly thread: string;
  /** Counted from 0 in its thread; the same request sent again has the same number. */
  readonly turn: number;
  /** Milliseconds since the model was opened. */
  readonly at: number;
  readonly tools: readonly string[];
  readonly results: readonly ToolResult[];
  /** What a user or the client itself said: prompts, reminders, context that hooks added. */
  readonly texts: readonly string[];
  /** The instructions of the whole conversation, where they stand apart from it. */
  readonly instructions: string;
}

/** What a tool answered, as the model reads it. */
export interface ToolResult {
  readonly text: string;
  /** Null where the protocol does not tell. */
  readonly failed: boolean | null;
}
