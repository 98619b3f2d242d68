import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  isInputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '@phasegate/core';
import { demandKnown } from './arguments.ts';
import { resultOf } from './boundResult.ts';
import { answerToFailure } from './failure.ts';
import type { LargeAnswers } from './largeAnswers.ts';
import { describedBy } from './schemas.ts';
import type { McpParts, McpTool } from './tool.ts';

/** What tools are put on a server with. */
export interface ServedParts extends McpParts {
  readonly answers: LargeAnswers;
}

/** Puts a tool on a server: reads who calls, and turns answers, refusals and faults into results. */
export function registerTool(server: McpServer, tool: McpTool, parts: ServedParts): void {
  const { name, title, description, annotations } = tool;
  // A server for one run knows which one is meant.
  const required = tool.required.filter((word) => word !== 'session_id' || parts.run === undefined);
  const inputSchema = describedBy({
    type: 'object',
    properties: tool.input,
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  });
  const outputSchema = describedBy(tool.output);
  const meta = tool.alwaysLoad === true ? { _meta: { 'anthropic/alwaysLoad': true } } : {};
  server.registerTool(
    name,
    { title, description, annotations, inputSchema, outputSchema, ...meta },
    async (args, context): Promise<CallToolResult | InputRequiredResult> => {
      try {
        const call = {
          ...parts,
          ...parts.forRequest?.(context.http?.authInfo?.extra),
          elicits: elicits(server, context),
          inputResponses: context.mcpReq.inputResponses,
        };
        const given = isJsonObject(args) ? args : {};
        demandKnown(given, tool);
        const answer = await tool.call(given, call);
        return isInputRequiredResult(answer) ? answer : resultOf(answer as JsonObject, parts.answers);
      } catch (error) {
        const { answer, fault } = answerToFailure(error);
        if (fault) server.server.onerror?.(error instanceof Error ? error : new Error(String(error)));
        const result = resultOf(answer, parts.answers);
        return fault ? { ...result, isError: true } : result;
      }
    },
  );
}

/** Each request says what its client can do; an older client said it once, when it connected. */
function elicits(server: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const said = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const form = (said ?? server.server.getClientCapabilities())?.elicitation;
  // Before there were two kinds of forms, saying nothing more meant this one.
  return form !== undefined && (form.form !== undefined || form.url === undefined);
}
