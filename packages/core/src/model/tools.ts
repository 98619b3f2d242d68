/** The tools a policy may name, beside groups and `mcp:SERVER/TOOL`. Clients' own tools are translated to these. */
export const CONTRACT_TOOLS = [
  'read_files',
  'list_files',
  'grep',
  'write_files',
  'edit_file',
  'bash',
  'git',
  'fetch',
  'spawn_agent',
] as const;

/** Tools that only look; all that is left to an agent without an active phase. */
export const READING_TOOLS: readonly string[] = ['read_files', 'list_files', 'grep'];

/** Tools that name the file they change. */
export const WRITING_TOOLS: readonly string[] = ['write_files', 'edit_file'];

/** Tools whose input is a path, so that constraints on them are globs. */
export const PATH_TOOLS: readonly string[] = [...READING_TOOLS, ...WRITING_TOOLS];

const MCP_TOOL = /^mcp:[A-Za-z0-9_.-]+\/(?:[A-Za-z0-9_.-]+\*?|\*)$/;

/** True for a name a policy may use once groups are resolved. */
export function isToolName(name: string): boolean {
  return (CONTRACT_TOOLS as readonly string[]).includes(name) || MCP_TOOL.test(name);
}

/** True when a policy's name covers a tool: itself, or `mcp:SERVER/PREFIX*`. */
export function coversTool(name: string, tool: string): boolean {
  if (name === tool) return true;
  return name.startsWith('mcp:') && name.endsWith('*') && tool.startsWith(name.slice(0, -1));
}
