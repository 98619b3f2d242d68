import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/server';
import { createKeptAnswers } from '../../limits/keptAnswers.ts';
import { registerAttached } from './attachedTools.ts';
import type { LargeAnswers } from './largeAnswers.ts';
import { servePrompts } from './prompts.ts';
import { registerTool } from './registerTool.ts';
import { serveResources } from './resources.ts';
import type { McpParts } from './tool.ts';
import { TOOLS } from './toolTable.ts';

/** An MCP server for one agent: a connection on stdio, a session of an older client, or a single HTTP request. */
export function buildMcpServer(parts: McpParts): McpServer {
  const server = new McpServer(
    { name: 'phasegate', title: 'Phasegate', version: parts.version },
    {
      instructions: INSTRUCTIONS,
      capabilities: CAPABILITIES,
      cacheHints: { 'tools/list': { ttlMs: FIVE_MINUTES, cacheScope: 'private' } },
    },
  );
  serveAgent(server, parts);
  return server;
}

/** Puts all an agent has on a server: tools, prompts, resources. */
export function serveAgent(server: McpServer, given: McpParts): void {
  const parts = { ...given, epochs: given.epochs ?? new Map(), answers: given.answers ?? ownAnswers() };
  for (const tool of TOOLS) registerTool(server, tool, parts);
  if (parts.attached !== undefined) registerAttached(server, parts.attached, parts.answers);
  servePrompts(server, parts.catalog);
  serveResources(server, parts);
}

/** A server for one agent on one connection keeps them itself. */
function ownAnswers(): LargeAnswers {
  const kept = createKeptAnswers(randomUUID);
  return { keep: (text) => kept.keep('', text), page: (id, page) => kept.page('', id, page) };
}

// INVARIANT: what is listed never changes with a run or a phase.
/** What the server can do; lists do not change while it runs. */
export const CAPABILITIES = {
  tools: { listChanged: false },
  prompts: { listChanged: false },
  resources: { listChanged: false },
} as const;

const FIVE_MINUTES = 300_000;

/** What every agent is told first; clients cut it at 2 KB. */
const INSTRUCTIONS = `Phasegate leads you through a workflow one phase at a time.
1. list_workflows, then start_workflow. Keep the session_id.
2. Do what phase_content says. Where the phase has tasks, fetch each with get_task.
3. complete_phase with the evidence asked for. The engine checks it; a refusal says what is missing.
4. Every answer has next_action: the one call to make next.
Later phases cannot be read or completed early; asking for one gets the current phase again. At a gate a human decides, outside of your tools: stop and say so. If evidence cannot be provided honestly, call report_blocked. search_standards finds the project's own rules.`;
