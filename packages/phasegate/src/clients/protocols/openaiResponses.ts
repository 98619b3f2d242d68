import { eventsAnswer, jsonAnswer, type Message, type Protocol, recordOf, recordsOf } from '../protocol.ts';
import type { ToolCall } from '../script.ts';

/** The Responses API of OpenAI, which Codex speaks. */
export const openaiResponses: Protocol = {
  read({ method, path, body }) {
    if (method !== 'POST' || !path.endsWith('/responses')) return null;
    const asked = recordOf(body);
    const tools = toolNames(asked.tools);
    const input =
      typeof asked.input === 'string' ? [{ role: 'user', content: asked.input }] : recordsOf(asked.input);
    return {
      model: String(asked.model ?? ''),
      stream: asked.stream === true,
      instructions: String(asked.instructions ?? ''),
      tools,
      messages: input.map(messageOf),
      aside: tools.length === 0,
    };
  },

  write({ model, stream }, { id, text, calls, tokens }) {
    const said = text === '' && calls.length > 0 ? [] : [messageItem(id, text)];
    const output = [...said, ...calls.map((call, at) => callItem(`${id}_${at}`, call))];
    const response = { id: `resp_${id}`, object: 'response', model };
    const completed = { ...response, status: 'completed', output, usage: usageOf(tokens) };
    if (!stream) return jsonAnswer(completed);
    const events: { type: string; [field: string]: unknown }[] = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...output.flatMap(eventsOfItem),
      { type: 'response.completed', response: completed },
    ];
    return eventsAnswer(events.map((data) => ({ name: data.type, data })));
  },

  fail: (status) => jsonAnswer({ error: { message: 'a scripted error', type: 'server_error' } }, status),

  aside({ path }) {
    if (path.endsWith('/models')) return jsonAnswer({ object: 'list', data: [], models: [] });
    return jsonAnswer({ error: { message: `there is nothing at ${path}` } }, 404);
  },
};

function usageOf(tokens: number) {
  return {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens + 10,
  };
}

/** Tools stand alone or in groups, and are called by both names. */
function toolNames(tools: unknown): readonly string[] {
  return recordsOf(tools).flatMap((tool) =>
    tool.type === 'namespace'
      ? toolNames(tool.tools).map((name) => `${String(tool.name)}.${name}`)
      : [String(tool.name ?? tool.type)],
  );
}

function messageOf(item: Readonly<Record<string, unknown>>): Message {
  const type = String(item.type ?? 'message');
  if (type.endsWith('_output')) {
    return { by: 'user', texts: [], results: [{ text: textIn(item.output), failed: null }] };
  }
  if (type !== 'message' || item.role === 'assistant') return { by: 'model', texts: [], results: [] };
  return { by: 'user', texts: [textIn(item.content)], results: [] };
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return recordsOf(content)
      .map(({ text }) => String(text ?? ''))
      .join('\n');
  }
  return content === undefined ? '' : JSON.stringify(content);
}

function messageItem(id: number, text: string) {
  return {
    type: 'message',
    id: `msg_${id}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
}

function callItem(id: string, { tool, group, input }: ToolCall) {
  const call = { call_id: `call_${id}`, name: tool, status: 'completed' };
  if (typeof input === 'string') return { type: 'custom_tool_call', id: `ctc_${id}`, ...call, input };
  const namespace = group === undefined ? {} : { namespace: group };
  return { type: 'function_call', id: `fc_${id}`, ...call, ...namespace, arguments: JSON.stringify(input) };
}

function eventsOfItem(
  item: ReturnType<typeof messageItem> | ReturnType<typeof callItem>,
  output_index: number,
) {
  const added = { type: 'response.output_item.added', output_index };
  const done = { type: 'response.output_item.done', output_index, item };
  if (!('content' in item)) return [{ ...added, item: { ...item, status: 'in_progress' } }, done];
  const place = { output_index, content_index: 0, item_id: item.id };
  return [
    { ...added, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.output_text.delta', ...place, delta: item.content[0]?.text ?? '' },
    done,
  ];
}
