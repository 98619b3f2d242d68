import { expect, onTestFinished, test } from 'vitest';
import { openScriptedModel } from './openScriptedModel.ts';
import { anthropicMessages } from './protocols/anthropicMessages.ts';
import type { Script } from './script.ts';

const call = (tool: string) => ({ calls: [{ tool, input: {} }] });

test('a script is played turn by turn, and what the model was shown is recorded', async () => {
  const { ask, model } = await opened({
    turns: [call('first'), ({ results }) => ({ text: `it said ${results[0]?.text}` })],
  });

  const first = await ask([user('go')]);
  const second = await ask([user('go'), said(first), answered('done')]);
  const third = await ask([user('go'), said(first), answered('done'), said(second), user('more')]);

  expect(first.content).toMatchObject([{ type: 'tool_use', name: 'first' }]);
  expect(second.content).toEqual([{ type: 'text', text: 'it said done' }]);
  expect(third.content).toEqual([{ type: 'text', text: 'the script has ended' }]);
  expect(model.exchanges.map(({ turn, results, texts }) => ({ turn, results, texts }))).toEqual([
    { turn: 0, results: [], texts: ['go'] },
    { turn: 1, results: [{ text: 'done', failed: false }], texts: [] },
    { turn: 2, results: [], texts: ['more'] },
  ]);
});

test('a request that is sent again gets the same turn, also while the first is being made', async () => {
  let made = 0;
  const { ask, model } = await opened({
    turns: [
      async () => {
        made += 1;
        return { text: `made ${made}` };
      },
    ],
  });

  const [one, again] = await Promise.all([ask([user('go')]), ask([user('go')])]);
  const late = await ask([user('go')]);

  expect([one, again, late].map(({ content }) => content[0]?.text)).toEqual(['made 1', 'made 1', 'made 1']);
  expect(model.exchanges).toHaveLength(1);
});

test('another agent of the client has its own turns, known by what it is told first and by nothing quoted', async () => {
  const { ask } = await opened({
    turns: [call('main'), { text: 'main over' }],
    threads: [{ name: 'sub', opening: 'PART-1', turns: [{ text: 'sub here' }] }],
  });

  const main = await ask([user('go')]);
  const sub = await ask([user('please do PART-1')]);
  const quoted = await ask([user('go'), said(main), answered('PART-1 is done'), user('PART-1')]);

  expect(sub.content[0]?.text).toBe('sub here');
  expect(quoted.content[0]?.text).toBe('main over');
});

test('after a conversation was summed up, all of the shorter one is new', async () => {
  const { ask, model } = await opened({ turns: [call('one'), { text: 'two' }] });
  const first = await ask([user('go'), user('with'), user('this')]);
  await ask([user('a summary'), said(first)]);

  expect(model.exchanges[1]?.texts).toEqual(['a summary']);
});

test('an error of the server is played too, and a title is not part of the script', async () => {
  const { ask, post } = await opened({ turns: [{ status: 529 }, { text: 'well' }] });

  expect((await post({ messages: [user('go')], tools: [{ name: 't' }] })).status).toBe(529);
  const title = (await (await post({ messages: [user('a title?')] })).json()) as Answered;
  expect(title.content[0]?.text).toBe('ok');
  expect((await ask([user('go'), user('again')])).content[0]?.text).toBe('well');
  expect((await post('{', '/v1/messages')).status).toBe(200);
});

interface Answered {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly id?: string }[];
}

async function opened(script: Script) {
  const model = await openScriptedModel(anthropicMessages, script);
  onTestFinished(() => model.close());
  const post = (body: object | string, path = '/v1/messages') =>
    fetch(`${model.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const ask = async (messages: readonly object[]) =>
    (await (await post({ messages, tools: [{ name: 't' }] })).json()) as Answered;
  return { model, ask, post };
}

function user(text: string) {
  return { role: 'user', content: text };
}

function said({ content }: Answered) {
  return { role: 'assistant', content };
}

function answered(text: string) {
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'any', content: text }] };
}
