import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FeedRecord } from '../../runtime/ports.ts';
import { createEventStreams, type StreamLimits } from './events.ts';
import { type Door, openDoor } from './fixtures/openDoor.ts';
import { OPERATOR } from './fixtures/operator.ts';
import { serveHttp } from './httpServer.ts';
import type { RestEnv } from './parts.ts';
import { problemOf } from './problem.ts';

const EVENTS = '/api/v1/events';

describe('the event stream', () => {
  test('has what happens from now on, as it happens [S2.63]', async () => {
    const door = openDoor();
    await door.holder('ada');
    const headers = await door.operator();
    const stream = await reading(door, EVENTS, headers);
    const { run } = await door.holder('bob');

    const event = await stream.until((one) => one.event === 'run_claimed');

    expect(event).toMatchObject({
      id: expect.any(Number),
      data: { run, event: 'run_claimed', principal: 'agent:bob' },
    });
    expect(event.data).toMatchObject({ hash: expect.any(String), seq: expect.any(Number) });
  });

  test('does not repeat what decisions were made from: the audit has that', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const { run } = await door.holder('ada');
    const stream = await reading(door, `${EVENTS}?after=0`, headers);
    await stream.until((one) => one.event === 'run_claimed');
    const records = await door.project.feed.after(0, 99);
    const snapshot = await (await door.app.request('/api/v1/state/snapshot', { headers })).text();
    const audit = await (await door.app.request(`/api/v1/audit?run=${run}`, { headers })).text();

    expect(JSON.stringify(records)).toContain('"recorded"');
    expect(JSON.stringify(stream.seen)).not.toContain('"recorded"');
    expect(snapshot).toContain('run_claimed');
    expect(snapshot).not.toContain('"recorded"');
    expect(audit).toContain('"recorded"');
  });

  test('goes on where a client was, without a gap or a repeat', async () => {
    const door = openDoor();
    const headers = await door.operator();
    await door.holder('ada');
    const all = await door.project.feed.after(0, 1000);
    const middle = all[1]?.id ?? 0;

    const stream = await reading(door, EVENTS, { ...headers, 'last-event-id': String(middle) });
    const last = all.at(-1)?.id;
    await stream.until((one) => one.id === last);

    expect(stream.seen.map(({ id }) => id)).toEqual(all.slice(2).map(({ id }) => id));
  });

  test('names a value that is larger than a stream may be by its hash and size, and goes on', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const report = 'x'.repeat(3_000_000);
    const data = { phase: 'PLAN', evidence: { report } };
    const time = '2026-11-15T12:00:00.000Z';
    const completed = { time, principal: 'agent:ada', event: 'phase_completed', data } as const;
    const { run } = await door.holder('ada');
    await door.memory.store.note(run, [completed]);

    const stream = await reading(door, `${EVENTS}?after=0`, headers);
    const { data: record } = await stream.until(({ event }) => event === 'phase_completed');

    expect(record).toMatchObject({
      run,
      data: {
        phase: 'PLAN',
        evidence: {
          report: {
            left_out: { sha256: hash('sha256', JSON.stringify(report)), size: report.length + 2 },
          },
        },
      },
    });
    const audit = await door.app.request(`/api/v1/audit?run=${run}`, { headers });
    expect(await audit.text()).toContain(report);
  });

  test('can be about one run only, and not about one that is not there', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const { run } = await door.holder('ada');
    await door.holder('bob');
    const stream = await reading(door, `${EVENTS}?after=0&run=${run}`, headers);
    await stream.until((one) => one.event === 'run_claimed');

    expect(new Set(stream.seen.map(({ data }) => data.run))).toEqual(new Set([run]));
    expect((await door.app.request(`${EVENTS}?run=made-up`, { headers })).status).toBe(404);
  });

  test.each(['x', '-1', '1.5', '1e3', '99999999999999999999', '9999'])(
    'is refused from `%s`, which is not an id of it',
    async (id) => {
      const door = openDoor();
      const headers = { ...(await door.operator()), 'last-event-id': id };

      const response = await door.app.request(EVENTS, { headers });

      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ problems: [{ field: 'Last-Event-ID' }] });
    },
  );

  test('is not for agents', async () => {
    const door = openDoor();
    const { authorization } = await door.holder('ada');

    expect((await door.app.request(EVENTS, { headers: { authorization } })).status).toBe(403);
    expect((await door.app.request(EVENTS)).status).toBe(401);
  });

  test('is one of few: the next is refused until one has ended', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const responses = await Promise.all([1, 2, 3, 4, 5, 6].map(() => door.app.request(EVENTS, { headers })));
    const statuses = responses.map(({ status }) => status).sort();
    await responses.find(({ status }) => status === 200)?.body?.cancel();

    const next = await door.app.request(EVENTS, { headers });

    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    expect(next.status).toBe(200);
  });

  test('of a human who has them all gives way to another human, until both have as many', async () => {
    const { as } = fed({});
    const vic = await Promise.all(Array.from({ length: 9 }, () => as('vic')));
    const maria = await Promise.all([1, 2, 3, 4, 5].map(() => as('maria')));

    expect(vic.map(({ status }) => status)).toEqual(Array(9).fill(200));
    expect(maria.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(await vic[0]?.text()).toBe('retry: 2000\n\n');
    expect((await as('vic')).status).toBe(429);
  });

  test('is not held open for who only asks for its headers, or is gone before it begins', async () => {
    const { app, listeners } = fed({});
    const gone = new AbortController();
    const here = new AbortController();

    const head = await app.request('/events', { method: 'HEAD' });
    gone.abort();
    await app.fetch(new Request('http://x/events', { signal: gone.signal }));
    expect(listeners.size).toBe(0);
    await app.fetch(new Request('http://x/events', { signal: here.signal }));
    expect(listeners.size).toBe(1);
    here.abort();

    expect(head.headers.get('content-type')).toBe('text/event-stream');
    expect(listeners.size).toBe(0);
  });

  test('ends with the server', async () => {
    const door = openDoor();
    const response = await door.app.request(EVENTS, { headers: await door.operator() });
    door.app.endStreams();

    expect(await response.text()).toBe('retry: 2000\n\n');
  });
});

