/**
 * How long a client is to wait for our MCP server to start and to answer, in seconds. A completion runs the checks of its
 * phase, which may be a whole suite of tests. A client that waits for half a minute of its own may give up on a start on a
 * busy machine: that was not measured, and a minute leaves room for it.
 */
export const MCP_SECONDS = { start: 60, answer: 600 } as const;
