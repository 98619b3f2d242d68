import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files an agent is briefed by. */
export interface Briefing {
  readonly promptFile: string;
  readonly mcpFile: string;
}

/** Writes the prompt, and the entry for MCP clients, whose key comes from the environment and not from the file. */
export function writeBriefing(folder: string, prompt: string, url: string): Briefing {
  const promptFile = join(folder, 'prompt.md');
  const mcpFile = join(folder, 'mcp.json');
  const headers = { Authorization: `Bearer ${variable('PHASEGATE_KEY')}` };
  const config = { mcpServers: { phasegate: { type: 'http', url: `${url}/mcp`, headers } } };
  writeFileSync(promptFile, prompt, { mode: 0o600 });
  writeFileSync(mcpFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return { promptFile, mcpFile };
}

/** How clients write that a value comes from their environment. */
function variable(name: string): string {
  return `$\{${name}}`;
}