describe('a reader of the stream', () => {
  test('is kept awake, and let go when the session ends', async () => {
    let signedIn = true;
    const { request } = fed({ heartbeatMs: 5 }, () => signedIn);
    const reader = (await request()).body?.getReader();
    await reader?.read();
    const beat = await reader?.read();
    signedIn = false;
    let rest = await reader?.read();
    while (rest?.done === false) rest = await reader?.read();

    expect(new TextDecoder().decode(beat?.value)).toBe(': still here\n\n');
    expect(rest).toMatchObject({ done: true });
  });

  test('who does not read is waited for a while and then cut, and the feed is let go', async () => {
    const { request, listeners, emit } = fed({ buffer: 1000, stalledMs: 20 });
    const response = await request();
    const waited = emit(record(1, 'x'.repeat(1000)));
    expect(waited).toBeInstanceOf(Promise);
    await waited;

    expect(listeners.size).toBe(0);
    await expect(response.text()).rejects.toThrow('too slow');
  });

  test('who is behind a feed that does not wait is cut before the buffer grows', async () => {
    const { request, listeners, emit } = fed({ buffer: 1000, stalledMs: 60_000 });
    const response = await request();
    for (let id = 1; id <= 5; id++) void emit(record(id, 'x'.repeat(600)));

    expect(listeners.size).toBe(0);
    await expect(response.text()).rejects.toThrow('too slow');
  });

  test('over a socket who does not read is hung up on, while the server goes on', async () => {
    const { app, emit, listeners } = fed({ buffer: 10_000, stalledMs: 50 });
    const server = await serveHttp({
      app: { fetch: (request, env) => app.fetch(request, env), endStreams: () => {} },
      host: '127.0.0.1',
      port: 0,
    });
    onTestFinished(() => server.close());
    const socket = connect(server.port, '127.0.0.1').pause();
    socket.on('error', () => {});
    socket.write('GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    for (let id = 1; listeners.size === 0 || id < 3; id++)
      await new Promise((resolve) => setImmediate(resolve));
    for (let id = 1; listeners.size > 0 && id < 100_000; id++) await emit(record(id, 'x'.repeat(50_000)));
    socket.resume();

    await once(socket, 'close');
    expect(listeners.size).toBe(0);
    expect((await fetch(`http://127.0.0.1:${server.port}/here`)).status).toBe(200);
  });
});

interface Seen {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream of the app; `until` gives the first event that is so. */
async function reading(door: Door, path: string, headers: Readonly<Record<string, string>>) {
  const response = await door.app.request(path, { headers });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const seen: Seen[] = [];
  let text = '';
  onTestFinished(async () => reader.cancel());
  return {
    seen,
    async until(wanted: (event: Seen) => boolean): Promise<Seen> {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream ended');
        text += decoder.decode(value, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        seen.push(...blocks.filter((block) => block.startsWith('id: ')).map(parsed));
        const found = seen.find(wanted);
        if (found !== undefined) return found;
      }
    },
  };
}

function parsed(block: string): Seen {
  const [id = '', event = '', data = ''] = block
    .split('\n')
    .map((line) => line.slice(line.indexOf(': ') + 2));
  return { id: Number(id), event, data: JSON.parse(data) as Seen['data'] };
}

type Listener = (record: FeedRecord) => void | Promise<void>;

/** Streams over a feed that the test holds in its hand. */
function fed(limits: Partial<StreamLimits>, signedIn: () => boolean = () => true) {
  const listeners = new Set<Listener>();
  const streams = createEventStreams(
    {
      project: {
        feed: {
          after: async () => [],
          newest: async () => 0,
          subscribe: (listener: Listener) => {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
        },
      } as never,
      settings: { origin: '', hosts: [], secure: false, maxBody: 0, maxStreams: 9 },
    },
    { stream: () => {} },
    { heartbeatMs: 60_000, buffer: 100_000, stalledMs: 60_000, ...limits },
  );
  onTestFinished(() => streams.close());
  const app = new Hono<RestEnv>();
  app.onError((error, c) => problemOf(error, c.req.path));
  app.get('/here', (c) => c.text('here'));
  app.get('/events', (c) => {
    c.set('caller', { kind: 'human', session: { ...OPERATOR, name: c.req.header('from') ?? OPERATOR.name } });
    c.set('signedIn', async () => signedIn());
    return streams.handler(c);
  });
  return {
    app,
    listeners,
    request: () => app.request('/events'),
    as: (from: string) => app.request('/events', { headers: { from } }),
    emit: (one: FeedRecord) => [...listeners].map((listener) => listener(one))[0],
  };
}

function record(id: number, data: string): FeedRecord {
  return { id, seq: id, run: null, time: '', principal: 'x', event: 'signed_in', data, prev: '', hash: '' };
}
