import {
  eventsAnswer,
  jsonAnswer,
  type Message,
  type Protocol,
  recordOf,
  recordsOf,
  type SpokenTurn,
} from '../protocol.ts';

/** The Messages API of Anthropic, which Claude Code, opencode and Copilot CLI speak. */
export const anthropicMessages: Protocol = {
  read({ method, path, body }) {
    if (method !== 'POST' || !/\/messages$/.test(path)) return null;
    const asked = recordOf(body);
    const tools = recordsOf(asked.tools).map(({ name }) => String(name));
    return {
      model: String(asked.model ?? ''),
      stream: asked.stream === true,
      instructions: textIn(asked.system),
      tools,
      messages: recordsOf(asked.messages).map(messageOf),
      aside:
        tools.length === 0 ||
        Number(asked.max_tokens ?? 2) <= 1 ||
        recordOf(asked.output_config).format !== undefined,
    };
  },

  write({ model, stream }, turn) {
    const blocks = blocksOf(turn);
    const stop_reason = turn.calls.length > 0 ? 'tool_use' : 'end_turn';
    const message = { id: `msg_${turn.id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    if (!stream) return jsonAnswer({ ...message, content: blocks, stop_reason, usage: usageOf(turn) });
    const events: { type: string; [field: string]: unknown }[] = [
      {
        type: 'message_start',
        message: { ...message, content: [], stop_reason: null, usage: usageOf(turn) },
      },
      ...blocks.flatMap(eventsOfBlock),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: usageOf(turn) },
      { type: 'message_stop' },
    ];
    return eventsAnswer(events.map((data) => ({ name: data.type, data })));
  },

  fail: (status) =>
    jsonAnswer({ type: 'error', error: { type: 'api_error', message: 'a scripted error' } }, status),

  aside({ method, path, body }) {
    if (path.endsWith('/count_tokens')) {
      return jsonAnswer({ input_tokens: Math.ceil(JSON.stringify(body ?? '').length / 4) });
    }
    if (path.endsWith('/models'))
      return jsonAnswer({ data: [], has_more: false, first_id: null, last_id: null });
    if (method === 'HEAD' || path === '/') return jsonAnswer({});
    return jsonAnswer({ type: 'error', error: { type: 'not_found_error', message: path } }, 404);
  },
};

function usageOf({ tokens }: SpokenTurn) {
  return {
    input_tokens: tokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 10,
  };
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

function blocksOf({ id, text, calls }: SpokenTurn): readonly Block[] {
  const said: readonly Block[] = text === '' && calls.length > 0 ? [] : [{ type: 'text', text }];
  return [
    ...said,
    ...calls.map(
      ({ tool, input }, at): Block => ({ type: 'tool_use', id: `toolu_${id}_${at}`, name: tool, input }),
    ),
  ];
}

function eventsOfBlock(block: Block, index: number) {
  const isCall = block.type === 'tool_use';
  return [
    {
      type: 'content_block_start',
      index,
      content_block: isCall ? { ...block, input: {} } : { type: 'text', text: '' },
    },
    {
      type: 'content_block_delta',
      index,
      delta: isCall
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
        : { type: 'text_delta', text: block.text },
    },
    { type: 'content_block_stop', index },
  ];
}

function messageOf({ role, content }: Readonly<Record<string, unknown>>): Message {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : recordsOf(content);
  return {
    // Claude Code also sends reminders as messages of the system.
    by: role === 'assistant' ? 'model' : 'user',
    texts: blocks.filter(({ type }) => type === 'text').map(({ text }) => String(text)),
    results: blocks
      .filter(({ type }) => type === 'tool_result')
      .map((block) => {
        const result: Readonly<Record<string, unknown>> = block;
        return { text: textIn(result.content), failed: result.is_error === true };
      }),
  };
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsOf(content)
    .map(({ text }) => String(text ?? ''))
    .join('\n');
}
