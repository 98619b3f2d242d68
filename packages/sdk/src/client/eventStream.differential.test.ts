import { createParser } from 'eventsource-parser';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { createStreamReader } from './eventStream.ts';

test('messages are those the usual library reads, however the bytes are cut', () => {
  fc.assert(
    fc.property(streams, (chunks) => {
      expect(byUs(chunks).messages).toEqual(byLibrary(chunks).messages);
    }),
    { numRuns: cases({ quick: 500, full: 20_000 }) },
  );
});

test('an id that stands alone is one more than the library tells of, which is why it is not used', () => {
  const chunks = ['id: 41\n\n'];

  expect(byUs(chunks).id).toBe('41');
  expect(byLibrary(chunks).id).toBeUndefined();
});

interface Read {
  readonly messages: readonly { readonly event: string; readonly data: string }[];
  readonly id: string | undefined;
}

function byUs(chunks: readonly string[]): Read {
  const reader = createStreamReader();
  return { messages: chunks.flatMap((chunk) => reader.push(chunk)), id: reader.lastId };
}

function byLibrary(chunks: readonly string[]): Read {
  const messages: { readonly event: string; readonly data: string }[] = [];
  let last: string | undefined;
  const parser = createParser({
    onEvent({ event, data, id }) {
      // A field without a value is there, and counts as the usual one.
      messages.push({ event: event || 'message', data });
      last = id ?? last;
    },
  });
  for (const chunk of chunks) parser.feed(chunk);
  return { messages, id: last };
}

const lines = fc.constantFrom(
  'data: a',
  'data:  b ',
  'data',
  'data:',
  'event: move',
  'event',
  'id: 7',
  'id',
  'retry: 20',
  'retry: x',
  ': still there',
  'unknown: x',
  ' data: c',
  'data: d: e',
  '',
  '',
);

/**
 * A stream with one kind of line end, cut anywhere. A single CR is left out: where one ends a piece, the library loses
 * a message without text.
 */
const streams = fc
  .tuple(
    fc.array(lines, { maxLength: 30 }),
    fc.constantFrom('\n', '\r\n'),
    fc.array(fc.nat(200), { maxLength: 6 }),
  )
  .map(([all, end, cuts]) => {
    const text = all.map((line) => `${line}${end}`).join('');
    const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
    return at.slice(1).map((to, index) => text.slice(at[index], to));
  });
