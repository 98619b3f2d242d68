import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { buildMcpServer } from './buildMcpServer.ts';
import { StdioTransport } from './stdioTransport.ts';
import type { McpParts } from './tool.ts';

/** What serving on stdio needs of the world. */
export interface McpStdioOptions extends McpParts {
  readonly stdin: Readable;
  /** Holds the protocol and nothing else. */
  readonly stdout: Writable;
  /** Where faults are told to a human. */
  log(text: string): void;
  /** Ends the serving. */
  readonly signal: AbortSignal;
}

/** Serves one client until it goes away or the signal comes; both protocol eras, as the client opens. */
export async function serveMcpStdio(options: McpStdioOptions): Promise<void> {
  const { stdin, stdout, log, signal } = options;
  const onerror = (error: Error) => log(`mcp: ${error.message}`);
  const transport = new StdioTransport(stdin, stdout);
  const handle = serveStdio(
    () => {
      const server = buildMcpServer(options);
      server.server.onerror = onerror;
      return server;
    },
    { transport, onerror },
  );
  const stop = () => void handle.close().catch(onerror);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await transport.closed;
  signal.removeEventListener('abort', stop);
}
