import { Duplex } from 'node:stream';

/**
 * Many connections over one pipe, which is all that leads out of a sandbox. Either side opens connections to a service
 * by its number. What a frame is: connection (4 bytes), kind (1), length (4), and that many bytes.
 */
export class Channel {
  readonly #pipe: Duplex;
  readonly #opened: (service: number, connection: Duplex) => boolean;
  readonly #connections = new Map<number, Connection>();
  readonly #full = new Set<number>();
  /** What came of a frame that is not whole yet, and how much there must be before it is looked at again. */
  #parts: Buffer[] = [];
  #size = 0;
  #needed = HEAD;
  #isTaking = false;
  #next = 1;
  /** Frames without data that wait to be written. */
  #owed = 0;
  #refused = 0;

  constructor(pipe: Duplex, opened: (service: number, connection: Duplex) => boolean = () => false) {
    this.#pipe = pipe;
    this.#opened = opened;
    pipe.on('data', (chunk: Buffer) => this.#take(chunk));
    const end = () => {
      for (const connection of this.#connections.values()) connection.destroy();
    };
    pipe.once('error', end);
    pipe.once('close', end);
    pipe.once('end', end);
  }

  /** Opens a connection to a service of the other side. */
  open(service: number): Duplex {
    const id = this.#next++;
    const connection = this.#add(id);
    this.#send(id, OPEN, Buffer.from([service]));
    return connection;
  }

  #add(id: number): Connection {
    const connection: Connection = new Connection({
      send: (kind, bytes, sent) => this.#send(id, kind, bytes, sent),
      // One that reads slowly holds up the others rather than fill our memory.
      full: (isFull) => {
        if (isFull) this.#full.add(id);
        else this.#full.delete(id);
        this.#flow();
      },
      gone: () => {
        this.#connections.delete(id);
        this.#full.delete(id);
        this.#flow();
      },
    });
    this.#connections.set(id, connection);
    connection.on('error', () => connection.destroy());
    return connection;
  }

  /**
   * Reads on, or waits. What a connection has to say waits with it; but every frame of the other side may cost one of
   * ours, and while it does not take those it is not listened to.
   */
  #flow(): void {
    if (this.#full.size === 0 && this.#owed <= MOST_OWED) this.#pipe.resume();
    else this.#pipe.pause();
  }

  #send(id: number, kind: number, bytes: Buffer = NOTHING, sent?: () => void): void {
    if (this.#pipe.destroyed || !this.#pipe.writable) return void sent?.();
    const head = Buffer.alloc(HEAD);
    head.writeUInt32BE(id, 0);
    head.writeUInt8(kind, 4);
    head.writeUInt32BE(bytes.length, 5);
    if (kind === DATA) return void this.#pipe.write(Buffer.concat([head, bytes]), () => sent?.());
    this.#owed += 1;
    this.#flow();
    this.#pipe.write(Buffer.concat([head, bytes]), () => {
      this.#owed -= 1;
      if (this.#owed === MOST_OWED) this.#flow();
      sent?.();
    });
  }

  #take(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    // An answer may bring the next frames at once; they come after those that are being looked at.
    if (this.#isTaking) return;
    this.#isTaking = true;
    // Put together once there is enough of it, or many small pieces would each cost the whole. What the pipe had taken
    // in before it was ended it still gives.
    while (this.#size >= this.#needed && !this.#pipe.destroyed) this.#takeFrames();
    this.#isTaking = false;
  }

  #takeFrames(): void {
    let rest = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#needed = HEAD;
    while (rest.length >= HEAD) {
      const length = rest.readUInt32BE(5);
      if (length > FRAME_BYTES) return void this.#pipe.destroy();
      this.#needed = HEAD + length;
      if (rest.length < this.#needed) break;
      const bytes = Buffer.from(rest.subarray(HEAD, this.#needed));
      if (!this.#frame(rest.readUInt32BE(0), rest.readUInt8(4), bytes)) return void this.#pipe.destroy();
      rest = rest.subarray(this.#needed);
      this.#needed = HEAD;
    }
    this.#parts.unshift(rest);
    this.#size += rest.length;
  }

  /** Gives whether it makes sense. The other side is not ours: what makes none ends it. */
  #frame(id: number, kind: number, bytes: Buffer): boolean {
    const known = this.#connections.get(id);
    if (kind === OPEN) return known === undefined && bytes.length === 1 && this.#accept(id, bytes[0] ?? 0);
    if (kind === DATA) known?.receive(bytes);
    else if (kind === END) known?.receive(null);
    else if (kind === RESET) known?.destroy();
    else return false;
    return (kind === DATA) === bytes.length > 0;
  }

  #accept(id: number, service: number): boolean {
    if (this.#connections.size < MOST_CONNECTIONS) {
      const connection = this.#add(id);
      if (this.#opened(service, connection)) return true;
      connection.destroy();
    } else this.#send(id, RESET);
    this.#refused += 1;
    return this.#refused <= MOST_REFUSED;
  }
}

const OPEN = 1;
const DATA = 2;
const END = 3;
const RESET = 4;
const HEAD = 9;
const FRAME_BYTES = 64 * 1024;
const MOST_CONNECTIONS = 256;
/** Programs ask again when they are refused, but not as often as this in one sandbox. */
const MOST_REFUSED = 10_000;
const MOST_OWED = 1024;
const NOTHING = Buffer.alloc(0);

interface Way {
  send(kind: number, bytes?: Buffer, sent?: () => void): void;
  full(isFull: boolean): void;
  gone(): void;
}

class Connection extends Duplex {
  readonly #way: Way;

  constructor(way: Way) {
    super({ allowHalfOpen: true });
    this.#way = way;
  }

  receive(bytes: Buffer | null): void {
    if (!this.push(bytes) && bytes !== null) this.#way.full(true);
  }

  override _read(): void {
    this.#way.full(false);
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
      const isLast = at + FRAME_BYTES >= chunk.length;
      this.#way.send(DATA, chunk.subarray(at, at + FRAME_BYTES), isLast ? done : undefined);
    }
    if (chunk.length === 0) done();
  }

  override _final(done: () => void): void {
    this.#way.send(END, NOTHING, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Both sides have said all and know it: a reset would take from the other what it has not read yet.
    const isOver = this.readableEnded && this.writableFinished;
    if (!isOver) this.#way.send(RESET);
    this.#way.gone();
    done(error);
  }
}
