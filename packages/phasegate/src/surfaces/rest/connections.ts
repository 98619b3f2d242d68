import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, in the order of their last request. */
export interface Connections {
  /**
   * One came. Where there are too many, the one that has asked for nothing for longest has to go; where all ask, the one
   * whose request has been on its way for longest without being whole.
   */
  add(socket: Socket): void;
  /** A request begins; what is given back is for its end. */
  begin(request: IncomingMessage): () => void;
}

/**
 * Keeps not more than so many. Anyone who opens connections and leaves them loses those again to the next one: with a
 * limit that only turns away who comes last, one client could keep everybody else out.
 */
export function createConnections(most: number): Connections {
  // The requests that each has under way.
  const open = new Map<Socket, Set<IncomingMessage>>();

  function isIdle(requests: ReadonlySet<IncomingMessage>): boolean {
    return requests.size === 0;
  }

  function sendsNothing(requests: ReadonlySet<IncomingMessage>): boolean {
    return [...requests].every(({ complete }) => !complete);
  }

  /** Puts it behind all others. */
  function touch(socket: Socket): Set<IncomingMessage> | undefined {
    const requests = open.get(socket);
    if (requests === undefined) return undefined;
    open.delete(socket);
    open.set(socket, requests);
    return requests;
  }

  return {
    add(socket) {
      open.set(socket, new Set());
      socket.once('close', () => open.delete(socket));
      if (open.size <= most) return;
      for (const mayGo of [isIdle, sendsNothing]) {
        const found = [...open].find(([one, requests]) => one !== socket && mayGo(requests));
        if (found === undefined) continue;
        open.delete(found[0]);
        found[0].destroy();
        return;
      }
      open.delete(socket);
      socket.destroy();
    },
    begin(request) {
      touch(request.socket)?.add(request);
      return () => touch(request.socket)?.delete(request);
    },
  };
}
