import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Channel } from './channel.ts';

const [OPEN, DATA, END, RESET] = [1, 2, 3, 4];

test('what one side says on a connection the other hears, in any pieces, and ends', async () => {
  const [inside, outside] = duplexPair();
  new Channel(outside, (_, connection) => {
    connection.pipe(connection);
    return true;
  });
  const connection = new Channel(piecewise(inside)).open(7);
  const said = Buffer.alloc(300_000, 'abc');
  connection.end(said);

  expect(Buffer.concat(await connection.toArray()).equals(said)).toBe(true);
});

test('who is refused is told so, and an honest one may ask again', async () => {
  const [inside, outside] = duplexPair();
  new Channel(outside, (service) => service === 1);
  const channel = new Channel(inside);

  for (let times = 0; times < 20; times += 1) {
    const connection = channel.open(2).resume();
    await once(connection, 'close');
  }

  expect(channel.open(1).destroyed).toBe(false);
});

test('one who does not take what is owed to it is not listened to', async () => {
  const [inside, outside] = duplexPair({ highWaterMark: 1024 });
  let asked = 0;
  new Channel(outside, () => {
    asked += 1;
    return false;
  });

  for (let id = 1; id <= 9000; id += 1) inside.write(frame(id, OPEN, Buffer.from([9])));
  await settled();

  expect(asked).toBeLessThan(2000);
  expect(outside.writableLength).toBeLessThan(64 * 1024);
  // It listens again once that is taken.
  inside.resume();
  await settled();
  expect(asked).toBe(9000);
});

test('one who is refused without end is ended', async () => {
  const [inside, outside] = duplexPair();
  let asked = 0;
  new Channel(outside, () => {
    asked += 1;
    return false;
  });
  inside.resume();

  for (let id = 1; id <= 30_000; id += 1) inside.write(frame(id, OPEN, Buffer.from([9])));
  await settled();

  expect(outside.destroyed).toBe(true);
  expect(asked).toBeLessThan(10_100);
});

test.each([
  ['a frame that is too long', frame(1, DATA, Buffer.alloc(64 * 1024 + 1))],
  ['a kind that nobody knows', frame(1, 9)],
  ['data of nothing', frame(1, DATA)],
  ['an end with data', frame(1, END, Buffer.from('x'))],
  ['a reset with data', frame(1, RESET, Buffer.from('x'))],
  ['an opening of no service', frame(1, OPEN)],
  ['a second opening', Buffer.concat([frame(1, OPEN, Buffer.from([1])), frame(1, OPEN, Buffer.from([1]))])],
])('what makes no sense ends it: %s', async (_, bytes) => {
  const [inside, outside] = duplexPair();
  new Channel(outside, () => true);

  inside.write(bytes);
  await settled();

  expect(outside.destroyed).toBe(true);
});

test('many small pieces of a large frame are put together once', async () => {
  const [inside, outside] = duplexPair();
  let heard: Duplex | undefined;
  new Channel(outside, (_, connection) => {
    heard = connection;
    return true;
  });
  const copied = countCopies();

  inside.write(frame(1, OPEN, Buffer.from([1])));
  for (const byte of frame(1, DATA, Buffer.alloc(20_000, 'x'))) inside.write(Buffer.from([byte]));
  await settled();

  expect(heard?.read()).toHaveLength(20_000);
  expect(copied()).toBeLessThan(200_000);
});

function frame(id: number, kind: number, bytes: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32BE(id, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(bytes.length, 5);
  return Buffer.concat([head, bytes]);
}

/** How many bytes were put together with others since. */
function countCopies(): () => number {
  const concat = Buffer.concat;
  let bytes = 0;
  Buffer.concat = (list, ...rest) => {
    const made = concat(list, ...rest);
    bytes += made.length;
    return made;
  };
  return () => {
    Buffer.concat = concat;
    return bytes;
  };
}

/** A pipe that gives what it is given in pieces of odd sizes. */
function piecewise(pipe: Duplex): Duplex {
  const push = pipe.push.bind(pipe);
  pipe.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    let more = true;
    for (let at = 0; at < chunk.length; at += 4099) more = push(chunk.subarray(at, at + 4099));
    return more;
  };
  return pipe;
}

/** Everything that was under way has been heard: nothing here waits for anything but turns. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
}
