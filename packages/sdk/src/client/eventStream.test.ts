import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { createStreamReader } from './eventStream.ts';

const STREAM =
  ': hello\nretry: 250\n\nid: 1\nevent: record\ndata: {"a":\ndata: 1}\n\n' +
  'id: 2\r\ndata: two\r\n\r\ndata:no space\rid\r\r\ndata\n\nid: 7\n\nid: 8\ndata: cut off';

const MESSAGES = [
  { event: 'record', data: '{"a":\n1}' },
  { event: 'message', data: 'two' },
  { event: 'message', data: 'no space' },
  { event: 'message', data: '' },
];

test('messages are put together from their lines; what is not ended is not a message', () => {
  const reader = createStreamReader();

  expect(reader.push(STREAM)).toEqual(MESSAGES);
  expect(reader).toMatchObject({ lastId: '7', retryMs: 250 });
});

test('however the text is cut, the messages are the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
      const reader = createStreamReader();
      const places = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];

      const messages = places.slice(1).flatMap((end, at) => reader.push(STREAM.slice(places[at], end)));

      expect(messages).toEqual(MESSAGES);
    }),
    { numRuns: cases({ quick: 100, full: 2000 }) },
  );
});

test('a field that means nothing is passed over, and so are bad values', () => {
  const reader = createStreamReader();

  expect(reader.push('id: a\0b\nretry: soon\nother: x\ndata: y\n\n')).toEqual([
    { event: 'message', data: 'y' },
  ]);
  expect(reader).toMatchObject({ lastId: '', retryMs: null });
});

test('a message without end is refused, in one line or in many', () => {
  const line = createStreamReader();
  const lines = createStreamReader();

  expect(() => {
    for (let megabytes = 0; megabytes < 64; megabytes += 1) line.push('x'.repeat(1024 * 1024));
  }).toThrow('too large');
  expect(() => {
    for (let megabytes = 0; megabytes < 64; megabytes += 1) lines.push(`data: ${'x'.repeat(1024 * 1024)}\n`);
  }).toThrow('too large');
});
