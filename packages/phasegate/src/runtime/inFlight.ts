/**
 * Who is at a tool call in this process, by run. While a run is being changed nobody new comes in: an agent that calls
 * without a pause could otherwise keep its own phase from ever ending. Enter first, have the call judged after that,
 * leave in a `finally`. That no phase ends under a call is not this one's to see to: the store is asked for that.
 */
export interface InFlight {
  /** Waits while the run, or that item of it, is closed. `item` is the key of the token's item, where it has one. */
  enter(runId: string, item?: string | null): Promise<Entered>;
  /**
   * Lets nobody in until the function it gives is called; those inside go on. With `item` only that item is closed;
   * without, the whole run. Closings that concern each other take turns.
   */
  close(runId: string, item?: string | null): Promise<() => void>;
  /** Whether `close` would have to wait for another that has closed it. */
  isClosed(runId: string, item?: string | null): boolean;
}

/** Somebody inside. */
export interface Entered {
  leave(): void;
}

/** Keeps track of the runs of this process. */
export function createInFlight(): InFlight {
  const rooms = new Map<string, Room>();

  const roomOf = (runId: string): Room => {
    const known = rooms.get(runId);
    if (known !== undefined) return known;
    const made: Room = { inside: 0, closing: new Set(), changed: null };
    rooms.set(runId, made);
    return made;
  };

  /** Rooms nobody uses are forgotten, so that runs that ended cost nothing. */
  const tidy = (runId: string, room: Room) => {
    if (room.inside === 0 && room.closing.size === 0) rooms.delete(runId);
    const changed = room.changed;
    room.changed = null;
    changed?.resolve();
  };

  return {
    async enter(runId, item = null) {
      for (;;) {
        const room = roomOf(runId);
        if (!isClosing(room, item)) {
          room.inside += 1;
          let inside = true;
          const leave = () => {
            if (!inside) return;
            inside = false;
            room.inside -= 1;
            tidy(runId, room);
          };
          return { leave };
        }
        await changeOf(room);
      }
    },

    async close(runId, item = null) {
      let room = roomOf(runId);
      // One after the other: who opens again must not open what somebody else still keeps closed.
      while (overlapsClosing(room, item)) {
        await changeOf(room);
        room = roomOf(runId);
      }
      const closing: Closing = { item };
      room.closing.add(closing);
      return () => {
        if (room.closing.delete(closing)) tidy(runId, room);
      };
    },

    isClosed(runId, item = null) {
      const room = rooms.get(runId);
      return room !== undefined && overlapsClosing(room, item);
    },
  };
}

interface Room {
  inside: number;
  readonly closing: Set<Closing>;
  /** Resolved when someone leaves or opens. */
  changed: { readonly promise: Promise<void>; readonly resolve: () => void } | null;
}

interface Closing {
  readonly item: string | null;
}

function isClosing(room: Room, item: string | null): boolean {
  for (const closing of room.closing) if (closing.item === null || closing.item === item) return true;
  return false;
}

function overlapsClosing(room: Room, item: string | null): boolean {
  return item === null ? room.closing.size > 0 : isClosing(room, item);
}

function changeOf(room: Room): Promise<void> {
  room.changed ??= Promise.withResolvers<void>();
  return room.changed.promise;
}
