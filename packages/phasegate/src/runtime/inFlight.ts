/**
 * The allowed calls under way, by run. A phase must not end under a call it allowed, and a call must not begin while
 * its phase is being left: enter first, have the call judged after that, leave in a `finally`.
 */
export interface InFlight {
  /** Waits while the run, or that item of it, is closing. `item` is the key of the token's item, where it has one. */
  enter(runId: string, item?: string | null): Promise<Entered>;
  /**
   * Lets nobody in, and waits for those inside. After `graceMs` their signals are aborted and they have a little
   * longer to leave; one that still does not is void. Gives a function that opens again. With `item` only those who
   * entered for that item are concerned; without, everyone in the run.
   */
  close(runId: string, graceMs: number, item?: string | null): Promise<() => void>;
  /** Whether a call is under way: whoever waits for one is not lost. */
  busy(runId: string, item?: string | null): boolean;
}

/** A call under way. */
export interface Entered {
  /** Aborted when the phase is left without waiting any longer. */
  readonly signal: AbortSignal;
  leave(): void;
}

/** Keeps track of the calls under way in this process. */
export function createInFlight(): InFlight {
  const rooms = new Map<string, Room>();

  const roomOf = (runId: string): Room => {
    const known = rooms.get(runId);
    if (known !== undefined) return known;
    const made: Room = { inside: new Set(), closing: new Set(), changed: null };
    rooms.set(runId, made);
    return made;
  };

  /** Rooms nobody uses are forgotten, so that runs that ended cost nothing. */
  const tidy = (runId: string, room: Room) => {
    if (room.inside.size === 0 && room.closing.size === 0) rooms.delete(runId);
    const changed = room.changed;
    room.changed = null;
    changed?.resolve();
  };

  async function enter(runId: string, item: string | null = null): Promise<Entered> {
    for (;;) {
      const room = roomOf(runId);
      if (!isClosing(room, item)) {
        const call: Call = { item, controller: new AbortController() };
        room.inside.add(call);
        const leave = () => {
          if (room.inside.delete(call)) tidy(runId, room);
        };
        return { signal: call.controller.signal, leave };
      }
      await changeOf(room);
    }
  }

  async function close(runId: string, graceMs: number, item: string | null = null): Promise<() => void> {
    let room = roomOf(runId);
    // One after the other: who opens again must not open what somebody else still keeps closed.
    while (overlapsClosing(room, item)) {
      await changeOf(room);
      room = roomOf(runId);
    }
    const closing: Closing = { item };
    room.closing.add(closing);
    const concerned = () => [...room.inside].filter((call) => item === null || call.item === item);
    await emptied(room, concerned, graceMs);
    for (const call of concerned()) call.controller.abort(new Error('the phase was left'));
    await emptied(room, concerned, AFTER_ABORT_MS);
    return () => {
      if (room.closing.delete(closing)) tidy(runId, room);
    };
  }

  return {
    enter,
    close,
    busy: (runId, item = null) => {
      const room = rooms.get(runId);
      return room !== undefined && [...room.inside].some((call) => item === null || call.item === item);
    },
  };
}

/** How long a call that was told to end may take to do so. */
const AFTER_ABORT_MS = 5_000;

interface Room {
  readonly inside: Set<Call>;
  readonly closing: Set<Closing>;
  /** Resolved when someone leaves or opens. */
  changed: { readonly promise: Promise<void>; readonly resolve: () => void } | null;
}

interface Call {
  readonly item: string | null;
  readonly controller: AbortController;
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

/** Waits until nobody concerned is inside, or the time is up. */
async function emptied(room: Room, concerned: () => readonly Call[], withinMs: number): Promise<void> {
  if (concerned().length === 0) return;
  const { promise: over, resolve } = Promise.withResolvers<'over'>();
  const timer = setTimeout(() => resolve('over'), withinMs);
  try {
    while (concerned().length > 0) {
      if ((await Promise.race([changeOf(room), over])) === 'over') return;
    }
  } finally {
    clearTimeout(timer);
  }
}
