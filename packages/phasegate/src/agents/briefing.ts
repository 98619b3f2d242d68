import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';

/** The files an agent is briefed by. */
export interface Briefing {
  readonly promptFile: string;
  readonly mcpFile: string;
}

/** Writes the prompt, and the entry for MCP clients. */
export function writeBriefing(folder: string, prompt: string, server: JsonObject): Briefing {
  const promptFile = join(folder, 'prompt.md');
  const mcpFile = join(folder, 'mcp.json');
  writeFileSync(promptFile, prompt, { mode: 0o600 });
  const config = { mcpServers: { phasegate: server } };
  writeFileSync(mcpFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return { promptFile, mcpFile };
}

/** The entry of a server, whose key comes from the client's environment and not from the file. */
export function serverEntry(url: string): JsonObject {
  const headers = { Authorization: `Bearer ${variable('PHASEGATE_KEY')}` };
  return { type: 'http', url: `${url}/mcp`, headers };
}

/** How clients write that a value comes from their environment. */
function variable(name: string): string {
  return `$\{${name}}`;
}
