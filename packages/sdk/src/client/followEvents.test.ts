import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventRecord } from '#wire';
import { FULL } from '../../../../test/tier.ts';
import { connect, type PhasegateClient } from './connect.ts';
import { type Reply, type ScriptedServer, scriptedServer } from './fixtures/scriptedServer.ts';

let server: ScriptedServer;
let client: PhasegateClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = connect({ url: server.url, key: 'pgs_session' });
});
afterEach(() => server.close());

test('a stream that is cut is taken up after the last record, each record once and none missed', async () => {
  server.script(
    streaming((response) => cutAfter(response, `${record(4)}${record(5)}id: 6\ndata: {"id":6`)),
    streaming((response) => response.write(`${record(5)}${record(6)}${record(7)}`)),
  );

  const ids = await take(4, client.events({ after: 3 }));

  expect(ids).toEqual([4, 5, 6, 7]);
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['3', '5']);
  expect(server.requests[0]).toMatchObject({
    url: '/api/v1/events',
    headers: { accept: 'text/event-stream', authorization: 'Bearer pgs_session' },
  });
});

test('without a place it begins now, and knows its place from an id that stands alone', async () => {
  server.script(
    streaming((response) => cutAfter(response, 'id: 41\n\n')),
    streaming((response) => response.write(record(42))),
  );

  expect(await take(1, client.events())).toEqual([42]);
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '41']);
});

test('a busy server and a lost one are asked again', async () => {
  server.script({ status: 503, body: {} }, 'cut', { status: 429, body: {} });
  server.script(streaming((response) => response.write(record(1))));

  expect(await take(1, client.events({ after: 0 }))).toEqual([1]);
});

test('a refused credential is thrown', async () => {
  server.script({ status: 403, body: { error: 'not_permitted', message: 'this needs a human' } });

  await expect(take(1, client.events())).rejects.toMatchObject({ code: 'not_permitted' });
});

test.runIf(FULL)('a server that does not come back is told of', async () => {
  server.script(...Array<Reply>(10).fill('cut'));

  await expect(take(1, client.events())).rejects.toMatchObject({ code: 'server_unreachable' });
  expect(server.requests).toHaveLength(6);
});

test('leaving the loop ends the connection', async () => {
  const closed = Promise.withResolvers<void>();
  server.script(
    streaming((response) => {
      response.on('close', () => closed.resolve());
      response.write(record(1));
    }),
  );

  for await (const { id } of client.events()) {
    expect(id).toBe(1);
    break;
  }

  await closed.promise;
});

test('the signal ends the iteration without an error, also while nothing happens', async () => {
  const stop = new AbortController();
  server.script(
    streaming((response) => {
      response.write(record(1));
    }),
  );
  const seen: number[] = [];

  for await (const { id } of client.events({ signal: stop.signal })) {
    seen.push(id);
    queueMicrotask(() => stop.abort());
  }

  expect(seen).toEqual([1]);
});

async function take(count: number, events: AsyncIterable<EventRecord>): Promise<readonly number[]> {
  const ids: number[] = [];
  for await (const { id } of events) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

function streaming(write: (response: ServerResponse) => void): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    write(response);
  };
}

/** Ends the connection once the text has left. */
function cutAfter(response: ServerResponse, text: string): void {
  response.write(text, () => response.socket?.end());
}

function record(id: number): string {
  return `id: ${id}\nevent: run_started\ndata: ${JSON.stringify({ id, seq: id, run: 'r1', event: 'run_started' })}\n\n`;
}
