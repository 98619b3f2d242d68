import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JsonObject } from '@phasegate/core';
import { PROGRAM, type TestProject } from './cli.ts';

/** One connection to a server process of its own. */
export interface Connection {
  readonly client: Client;
  readonly pid: number;
  /** The structured answer of a tool. */
  call(tool: string, args?: JsonObject): Promise<JsonObject>;
}

/** Starts `phasegate mcp`, does something with the SDK's own client, and ends it. */
export async function withServer<T>(
  project: TestProject,
  act: (connection: Connection) => Promise<T>,
  {
    era = 'legacy',
    words = [],
  }: { readonly era?: 'legacy' | 'modern'; readonly words?: readonly string[] } = {},
): Promise<T> {
  const negotiation = era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
  const client = new Client({ name: 'e2e', version: '1' }, negotiation);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...words],
    cwd: project.root,
    env: { ...project.env },
    stderr: 'pipe',
    maxBufferSize: 64 * 1024 * 1024,
  });
  // The protocol only: whatever else stands on stdout is an error of this transport.
  const strays: Error[] = [];
  await client.connect(transport);
  client.onerror = (error) => strays.push(error);
  try {
    await client.listTools();
    const result = await act({
      client,
      pid: transport.pid as number,
      async call(name, args = {}) {
        const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
        return structuredContent as JsonObject;
      },
    });
    if (strays.length > 0) throw new AggregateError(strays, 'the server wrote what is not the protocol');
    return result;
  } finally {
    await client.close();
  }
}

/** One call in a server process of its own. */
export function callOnce(
  project: TestProject,
  tool: string,
  args: JsonObject,
  era: 'legacy' | 'modern' = 'legacy',
): Promise<JsonObject> {
  return withServer(project, ({ call }) => call(tool, args), { era });
}
