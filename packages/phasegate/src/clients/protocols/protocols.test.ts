import { describe, expect, test } from 'vitest';
import type { Conversation, Protocol } from '../protocol.ts';
import { anthropicMessages } from './anthropicMessages.ts';
import { geminiContents } from './geminiContents.ts';
import { openaiResponses } from './openaiResponses.ts';

/** One conversation after its first call, as each protocol has it. */
const ASKED: Readonly<
  Record<string, { protocol: Protocol; path: string; body: object; failed: boolean | null }>
> = {
  'Messages of Anthropic': {
    protocol: anthropicMessages,
    path: '/v1/messages',
    failed: true,
    body: {
      model: 'm',
      stream: true,
      system: [{ type: 'text', text: 'be good' }],
      tools: [{ name: 'Write' }],
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Write', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              is_error: true,
              content: [{ type: 'text', text: 'no' }],
            },
            { type: 'text', text: 'reminder' },
          ],
        },
      ],
    },
  },
  'Responses of OpenAI': {
    protocol: openaiResponses,
    path: '/v1/responses',
    failed: null,
    body: {
      model: 'm',
      stream: true,
      instructions: 'be good',
      tools: [{ type: 'function', name: 'Write' }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        { type: 'function_call', call_id: 't', name: 'Write', arguments: '{}' },
        { type: 'function_call_output', call_id: 't', output: 'no' },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'reminder' }] },
      ],
    },
  },
  Gemini: {
    protocol: geminiContents,
    path: '/v1beta/models/m:streamGenerateContent',
    failed: true,
    body: {
      systemInstruction: { parts: [{ text: 'be good' }] },
      tools: [{ functionDeclarations: [{ name: 'Write' }] }],
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [{ functionCall: { name: 'Write', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'Write', response: { error: 'no' } } }, { text: 'reminder' }],
        },
      ],
    },
  },
};

describe.each(Object.entries(ASKED))('%s', (_, { protocol, path, body, failed }) => {
  const read = (change: object = {}) =>
    protocol.read({ method: 'POST', path, body: { ...body, ...change } }) as Conversation;

  test('a request is read as what the model is shown', () => {
    const { messages, ...rest } = read();

    expect(rest).toEqual({
      model: 'm',
      stream: true,
      instructions: 'be good',
      tools: ['Write'],
      aside: false,
    });
    expect(messages.filter(({ by }) => by === 'user').flatMap(({ texts }) => texts)).toEqual([
      'go',
      'reminder',
    ]);
    expect(messages.flatMap(({ results }) => results)).toEqual([{ text: 'no', failed }]);
    expect(messages.map(({ by }) => by)).toContain('model');
  });

  test('a turn is written as the client reads it', () => {
    const calls = [{ tool: 'Write', input: { path: 'a' } }];

    expect(protocol.write(read(), { id: 7, text: 'now', calls, tokens: 10 }).text).toMatchSnapshot();
    expect(protocol.write(read(), { id: 8, text: 'over', calls: [], tokens: 10 }).text).toMatchSnapshot();
  });

  test('a question without tools is beside the conversation, and any other request asks for no turn', () => {
    expect(read({ tools: [] }).aside).toBe(true);
    expect(protocol.read({ method: 'GET', path, body: undefined })).toBeNull();
    expect(protocol.aside({ method: 'GET', path: '/nowhere', body: undefined }).status).toBe(404);
    expect(protocol.fail(529).status).toBe(529);
  });

  test.each([[undefined], [null], ['text'], [[]], [{ messages: 5, input: {}, contents: 'x', tools: {} }]])(
    'a body that is %j is an empty conversation and no fault',
    (strange) => {
      const conversation = protocol.read({ method: 'POST', path, body: strange });

      expect(conversation).toMatchObject({ tools: [], aside: true });
    },
  );
});

test('Codex is called by the name of a group, and with plain text where a tool takes no JSON', () => {
  const asked = { model: 'm', stream: false, instructions: '', tools: [], messages: [], aside: false };
  const calls = [
    { tool: 'spawn', group: 'agents', input: { message: 'go' } },
    { tool: 'apply_patch', input: '*** Begin Patch' },
  ];

  const { output } = JSON.parse(openaiResponses.write(asked, { id: 1, text: '', calls, tokens: 10 }).text);

  expect(output).toEqual([
    expect.objectContaining({ type: 'function_call', namespace: 'agents', arguments: '{"message":"go"}' }),
    expect.objectContaining({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch' }),
  ]);
});
