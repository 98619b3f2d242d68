import type { Duplex } from 'node:stream';
import pg from 'pg';
import { createAnswerGuard, UnknownAnswer, UnknownMethod } from './answerGuard.ts';

/**
 * A client of the driver whose connection fails, and nothing else, when the server says what cannot be read. The driver
 * reads in a handler of the socket: what it throws there would end the process. INVARIANT: every connection to a database
 * is made with it.
 */
export class GuardedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const inside = this as unknown as Inside;
    const { connection } = inside;
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) =>
      attach(guarded(stream, (error) => connection.emit('error', error)));
    // The driver leaves a connection open that failed before it was one: the server could go on speaking.
    connection.on('error', () => connection.stream.destroy());
    connection.on('errorMessage', () => {
      if (inside._connecting) connection.stream.destroy();
    });
    // Told here, and not to the one who waits for the connection, is what fails between the words of the server.
    this.on('error', (error) => {
      if (inside._connecting) connection.emit('error', error);
    });
  }

  /** The driver tells nobody of a connection that is ended while it is made: who waits for it would do so for ever. */
  override end(): Promise<void>;
  override end(done: (error: Error) => void): void;
  override end(done?: (error: Error) => void): Promise<void> | void {
    const { _connecting, connection } = this as unknown as Inside;
    if (_connecting) connection.emit('error', new Error('the connection was ended while it was made'));
    return done === undefined ? super.end() : super.end(done);
  }
}

/** What the driver has no types for. */
interface Inside {
  readonly _connecting: boolean;
  readonly connection: NodeJS.EventEmitter & {
    readonly stream: Duplex;
    attachListeners(stream: Heard): void;
  };
}

type Heard = Pick<Duplex, 'on'>;

/** The same stream for a reader, whose faults are told to `fail`; after one it hears no more. */
function guarded(stream: Heard, fail: (error: unknown) => void): Heard {
  const look = createAnswerGuard();
  let failed = false;
  const heard = {
    on(event: string, listener: (...heard: unknown[]) => void) {
      if (event !== 'data') return stream.on(event, listener);
      return stream.on('data', (bytes: Buffer) => {
        if (failed) return;
        try {
          look(bytes);
          listener(bytes);
        } catch (error) {
          failed = true;
          fail(isKnown(error) ? error : new UnknownAnswer('', { cause: error }));
        }
      });
    },
  };
  return heard as unknown as Heard;
}

function isKnown(error: unknown): boolean {
  return error instanceof UnknownAnswer || error instanceof UnknownMethod;
}
