import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { StdioTransport } from './stdioTransport.ts';

test('calls that were made before the input ended are answered before the end', async () => {
  const { input, output, transport, received } = await open();

  input.write(`${JSON.stringify(call(1))}\n`);
  input.end(JSON.stringify(call(2)));
  await arrived(received, 2);
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
  expect(output.readableEnded).toBe(false);
  await transport.send({ jsonrpc: '2.0', id: 2, result: {} });
  await transport.closed;

  expect(String(output.read()).trim().split('\n')).toHaveLength(2);
});

test.each<readonly [string, JSONRPCMessage]>([
  [
    'a call that was cancelled',
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  ],
  ['a subscription', { jsonrpc: '2.0', id: 2, method: 'subscriptions/listen' }],
])('%s is not waited for', async (_name, message) => {
  const { input, transport, received } = await open();

  const first = 'id' in message ? [] : [call(1)];
  for (const one of [...first, message]) input.write(`${JSON.stringify(one)}\n`);
  input.end();
  await transport.closed;

  expect(received.at(-1)).toEqual(message);
});

test('a client that left without answering our question is not waited for', async () => {
  const { input, transport, received } = await open();

  input.write(`${JSON.stringify(call(1))}\n`);
  await arrived(received, 1);
  await transport.send({ jsonrpc: '2.0', id: 7, method: 'elicitation/create', params: {} });
  input.end();

  await expect(transport.closed).resolves.toBeUndefined();
});

test('a line that is not a message is reported, and the next one is heard', async () => {
  const { input, transport, received } = await open();
  const errors: Error[] = [];
  transport.onerror = (error) => errors.push(error);

  input.end(
    `not json\n{"jsonrpc":"2.0"}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })}\n`,
  );
  await transport.closed;

  expect(received).toHaveLength(1);
  expect(errors.length).toBeGreaterThan(0);
});

test.each<readonly [string, (params: object) => object]>([
  ['before', (params) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })],
  ['after', (params) => ({ method: 'tools/call', params, jsonrpc: '2.0', id: 7 })],
])(
  'a line of thirty megabytes with its id %s is answered, and the next one is heard [adv.O4]',
  async (_name, made) => {
    const { input, output, transport, received } = await open();
    transport.onerror = () => undefined;
    const line = JSON.stringify(made({ evidence: { id: 9, text: 'x'.repeat(30 * 1024 * 1024) } }));

    for (let at = 0; at < line.length; at += 65_536) input.write(line.slice(at, at + 65_536));
    input.write(`\n${JSON.stringify(call(8))}\n`);
    await arrived(received, 1);

    expect(received).toEqual([call(8)]);
    expect(JSON.parse(String(output.read()))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32_600, message: expect.stringContaining('larger than 2 MB') },
    });
  },
);

async function open() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StdioTransport(input, output);
  const received: JSONRPCMessage[] = [];
  transport.onmessage = (message) => received.push(message);
  await transport.start();
  return { input, output, transport, received };
}

function call(id: number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, method: 'tools/list' };
}

async function arrived(received: readonly JSONRPCMessage[], count: number): Promise<void> {
  while (received.length < count) await new Promise((resolve) => setImmediate(resolve));
}
