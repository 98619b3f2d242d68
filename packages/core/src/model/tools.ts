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

/**
 * Files that are law to the engine. They are outside every write scope, whatever a glob says:
 * an agent that can write its contract has none.
 */
export const GUARDED_PATHS: readonly string[] = [
  'agent_workflow.yaml',
  'agent_workflow.yml',
  '**/*.workflow.yaml',
  '**/*.workflow.yml',
  '**/*.workflow.ts',
  '**/*.workflow.mts',
  '**/*.workflow.js',
  '**/*.workflow.mjs',
  // What shows that a workflow keeps its promises is not for those it binds to change.
  '**/*.contract.yaml',
  '**/*.contract.yml',
  'phasegate.config.json',
  'phasegate.config.yaml',
  '.phasegate/**',
  '.praxis-os/workflows/**',
  'workflows/**',
  '.git/**',
  '.claude/settings*.json',
  '.mcp.json',
  '.cursor/hooks.json',
  '.cursor/mcp.json',
  '.codex/**',
  '.gemini/settings.json',
];
