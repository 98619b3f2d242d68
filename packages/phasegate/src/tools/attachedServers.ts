import { createHash } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '@phasegate/core';
import type { Enclose, ToolContext, ToolImplementation, ToolResult } from '../runtime/ports.ts';
import { type AttachedServer, type Connection, connectServer, type OfferedTool } from './connectServer.ts';
import { failed } from './defineTool.ts';

/** Servers whose tools go through the gate. */
export interface AttachedServers {
  /** Starts all of them at once, if that has not been done; waits for none. */
  start(): void;
  /** The tools of every server that has answered, as `mcp:NAME/TOOL`. Servers are waited for once, and not for long. */
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
  /** How long after the start servers are waited for; 10 seconds by default. */
  readonly patienceMs?: number;
  /** Asked each time before a server is connected to: throws where it is no longer the one that was accepted. */
  readonly demandSame?: (name: string) => void;
  /** The sandbox for servers' programs; null where they are to be in none. */
  readonly enclose?: () => Promise<Enclose | null>;
  /** Servers of the config that are not attached, with the reason. */
  readonly refused?: Readonly<Record<string, string>>;
}

/**
 * Attaches servers, all of them at once. One that hangs or fails keeps nobody from the tools of the others; it is asked
 * again later. The first listing is what a tool is taken for: its name, words, schema and annotations are pinned, and a
 * tool that is something else when it is called is not called.
 */
export function attachServers(parts: AttachedServersParts): AttachedServers {
  const timeoutMs = parts.timeoutMs ?? 60_000;
  const closing = new AbortController();
  const servers = Object.entries(parts.servers).map(([name, server]) =>
    attachOne(name, {
      connect: async () => {
        parts.demandSame?.(name);
        return connectServer(server, { ...parts, name, timeoutMs, signal: closing.signal });
      },
      isHeld: async () => 'url' in server || ((await parts.enclose?.()) ?? null) !== null,
    }),
  );
  let looked: Promise<void> | undefined;
  const start = (): Promise<void> => {
    looked ??= within(parts.patienceMs ?? PATIENCE_MS, Promise.all(servers.map((server) => server.begin())));
    return looked;
  };
  return {
    start: () => void start(),
    attachedTools: async () => {
      await start();
      // Waited for once; from then on what did not answer is asked in the background.
      for (const server of servers) void server.begin();
      return servers.flatMap((server) => server.tools());
    },
    trouble(tool) {
      const name = /^mcp:([^/]+)\//.exec(tool)?.[1];
      if (name === undefined) return null;
      const refused = Object.hasOwn(parts.refused ?? {}, name) ? parts.refused?.[name] : undefined;
      if (refused !== undefined) return refused;
      const server = servers.find((one) => one.name === name);
      return server === undefined ? `no server \`${name}\` is attached` : server.trouble();
    },
    close: async () => {
      closing.abort();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

const PATIENCE_MS = 10_000;
/** A server that failed is not asked again before. */
const AGAIN_AFTER_MS = 10_000;

/** Ends when the work does, or the time is up. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, over]);
  clearTimeout(timer);
}

interface Attached {
  readonly name: string;
  /** Connects and lists, unless that is done, under way, or failed a moment ago. Never rejects. */
  begin(): Promise<void>;
  tools(): readonly ToolImplementation[];
  trouble(): string | null;
  close(): Promise<void>;
}

const TOOL_NAME = /^[A-Za-z0-9_.-]+$/;

/** How one server is reached. */
interface Reached {
  connect(): Promise<Connection>;
  /** Whether it is in a sandbox, or on another machine. */
  isHeld(): Promise<boolean>;
}

function attachOne(name: string, { connect, isHeld }: Reached): Attached {
  const pins = new Map<string, string>();
  let pinned: readonly ToolImplementation[] | null = null;
  let starting: Promise<void> | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let connection: Promise<Connection> | undefined;
  let trouble: string | null = `server \`${name}\` has not answered yet`;

  /** The connection, made anew when there is none or the server went away. */
  async function connected(): Promise<Connection> {
    if (connection !== undefined && (await connection.catch(() => null))?.alive() === true) return connection;
    connection = connect();
    return connection;
  }

  async function call(
    tool: string,
    input: JsonObject,
    { signal, enclose }: ToolContext,
  ): Promise<ToolResult> {
    // INVARIANT: where programs of a run are held, none of ours works for it outside.
    if (enclose !== undefined && !(await isHeld())) {
      const message = `server \`${name}\` is a program outside a sandbox, and programs of this run are in one; ask a human to set \`sandbox: on\` in the config`;
      return failed('sandbox_unavailable', message);
    }
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
      run: (input: JsonObject, context: ToolContext) => call(tool.name, input, context),
    }));
  }

  async function attempt(): Promise<void> {
    try {
      pinned = await listAndPin();
    } catch (error) {
      // Asked again later: a server that is down now may be up then, and nothing was pinned yet.
      failedAt = performance.now();
      trouble = `server \`${name}\` did not answer: ${reasonOf(error)}`;
    } finally {
      starting = null;
    }
  }

  return {
    name,
    trouble: () => trouble,
    begin() {
      const early = performance.now() - failedAt < AGAIN_AFTER_MS;
      if (pinned !== null || (starting === null && early)) return Promise.resolve();
      starting ??= attempt();
      return starting;
    },
    tools: () => pinned ?? [],
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
function digestOf({ name, description, inputSchema, outputSchema, annotations }: OfferedTool): string {
  const more: JsonObject = annotations === undefined ? {} : { annotations };
  const whole: Json = { name, description, inputSchema, outputSchema: outputSchema ?? null, ...more };
  return createHash('sha256').update(canonicalJson(whole)).digest('hex');
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 300);
}
