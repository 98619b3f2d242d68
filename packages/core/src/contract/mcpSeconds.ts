/**
 * How long a client is to wait for our MCP server to start and to answer, in seconds. A completion runs the checks of its
 * phase, which may be a whole suite of tests. On a busy machine a client may give up on a start by
 * a shorter limit of its own; that was not measured, and a minute leaves room for it.
 */
export const MCP_SECONDS = { start: 60, answer: 600 } as const;
