import { eventsAnswer, jsonAnswer, type Message, type Protocol, recordOf, recordsOf } from '../protocol.ts';

/** The Gemini API, which Gemini CLI speaks. */
export const geminiContents: Protocol = {
  read({ method, path, body }) {
    const [, model = '', verb] = /([^/]*):(streamGenerateContent|generateContent)$/.exec(path) ?? [];
    if (method !== 'POST' || verb === undefined) return null;
    const asked = recordOf(body);
    const tools = recordsOf(asked.tools).flatMap((tool) =>
      recordsOf(tool.functionDeclarations).map(({ name }) => String(name)),
    );
    return {
      model,
      stream: verb === 'streamGenerateContent',
      instructions: textsOf(recordOf(asked.systemInstruction)).join('\n'),
      tools,
      messages: recordsOf(asked.contents).map(messageOf),
      aside: tools.length === 0,
    };
  },

  write({ stream, aside }, { text, calls, tokens }) {
    // Its questions beside the conversation ask for JSON.
    const words = aside ? JSON.stringify({ text }) : text;
    const said = text === '' && calls.length > 0 ? [] : [{ text: words }];
    const parts = [
      ...said,
      ...calls.map(({ tool, input }) => ({ functionCall: { name: tool, args: input } })),
    ];
    const answer = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 10, totalTokenCount: tokens + 10 },
      modelVersion: 'scripted',
    };
    return stream ? eventsAnswer([{ data: answer }]) : jsonAnswer(answer);
  },

  fail: (status) =>
    jsonAnswer({ error: { code: status, message: 'a scripted error', status: 'INTERNAL' } }, status),

  aside({ path }) {
    if (path.endsWith(':countTokens')) return jsonAnswer({ totalTokens: 10 });
    return jsonAnswer({ error: { code: 404, message: path, status: 'NOT_FOUND' } }, 404);
  },
};

function messageOf(content: Readonly<Record<string, unknown>>): Message {
  const results = recordsOf(content.parts)
    .filter(({ functionResponse }) => functionResponse !== undefined)
    .map(({ functionResponse }) => {
      const response = recordOf(recordOf(functionResponse).response);
      const said = response.output ?? response.error;
      return {
        text: typeof said === 'string' ? said : JSON.stringify(response),
        failed: response.error !== undefined,
      };
    });
  return { by: content.role === 'model' ? 'model' : 'user', texts: textsOf(content), results };
}

function textsOf(content: Readonly<Record<string, unknown>>): readonly string[] {
  return recordsOf(content.parts).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}
