import type { JsonObject } from '../json.ts';

/** One tool call, in contract terms: clients' own names are translated before judging. */
export interface ToolUse {
  readonly tool: string;
  readonly input: JsonObject;
}
