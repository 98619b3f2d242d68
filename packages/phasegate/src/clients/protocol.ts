import type { ToolCall, ToolResult } from './script.ts';

/** One way in which clients talk to models: how a request is read and how a turn is written. Pure. */
export interface Protocol {
  /** The request for a turn, or null for any other request. */
  read(request: Request): Conversation | null;
  write(conversation: Conversation, turn: SpokenTurn): Answer;
  /** An error of the model's server. */
  fail(status: number): Answer;
  /** The answer to what does not ask for a turn. */
  aside(request: Request): Answer;
}

/** A request as it came. */
export interface Request {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Undefined where it is not JSON. */
  readonly body: unknown;
}

/** What the client has sent of a conversation, which is all of it each time. */
export interface Conversation {
  readonly model: string;
  readonly stream: boolean;
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly messages: readonly Message[];
  /** A title, a summary or another question beside the conversation; no part of the script. */
  readonly aside: boolean;
}

/** One message of a conversation. */
export interface Message {
  readonly by: 'user' | 'model';
  readonly texts: readonly string[];
  readonly results: readonly ToolResult[];
}

/** A turn with a number for each of its calls that no other call of this model has. */
export interface SpokenTurn {
  readonly id: number;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly tokens: number;
}

/** What goes back to the client. */
export interface Answer {
  readonly status: number;
  readonly type: 'application/json' | 'text/event-stream';
  readonly text: string;
}

/** An answer that is one JSON value. */
export function jsonAnswer(value: object, status = 200): Answer {
  return { status, type: 'application/json', text: JSON.stringify(value) };
}

/** An answer that is a stream of events; the name is left out where the protocol has none. */
export function eventsAnswer(
  events: readonly { readonly name?: string; readonly data: object }[],
  status = 200,
): Answer {
  const text = events.map(({ name, data }) => {
    const line = name === undefined ? '' : `event: ${name}\n`;
    return `${line}data: ${JSON.stringify(data)}\n\n`;
  });
  return { status, type: 'text/event-stream', text: text.join('') };
}

/** The value as a record; empty where it is anything else. What clients send is read with care and never trusted. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

/** The value as a list of records; empty where it is anything else. */
export function recordsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
