import { numberArgument, textArgument, wrongCall } from '../arguments.ts';
import { type McpTool, READING } from '../tool.ts';

/** `read_more`: all of an answer that was too large to be given at once, page by page. */
export const readMore: McpTool = {
  name: 'read_more',
  title: 'Read the rest of an answer',
  description:
    'Where an answer has `truncated`, its `rest` is this call. It gives the JSON text of the whole answer page by page; put the pages together before you parse it.',
  input: {
    rest_id: { type: 'string', description: 'from `rest` of the answer' },
    page: { anyOf: [{ type: 'number' }, { type: 'string' }], description: 'from 1' },
  },
  required: ['rest_id'],
  output: {
    type: 'object',
    properties: {
      page: { type: 'integer' },
      pages: { type: 'integer' },
      text: { type: 'string', description: 'a part of the JSON text' },
      next_action: { type: 'string' },
      error: { type: 'string' },
      message: { type: 'string' },
    },
    required: ['next_action'],
  },
  annotations: READING,
  async call(args, { answers }) {
    const id = textArgument(args, 'rest_id');
    const found = answers?.page(id, numberArgument(args, 'page') ?? 1) ?? null;
    if (found === null) {
      const hint = 'only the last few large answers are kept: make the call it came from again';
      throw wrongCall('there is no such answer, or it has no such page', hint);
    }
    const { page, pages } = found;
    const on = `read_more(rest_id=${JSON.stringify(id)}, page=${page + 1})`;
    return { ...found, next_action: page < pages ? on : 'put the pages together and go on with the answer' };
  },
};
