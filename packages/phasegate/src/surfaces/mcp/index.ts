export { type AttachedTools, attachedFor } from './attachedTools.ts';
export { buildMcpServer } from './buildMcpServer.ts';
export {
  createMcpFetchHandler,
  type McpFetchHandler,
  type McpFetchOptions,
} from './createMcpFetchHandler.ts';
export { type McpStdioOptions, serveMcpStdio } from './serveMcpStdio.ts';
export type { McpParts } from './tool.ts';
