/**
 * How long a client is to wait for our MCP server to start and to answer, in seconds. A completion runs the checks of its
 * phase, which may be a whole suite of tests; on a busy machine a client gives up on a start after half a minute.
 */
export const MCP_SECONDS = { start: 60, answer: 600 } as const;
