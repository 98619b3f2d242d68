import { Duplex } from 'node:stream';

/**
 * Many connections over one pipe, which is all that leads out of a sandbox. Either side opens connections to a service
 * by its number. What a frame is: connection (4 bytes), kind (1), length (4), and that many bytes.
 */
export class Channel {
  readonly #pipe: Duplex;
  readonly #opened: (service: number, connection: Duplex) => void;
  readonly #connections = new Map<number, Connection>();
  readonly #full = new Set<number>();
  #rest: Buffer = Buffer.alloc(0);
  #next = 1;

  constructor(pipe: Duplex, opened: (service: number, connection: Duplex) => void = refuse) {
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
    this.#send(id, OPEN, Buffer.from([service]));
    return this.#add(id);
  }

  #add(id: number): Connection {
    const connection: Connection = new Connection({
      send: (kind, bytes, sent) => this.#send(id, kind, bytes, sent),
      // One that reads slowly holds up the others rather than fill our memory.
      full: (isFull) => {
        if (isFull) this.#full.add(id);
        else this.#full.delete(id);
        if (this.#full.size === 0) this.#pipe.resume();
        else this.#pipe.pause();
      },
      gone: () => {
        this.#connections.delete(id);
        this.#full.delete(id);
        if (this.#full.size === 0) this.#pipe.resume();
      },
    });
    this.#connections.set(id, connection);
    connection.on('error', () => connection.destroy());
    return connection;
  }

  #send(id: number, kind: number, bytes: Buffer = NOTHING, sent?: () => void): void {
    if (this.#pipe.destroyed || !this.#pipe.writable) return void sent?.();
    const head = Buffer.alloc(HEAD);
    head.writeUInt32BE(id, 0);
    head.writeUInt8(kind, 4);
    head.writeUInt32BE(bytes.length, 5);
    this.#pipe.write(Buffer.concat([head, bytes]), () => sent?.());
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= HEAD) {
      const length = this.#rest.readUInt32BE(5);
      // The other side is not ours: what makes no sense ends it.
      if (length > MOST) return void this.#pipe.destroy();
      if (this.#rest.length < HEAD + length) return;
      const [id, kind] = [this.#rest.readUInt32BE(0), this.#rest.readUInt8(4)];
      const bytes = this.#rest.subarray(HEAD, HEAD + length);
      this.#rest = this.#rest.subarray(HEAD + length);
      this.#frame(id, kind, Buffer.from(bytes));
    }
  }

  #frame(id: number, kind: number, bytes: Buffer): void {
    const known = this.#connections.get(id);
    if (kind === OPEN && known === undefined && this.#connections.size < MOST_CONNECTIONS) {
      this.#opened(bytes[0] ?? 0, this.#add(id));
    } else if (kind === DATA) known?.receive(bytes);
    else if (kind === END) known?.receive(null);
    else if (kind === RESET) known?.destroy();
  }
}

const OPEN = 1;
const DATA = 2;
const END = 3;
const RESET = 4;
const HEAD = 9;
const MOST = 1024 * 1024;
const FRAME_BYTES = 64 * 1024;
const MOST_CONNECTIONS = 256;
const NOTHING = Buffer.alloc(0);

function refuse(_: number, connection: Duplex): void {
  connection.destroy();
}

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
    this.#way.send(RESET);
    this.#way.gone();
    done(error);
  }
}
