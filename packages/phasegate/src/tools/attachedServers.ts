import { createHash } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '@phasegate/core';
import type { ToolContext, ToolImplementation, ToolResult } from '../runtime/ports.ts';
import { type AttachedServer, type Connection, connectServer, type OfferedTool } from './connectServer.ts';
import { failed } from './defineTool.ts';

/** Servers whose tools go through the gate. */
export interface AttachedServers {
  /** Every tool of every server that answers, as `mcp:NAME/TOOL`. */
  attachedTools(): Promise<readonly ToolImplementation[]>;
  /** Why the server of a tool offers nothing, where that is known. */
  trouble(tool: string): string | null;
  close(): Promise<void>;
}

/** What servers are attached with. */
export interface AttachedServersParts {
  readonly servers: Readonly<Record<string, AttachedServer>>;
  /** Real path of the workspace, where programs are started. */
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long connecting, listing and a call may each take; 60 seconds by default. */
  readonly timeoutMs?: number;
}

/**
 * Attaches servers, each when it is first needed. The first listing is what a tool is taken for: its name, words and
 * schema are pinned, and a tool that is something else when it is called is not called.
 */
export function attachServers(parts: AttachedServersParts): AttachedServers {
  const timeoutMs = parts.timeoutMs ?? 60_000;
  const servers = Object.entries(parts.servers).map(([name, server]) =>
    attachOne(name, () => connectServer(server, { ...parts, name, timeoutMs })),
  );
  return {
    attachedTools: async () => (await Promise.all(servers.map((server) => server.tools()))).flat(),
    trouble(tool) {
      const name = /^mcp:([^/]+)\//.exec(tool)?.[1];
      if (name === undefined) return null;
      const server = servers.find((one) => one.name === name);
      return server === undefined ? `no server \`${name}\` is attached` : server.trouble();
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface Attached {
  readonly name: string;
  tools(): Promise<readonly ToolImplementation[]>;
  trouble(): string | null;
  close(): Promise<void>;
}

const TOOL_NAME = /^[A-Za-z0-9_.-]+$/;

function attachOne(name: string, connect: () => Promise<Connection>): Attached {
  const pins = new Map<string, string>();
  let pinned: Promise<readonly ToolImplementation[]> | undefined;
  let connection: Promise<Connection> | undefined;
  let trouble: string | null = null;

  /** The connection, made anew when there is none or the server went away. */
  async function connected(): Promise<Connection> {
    if (connection !== undefined && (await connection.catch(() => null))?.alive() === true) return connection;
    connection = connect();
    return connection;
  }

  async function call(tool: string, input: JsonObject, signal: AbortSignal): Promise<ToolResult> {
    try {
      const server = await connected();
      const now = (await server.list(signal)).filter((offered) => offered.name === tool);
      const problem = changeOf(now, pins.get(tool));
      if (problem !== null)
        return failed('tool_changed', `\`mcp:${name}/${tool}\` ${problem}, so it is not called`);
      return await server.call(tool, input, signal);
    } catch (error) {
      return failed('server_failed', `server \`${name}\` did not answer: ${reasonOf(error)}`);
    }
  }

  async function listAndPin(): Promise<readonly ToolImplementation[]> {
    const offered = await (await connected()).list(AbortSignal.timeout(600_000));
    const usable = offered.filter(
      (tool) => TOOL_NAME.test(tool.name) && offered.filter((other) => other.name === tool.name).length === 1,
    );
    for (const tool of usable) pins.set(tool.name, digestOf(tool));
    trouble = null;
    return usable.map((tool) => ({
      name: `mcp:${name}/${tool.name}`,
      description: tool.description,
      input: tool.inputSchema,
      run: (input: JsonObject, context: ToolContext) => call(tool.name, input, context.signal),
    }));
  }

  return {
    name,
    trouble: () => trouble,
    async tools() {
      try {
        pinned ??= listAndPin();
        return await pinned;
      } catch (error) {
        // Asked again next time: a server that is down now may be up then, and nothing was pinned yet.
        pinned = undefined;
        trouble = `server \`${name}\` did not answer: ${reasonOf(error)}`;
        return [];
      }
    },
    async close() {
      await connection?.then((open) => open.close()).catch(() => undefined);
      connection = undefined;
    },
  };
}

function changeOf(now: readonly OfferedTool[], pin: string | undefined): string | null {
  const [tool, second] = now;
  if (tool === undefined) return 'is no longer offered';
  if (second !== undefined) return 'is offered twice';
  return digestOf(tool) === pin ? null : 'is no longer what it was when it was first listed';
}

/** SHA-256 of what makes a tool what it is. */
function digestOf({ name, description, inputSchema, outputSchema }: OfferedTool): string {
  const whole: Json = { name, description, inputSchema, outputSchema: outputSchema ?? null };
  return createHash('sha256').update(canonicalJson(whole)).digest('hex');
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
