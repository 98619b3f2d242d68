import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Takes the requests of all connections as Node hands them over, and has each begin when it is its turn. */
export interface Pipelines {
  take(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Has one request of a connection under way at a time. Node hands over all that came in one piece at once, thousands of
 * small ones: whatever counts connections would count too little, and all of them would stand before everybody else's. The
 * answers go out in that order anyway. Where many wait, nothing more is read until their turn came.
 */
export function createPipelines(
  begin: (request: IncomingMessage, response: ServerResponse) => void,
): Pipelines {
  const lines = new Map<Socket, Line>();
  let waiting = 0;

  function open(socket: Socket): Line {
    const line: Line = { isBusy: false, isPaused: false, waiting: [] };
    lines.set(socket, line);
    // Node reads on at the end of each request, of those that wait too.
    socket.on('resume', () => {
      if (line.isPaused) socket.pause();
    });
    socket.once('close', () => {
      lines.delete(socket);
      waiting -= line.waiting.length;
      line.waiting.length = 0;
    });
    return line;
  }

  function start(line: Line, [request, response]: Waiting): void {
    line.isBusy = true;
    response.on('close', () => {
      // In a turn of its own: a line whose answers wait for nothing would keep all other connections from being read.
      if (line.waiting.length > 0) setImmediate(next, line, request.socket);
      else line.isBusy = false;
    });
    begin(request, response);
  }

  function next(line: Line, socket: Socket): void {
    const one = line.waiting.shift();
    // Nobody is there to be answered.
    if (one === undefined || socket.destroyed) return;
    waiting -= 1;
    if (line.isPaused && line.waiting.length === 0) {
      line.isPaused = false;
      socket.resume();
    }
    // Node answers what is malformed by itself, and tells no end of a response that waits for such an answer.
    if (one[1].socket === null) socket.destroy();
    else start(line, one);
  }

  function wait(line: Line, one: Waiting): void {
    const { socket } = one[0];
    line.waiting.push(one);
    waiting += 1;
    if (line.waiting.length < FEW) return;
    // What came with it in one piece is handed over still.
    line.isPaused = true;
    socket.pause();
    if (waiting > MOST_WAITING) socket.destroy();
  }

  return {
    take(request, response) {
      const { socket } = request;
      if (socket.destroyed) return;
      const line = lines.get(socket) ?? open(socket);
      if (line.isBusy) wait(line, [request, response]);
      else start(line, [request, response]);
    },
  };
}

/** So many may always wait on a connection: a client that sends ahead means well. */
const FEW = 8;

/** On all connections, some 40 MB. Above it, one is closed on which more than a few would wait. */
const MOST_WAITING = 16_384;

interface Line {
  isBusy: boolean;
  isPaused: boolean;
  readonly waiting: Waiting[];
}

type Waiting = readonly [request: IncomingMessage, response: ServerResponse];
