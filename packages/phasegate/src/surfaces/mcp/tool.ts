import type { InputRequiredResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { JsonObject, Phasegate } from '@phasegate/core';
import type { Catalog, Standards, Transition, TransitionRequest } from '../../runtime/ports.ts';
import type { AttachedTools } from './attachedTools.ts';
import type { LargeAnswers } from './largeAnswers.ts';

/** What an MCP server is built from. */
export interface McpParts {
  /** Bound to the agent that calls: no argument can name another. */
  readonly phasegate: Phasegate;
  /** The agent's name, where more than one is served: what one does keeps no other waiting. */
  readonly agent?: string | undefined;
  readonly catalog: Catalog;
  readonly standards: Standards;
  /** Of this package, as clients show it. */
  readonly version: string;
  /** The one run to serve: then `session_id` may be left out, and no other is accepted. */
  readonly run?: string | undefined;
  /** The one item to complete, where the caller showed that item's phase token. */
  readonly item?: string | undefined;
  /** The epoch each run had when the agent was last told of it, here or before it connected. */
  readonly epochs?: Map<string, number> | undefined;
  /** Completes the phase of the token the caller showed, which dies with it; the answer has the next one. */
  readonly transition?: ((request: TransitionRequest) => Promise<Transition>) | undefined;
  /**
   * What the credential of one request changes of all this, given what its authentication carries: a session outlives
   * the token it was opened with.
   */
  readonly forRequest?: ((carried: object | undefined) => RequestParts) | undefined;
  /** Tools of attached servers. */
  readonly attached?: AttachedTools | undefined;
  /** Keeps answers that are too large, of this agent; left out, the server keeps them for as long as it lives. */
  readonly answers?: LargeAnswers | undefined;
}

/** What a token of its own gives a request. */
export type RequestParts = Pick<McpParts, 'item' | 'transition'> & Partial<Pick<McpParts, 'phasegate'>>;

/** What a tool may use in one call. */
export interface ToolCall extends McpParts {
  /** Whether the client can put a form before its user. */
  readonly elicits: boolean;
  /** What the client brings back from forms, on a repeated call. Untrusted. */
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined;
}

/** One tool: how it is described, and what it does. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The arguments' properties, as JSON Schema. */
  readonly input: JsonObject;
  readonly required: readonly string[];
  /** JSON Schema that every answer fits, refusals included. */
  readonly output: JsonObject;
  readonly annotations: ToolAnnotations;
  /** Whether an agent needs it before it can search for others. */
  readonly alwaysLoad?: boolean;
  /** Answers, or refuses with `error` in the answer. Throws for a fault. */
  call(args: JsonObject, call: ToolCall): Promise<JsonObject | InputRequiredResult>;
}

/** Annotations of a tool that changes nothing. */
export const READING: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** Annotations of a tool that moves a run; nothing it does is destroyed by a repeated call. */
export const MOVING: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
