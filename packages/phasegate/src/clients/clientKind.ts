import type { JsonObject } from '@phasegate/core';
import type { Protocol } from './protocol.ts';
import type { ToolCall } from './script.ts';

/** The clients that can be started with a scripted model. */
export const CLIENT_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

/** One of them. */
export type ClientName = (typeof CLIENT_NAMES)[number];

/** A client: how it is found, how it is started without anybody at its side, and how its model calls its tools. */
export interface ClientKind {
  readonly name: ClientName;
  readonly title: string;
  /** Its npm package. */
  readonly package: string;
  readonly protocol: Protocol;
  /** Everything it is started with. Pure: nothing is written or started. */
  arrange(arrangement: Arrangement): Launch;
  readonly words: ClientWords;
}

/** Where a client is to work, and with which model. */
export interface Arrangement {
  readonly program: string;
  readonly project: string;
  /** Its home, which is nobody else's. */
  readonly home: string;
  /** A folder for files of this start, outside the project. */
  readonly files: string;
  readonly model: string;
  readonly prompt: string;
  /** Left out, the user has trusted the folder and its hooks. */
  readonly untrusted?: boolean | undefined;
  /** An MCP server that is attached beside those of its settings. */
  readonly server?: AttachedServer | undefined;
}

/** An MCP server over stdio. */
export interface AttachedServer {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
}

/** A client to start: its words, all of its environment but the way to programs, and what must be there first. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly folders: readonly string[];
  /** Settings in JSON; what is in the file already stays beside these values. */
  readonly settings: readonly { readonly path: string; readonly values: JsonObject }[];
}

/** How the model of one client says what every client can do. Paths are absolute. */
export interface ClientWords {
  /** Makes a file. */
  write(path: string, content: string): ToolCall;
  /** Puts one text in the place of another that is in the file once. */
  edit(path: string, from: string, to: string): ToolCall;
  read(path: string): ToolCall;
  shell(command: string): ToolCall;
  /** A command that goes on when its call has been answered. */
  background(command: string): ToolCall;
  /** An agent of the client's own; null where it has none. */
  subagent(prompt: string): ToolCall | null;
  /** The call that waits for that agent, where the answer to the first call came before the agent had ended. */
  join?(answer: string): ToolCall;
  mcp(server: string, tool: string, input: JsonObject): ToolCall;
}
