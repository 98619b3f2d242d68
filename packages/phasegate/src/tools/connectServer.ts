import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { JsonObject } from '@phasegate/core';
import type { Enclose, ToolResult } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { failed } from './defineTool.ts';

/** A server as the config has it: a program to start, or a URL. */
export type AttachedServer =
  | { readonly command: readonly [string, ...string[]]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers_from_env?: Readonly<Record<string, string>> };

/** A tool as its server describes it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** What a client takes for granted about it: that it only reads, that it destroys nothing. */
  readonly annotations?: JsonObject;
}

/** An open connection to a server. */
export interface Connection {
  alive(): boolean;
  /** All tools, asked of the server itself and not of a cache. */
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>;
  call(tool: string, input: JsonObject, signal: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
}

/** How a connection is made. */
export interface Connecting {
  readonly name: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Aborted when nobody wants the connection any more. */
  readonly signal: AbortSignal;
  /** The sandbox for a server's program; null where it is to be in none. */
  readonly enclose?: () => Promise<Enclose | null>;
}

/** Connects to a server. It is told nothing of us but what the config says: no keys, no tokens, no roots. */
export async function connectServer(server: AttachedServer, connecting: Connecting): Promise<Connection> {
  const { timeoutMs: timeout, signal: unwanted } = connecting;
  // A heavy library that most processes never need.
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client(
    { name: 'phasegate', version: '1' },
    { capabilities: {}, jsonSchemaValidator: ANYTHING },
  );
  let alive = true;
  client.onclose = () => {
    alive = false;
  };
  try {
    await client.connect(await transportTo(server, connecting), { timeout, signal: unwanted });
  } catch (error) {
    // A program that was started and does not speak is ended with the try.
    await client.close();
    throw error;
  }
  return {
    alive: () => alive,
    async list(signal) {
      const { tools } = await client.listTools(undefined, { timeout, signal, cacheMode: 'refresh' });
      return tools.map(({ name, title, description = '', inputSchema, outputSchema, annotations }) => ({
        name,
        description,
        inputSchema: inputSchema as unknown as JsonObject,
        ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as unknown as JsonObject }),
        ...(annotations === undefined && title === undefined
          ? {}
          : { annotations: asJson({ ...annotations, ...(title === undefined ? {} : { title }) }) }),
      }));
    },
    async call(tool, input, signal) {
      const options = { timeout, maxTotalTimeout: timeout, signal };
      const answer = await client.callTool({ name: tool, arguments: { ...input } }, options);
      const { content, structuredContent, isError } = answer;
      const output = JSON.parse(JSON.stringify({ content, structuredContent })) as JsonObject;
      if (JSON.stringify(output).length > MAX_OUTPUT) {
        return failed('too_large', `the tool ran, but its result is larger than ${MAX_OUTPUT} characters`);
      }
      return { ok: isError !== true, output };
    },
    close: () => client.close(),
  };
}

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

const MAX_OUTPUT = 1024 * 1024;

/** Results are passed on as they are; a server's own schema is not ours to hold it to, nor to compile. */
const ANYTHING: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

async function transportTo(server: AttachedServer, { name, workspace, env, enclose }: Connecting) {
  if ('command' in server) {
    const environment = cleanEnvironment(env, workspace, server.env ?? {});
    const held = (await enclose?.()) ?? null;
    if (held !== null) {
      const { enclosedTransport } = await import('./enclosedTransport.ts');
      return enclosedTransport(await held({ argv: server.command, cwd: workspace, environment }));
    }
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const [command, ...args] = server.command;
    return new StdioClientTransport({
      command,
      args,
      cwd: workspace,
      env: environment,
      stderr: 'ignore',
    });
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const headers: Record<string, string> = {};
  for (const [header, variable] of Object.entries(server.headers_from_env ?? {})) {
    const value = env[variable];
    if (value === undefined || value === '') {
      throw new Error(`\`${variable}\`, which server \`${name}\` needs for \`${header}\`, is not set`);
    }
    headers[header] = value;
  }
  // A redirect would carry the headers to a place nobody named.
  return new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers, redirect: 'error' },
  });
}
