import type { ServerResponse } from 'node:http';
import { withoutRecording } from '@phasegate/core/engine';
import type { Context } from 'hono';
import { holdersOfMost } from '../../limits/holdersOfMost.ts';
import type { FeedRecord } from '../../runtime/ports.ts';
import { humanOf } from './callers.ts';
import type { Metrics } from './metrics.ts';
import type { RestEnv, RestParts } from './parts.ts';
import { RequestRefused } from './problem.ts';

/** The event streams of one server. */
export interface EventStreams {
  /** `GET /api/v1/events`: what happens, as server-sent events, from `Last-Event-ID` on. */
  readonly handler: (c: Context<RestEnv>) => Promise<Response>;
  /** Ends every stream; a client that comes back goes on where it was. */
  close(): void;
}

/** How streams behave; smaller in tests. */
export interface StreamLimits {
  readonly heartbeatMs: number;
  /** Bytes kept for a client that does not read. */
  readonly buffer: number;
  /** How long a client may keep its buffer full. */
  readonly stalledMs: number;
}

/** Streams of the project's feed for humans, each with a buffer of its own that cannot grow. */
export function createEventStreams(
  parts: Pick<RestParts, 'project' | 'settings'>,
  metrics: Pick<Metrics, 'stream'>,
  limits: StreamLimits = LIMITS,
): EventStreams {
  const { project, settings } = parts;
  const places = new Set<Place>();

  /** Ends a stream of the one who has the most, unless they want another. */
  function makeRoomFor(name: string): boolean {
    const crowding = holdersOfMost([...places, { name }].map((place) => place.name));
    if (crowding.has(name)) return false;
    const given = [...places].find((place) => place.stream !== null && crowding.has(place.name));
    given?.stream?.end();
    return given !== undefined;
  }

  async function begin(c: Context<RestEnv>, place: Place): Promise<Response> {
    const run = c.req.query('run') ?? null;
    const newest = await project.feed.newest();
    const after = startOf(c, newest);
    if (run !== null) await project.as({ kind: 'human', name: place.name }).view(run);
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    // Nobody would ever read, or cancel, the body of an answer that has none.
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const stream = createStream({
      limits,
      socket: c.env?.outgoing,
      signedIn: c.get('signedIn'),
    });
    place.stream = stream;
    metrics.stream(1);
    const stop = project.feed.subscribe(
      (record) => (run === null || record.run === run ? stream.send(textOf(record)) : undefined),
      { after },
    );
    stream.onEnd(() => {
      stop();
      places.delete(place);
      metrics.stream(-1);
    });
    // A client that is gone before its body is looked at would not be noticed otherwise.
    const { signal } = c.req.raw;
    signal.addEventListener('abort', stream.end, { once: true });
    if (signal.aborted) stream.end();
    return new Response(stream.body, { headers });
  }

  return {
    async handler(c) {
      const { name } = humanOf(c);
      if (places.size >= settings.maxStreams && !makeRoomFor(name)) {
        throw new RequestRefused('rate_limited', `there are ${settings.maxStreams} event streams already`, {
          headers: { 'retry-after': '5' },
        });
      }
      // Taken before anything is awaited, so that many at once cannot all find room.
      const place: Place = { name, stream: null };
      places.add(place);
      try {
        return await begin(c, place);
      } finally {
        if (place.stream === null) places.delete(place);
      }
    },
    close() {
      for (const { stream } of [...places]) stream?.end();
    },
  };
}

/** Room for one stream. */
interface Place {
  readonly name: string;
  /** Null until it has begun. */
  stream: Stream | null;
}

const LIMITS: StreamLimits = { heartbeatMs: 15_000, buffer: 1024 * 1024, stalledMs: 30_000 };

interface Stream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when there is room for more. */
  send(text: string): Promise<void>;
  end(): void;
  onEnd(listener: () => void): void;
}

/** One client's stream. A client that reads too slowly is cut off rather than waited for, and can come back. */
function createStream(options: {
  readonly limits: StreamLimits;
  readonly socket: ServerResponse | undefined;
  readonly signedIn: () => Promise<boolean>;
}): Stream {
  const { limits, socket, signedIn } = options;
  const encoder = new TextEncoder();
  const listeners: (() => void)[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let room: PromiseWithResolvers<void> | null = null;
  let stalled: NodeJS.Timeout | undefined;

  function finish(): void {
    if (controller === null) return;
    controller = null;
    clearInterval(heartbeat);
    clearTimeout(stalled);
    room?.resolve();
    for (const listener of listeners) listener();
  }
  function end(): void {
    const open = controller;
    finish();
    open?.close();
  }
  function drop(): void {
    const open = controller;
    finish();
    // Behind a socket the body is given up with it; an error in it would be taken for one of ours.
    if (socket !== undefined) socket.destroy();
    else open?.error(new Error('the reader of an event stream was too slow'));
  }
  function madeRoom(): void {
    clearTimeout(stalled);
    room?.resolve();
    room = null;
  }
  function waitForRoom(): Promise<void> {
    if (room === null) {
      room = Promise.withResolvers<void>();
      stalled = setTimeout(drop, limits.stalledMs).unref();
    }
    return room.promise;
  }
  async function send(text: string): Promise<void> {
    if (controller === null) return;
    controller.enqueue(encoder.encode(text));
    const left = controller.desiredSize ?? 0;
    if (left > 0) return;
    // A feed that does not wait for its listeners would fill the memory otherwise.
    if (left < -limits.buffer) return drop();
    return waitForRoom();
  }
  async function beat(): Promise<void> {
    if (await signedIn().catch(() => false)) {
      // A full buffer is as good as a heartbeat.
      if (room === null) await send(': still here\n\n');
    } else {
      end();
    }
  }
  const heartbeat = setInterval(() => void beat(), limits.heartbeatMs).unref();
  const body = new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened;
        opened.enqueue(encoder.encode('retry: 2000\n\n'));
      },
      pull: madeRoom,
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: limits.buffer }),
  );
  return { body, send, end, onEnd: (listener) => listeners.push(listener) };
}

function startOf(c: Context<RestEnv>, newest: number): number {
  const header = c.req.header('last-event-id');
  const text = header ?? c.req.query('after');
  if (text === undefined) return newest;
  const id = /^\d{1,15}$/.test(text) ? Number(text) : null;
  if (id !== null && id <= newest) return id;
  const field = header === undefined ? 'after' : 'Last-Event-ID';
  const message = 'is not the id of an event of this server';
  throw new RequestRefused('request_invalid', `\`${field}\` ${message}`, { fields: [{ field, message }] });
}

function textOf(record: FeedRecord): string {
  return `id: ${record.id}\nevent: ${record.event}\ndata: ${JSON.stringify(withoutRecording(record))}\n\n`;
}
