import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '@phasegate/core';

/** What the model says next: a call of a tool, or words. */
export type Turn = { readonly tool: string; readonly input: JsonObject } | { readonly text: string };

/** A model that plays a script to a real client, on this machine. */
export interface ScriptedModel {
  readonly url: string;
  /** What each tool answered, in order. */
  readonly results: readonly string[];
  /** The tools the client offered. */
  readonly tools: ReadonlySet<string>;
  close(): Promise<void>;
}

interface Asked {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages?: readonly { readonly role: string; readonly content: Json }[];
}

/** Answers as the Messages API of Anthropic does. Each turn is made from what the last tool answered. */
export async function scriptModel(turns: readonly ((last: string) => Turn)[]): Promise<ScriptedModel> {
  const results: string[] = [];
  const tools = new Set<string>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) {
      response.writeHead(request.method === 'HEAD' ? 200 : 404).end();
      return;
    }
    const asked = JSON.parse(text) as Asked;
    if (request.url.startsWith('/v1/messages/count_tokens')) return sendJson(response, { input_tokens: 1 });
    // Titles and the like are asked for without tools, and are not part of the script.
    if ((asked.tools ?? []).length === 0) return answer(response, asked, { text: 'ok' });
    for (const { name } of asked.tools ?? []) tools.add(name);
    const answered = toolResults(asked);
    results.splice(0, results.length, ...answered);
    const turn = turns[answered.length] ?? (() => ({ text: 'the script has ended' }));
    answer(response, asked, turn(answered.at(-1) ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    results,
    tools,
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

/** Everything tools have answered in this conversation. */
function toolResults({ messages = [] }: Asked): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'user' || !Array.isArray(content)) return [];
    const blocks = content as readonly { readonly type?: string; readonly content?: Json }[];
    return blocks.filter(({ type }) => type === 'tool_result').map((block) => textIn(block.content ?? ''));
  });
}

function textIn(content: Json): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part: Json) => String(Object(part).text ?? '')).join('\n');
}

let calls = 0;

function answer(response: ServerResponse, { model = '', stream }: Asked, turn: Turn): void {
  calls += 1;
  const isCall = 'tool' in turn;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${calls}`, type: 'message', role: 'assistant', model, stop_sequence: null };
  const block = isCall
    ? { type: 'tool_use', id: `toolu_${calls}`, name: turn.tool, input: turn.input }
    : { type: 'text', text: turn.text };
  const stop_reason = isCall ? 'tool_use' : 'end_turn';
  if (stream !== true) {
    sendJson(response, { ...message, content: [block], stop_reason, usage });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, fields: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  send('message_start', { message: { ...message, content: [], stop_reason: null, usage } });
  send('content_block_start', {
    index: 0,
    content_block: isCall ? { ...block, input: {} } : { type: 'text', text: '' },
  });
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }
    : { type: 'text_delta', text: turn.text };
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
  send('message_stop', {});
  response.end();
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
