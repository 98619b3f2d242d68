import type { Socket } from 'node:net';

/** The connections of a server, in the order of their last request. */
export interface Connections {
  /** One came. Where there are too many, the one that has asked for nothing for longest has to go; this one where all work. */
  add(socket: Socket): void;
  /** A request of it begins; the answer is for its end. */
  begin(socket: Socket): () => void;
}

/**
 * Keeps not more than so many. Whoever opens connections and leaves them loses those again to whoever comes: with a
 * limit that only turns away who comes last, one client could keep everybody else out.
 */
export function createConnections(most: number): Connections {
  // How many requests each has under way.
  const open = new Map<Socket, number>();

  function move(socket: Socket, by: number): void {
    const underWay = open.get(socket);
    if (underWay === undefined) return;
    open.delete(socket);
    open.set(socket, underWay + by);
  }

  return {
    add(socket) {
      open.set(socket, 0);
      socket.once('close', () => open.delete(socket));
      if (open.size <= most) return;
      for (const [oldest, underWay] of open) {
        if (underWay > 0) continue;
        open.delete(oldest);
        oldest.destroy();
        return;
      }
    },
    begin(socket) {
      move(socket, 1);
      return () => move(socket, -1);
    },
  };
}
