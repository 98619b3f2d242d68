import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { LARGEST_RAW, type RawRequest, readRaw } from './rawRequest.ts';

/** An answer, ready to be sent. */
export interface HotAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** What the lane can answer. */
export interface HotRoutes {
  /** Paths it may be asked about. */
  readonly paths: ReadonlySet<string>;
  /** The answer; null for what has to go the usual way. It never throws, and has changed nothing when it gives null. */
  answer(request: RawRequest): Promise<HotAnswer> | null;
}

/** What the lane is built from. */
export interface HotLaneParts {
  /** Takes a connection over for good; what was read of it is to be read again. */
  readonly handOver: (socket: Socket) => void;
  /** How long a connection may be silent before its first request, and after one. */
  readonly headersMs: number;
  readonly idleMs: number;
}

/** Connections that are answered without an HTTP server, as long as they ask for nothing else. */
export interface HotLane {
  take(socket: Socket, routes: HotRoutes): void;
  /** Takes no more requests: who waits is answered and shown out, everyone else at once. */
  close(): void;
  /** Ends everything. */
  destroy(): void;
}

/**
 * The lane of agents that ask the same short question again and again. Reading HTTP in general costs more than
 * answering such a question durably, so it is done only for who needs it.
 */
export function createHotLane(parts: HotLaneParts): HotLane {
  const guests = new Set<Guest>();
  let closing = false;

  function take(socket: Socket, routes: HotRoutes): void {
    const guest: Guest = { socket, routes, held: null, busy: false, ended: false, patience: undefined };
    guests.add(guest);
    socket.setTimeout(parts.headersMs);
    socket.on('data', (chunk: Buffer) => heard(guest, chunk));
    socket.on('timeout', () => {
      if (!guest.busy) socket.destroy();
    });
    socket.on('end', () => {
      guest.ended = true;
      if (!guest.busy) socket.end();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => forget(guest));
  }

  function forget(guest: Guest): void {
    clearTimeout(guest.patience);
    guests.delete(guest);
  }

  function heard(guest: Guest, chunk: Buffer): void {
    const bytes = guest.held === null ? chunk : Buffer.concat([guest.held, chunk]);
    guest.held = null;
    // Who does not wait for an answer is not for this lane; but the answer comes first.
    if (guest.busy) {
      guest.held = bytes;
      if (bytes.length > LARGEST_RAW) guest.socket.pause();
      return;
    }
    const request = readRaw(bytes, guest.routes.paths);
    if (request === 'more') {
      guest.held = bytes;
      // Counted from the first byte: whoever sends one after the other must not stay for as long as they like.
      guest.patience ??= setTimeout(() => leave(guest), PATIENCE_MS);
      return;
    }
    clearTimeout(guest.patience);
    guest.patience = undefined;
    const answer = request === 'other' || closing ? null : guest.routes.answer(request);
    if (answer === null) {
      guest.held = bytes;
      leave(guest);
      return;
    }
    guest.busy = true;
    void answer.then((given) => tell(guest, given));
  }

  function tell(guest: Guest, { status, headers, body }: HotAnswer): void {
    const { socket } = guest;
    guest.busy = false;
    if (socket.destroyed) return;
    const last = closing || guest.ended;
    const connection = last
      ? 'connection: close'
      : `connection: keep-alive\r\nkeep-alive: timeout=${keepFor}`;
    const length = Buffer.byteLength(body);
    const told = socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}date: ${today()}\r\n${connection}\r\n` +
        `content-length: ${length}\r\n\r\n${body}`,
      // ASCII needs no encoding.
      length === body.length ? 'latin1' : 'utf8',
    );
    if (last) {
      socket.end();
      return;
    }
    if (guest.held !== null) {
      leave(guest);
      return;
    }
    if (!told) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
    if (socket.timeout !== parts.idleMs) socket.setTimeout(parts.idleMs);
  }

  const keepFor = Math.floor(parts.idleMs / 1000);

  /** What was read is put back, so that whoever takes over sees the connection from where we were asked last. */
  function leave(guest: Guest): void {
    const { socket, held } = guest;
    forget(guest);
    for (const event of ['data', 'timeout', 'end', 'error', 'close', 'drain'])
      socket.removeAllListeners(event);
    socket.setTimeout(0);
    socket.pause();
    if (held !== null) socket.unshift(held);
    parts.handOver(socket);
    socket.resume();
  }

  return {
    take,
    close() {
      closing = true;
      for (const { socket, busy } of guests) if (!busy) socket.destroy();
    },
    destroy() {
      for (const { socket } of guests) socket.destroy();
    },
  };
}

interface Guest {
  readonly socket: Socket;
  readonly routes: HotRoutes;
  /** Read, and not answered yet. */
  held: Buffer | null;
  busy: boolean;
  /** Whether nothing more will come. */
  ended: boolean;
  patience: NodeJS.Timeout | undefined;
}

/** The rest of a request that was begun follows at once, or is not waited for here. */
const PATIENCE_MS = 50;

let second = 0;
let date = '';

function today(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1000).toUTCString();
  }
  return date;
}
