import { canonicalJson, type Json } from '@phasegate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import {
  createCutter,
  createSeenParts,
  type Part,
  placeOf,
  putBack,
  wholeLength,
  withPlaces,
  withPlacesOf,
} from './cutText.ts';

const MARK = '\u0001';

test('any value comes back from its text and its parts, and its canonical text stays canonical', () => {
  const few = fc.string({ maxLength: 9, unit: 'binary' });
  const long = fc.tuple(few, fc.integer({ min: 1, max: 200 })).map(([text, times]) => text.repeat(times));
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(long, fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      fc.array(tie('value'), { maxLength: 6 }),
      fc.dictionary(fc.oneof(fc.constantFrom('evidence', 'state', 'value', 'a'), fc.string()), tie('value'), {
        maxKeys: 6,
      }),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('evidence', 'wait', 'state', 'by'), json), (value) => {
      const cutter = createCutter();
      const store = makeStore();
      const plain = withPlaces(cutter.json(value), store.place);
      expect(putBack(plain, store.read)).toBe(JSON.stringify(value));
      expect(wholeLength(plain)).toBe(JSON.stringify(value).length);
      const canonical = canonicalJson(value);
      const sorted = putBack(withPlaces(cutter.canonical(value, canonical), store.place), store.read);
      expect(canonicalJson(JSON.parse(sorted ?? 'null') as Json)).toBe(canonical);
    }),
    { numRuns: cases({ quick: 40, full: 2_000 }) },
  );
});

test('a large value is stored once wherever the same write has it, and small ones stay where they are', () => {
  const work = { lines: Array.from({ length: 200 }, (_, line) => `line ${line}`) };
  const cutter = createCutter();
  const store = makeStore();
  const record = { evidence: { work }, by: 'ada', recorded: { command: { evidence: { work } } } };
  const waiting = { wait: { for: 'gate', evidence: { work }, votes: [] }, state: { work, n: 1 } };
  const texts = [
    withPlaces(cutter.canonical(record, canonicalJson(record)), store.place),
    withPlaces(cutter.json(waiting), store.place),
    withPlaces(cutter.json({ evidence: { small: 'x' } }), store.place),
  ];
  expect(store.parts).toEqual([JSON.stringify(work.lines)]);
  expect(texts.map((text) => text.split(MARK).length)).toEqual([5, 5, 1]);
  expect(withPlacesOf(new Map(), texts[1] ?? '').size).toBe(1);
});

test.each([
  ['a part that is missing', (place: string) => place.replace('0:', '7:')],
  ['a part of another length', (place: string) => place.replace(/:(\d)/, ':1$1')],
  ['another digest', (place: string) => `${place.slice(0, -2)}_${MARK}`],
  ['half a place', (place: string) => place.slice(0, -1)],
  ['a place that is none', () => MARK + MARK],
])('a text with %s is nobody’s', (_, change) => {
  const store = makeStore();
  const value = { evidence: { text: 'x'.repeat(900) } };
  const stored = withPlaces(createCutter().json(value), store.place);
  expect(putBack(stored, store.read)).toBe(JSON.stringify(value));
  const [before = '', place = '', after = ''] = stored.split(MARK);
  const changed = before + change(MARK + place + MARK) + after;
  expect(putBack(changed, store.read)).toBe(null);
  // Nor is it where the part itself was seen before.
  const seen = createSeenParts();
  putBack(stored, store.read, seen);
  expect(putBack(changed, store.read, seen)).toBe(null);
});

test('a part that was seen is not read again, until it is cleared or there are too many', () => {
  const store = makeStore();
  const stored = ['x', 'y'].map((letter) =>
    withPlaces(createCutter().json({ evidence: { text: letter.repeat(600_000) } }), store.place),
  );
  const seen = createSeenParts();
  const reads: number[] = [];
  const look = (text = '') =>
    putBack(
      text,
      (id) => {
        reads.push(id);
        return store.read(id);
      },
      seen,
    );
  expect(look(stored[0])).toBe(look(stored[0]));
  expect(reads).toEqual([0]);
  seen.clear();
  look(stored[0]);
  expect(reads).toEqual([0, 0]);
  look(stored[1]);
  look(stored[0]);
  expect(reads).toEqual([0, 0, 1, 0]);
});

function makeStore() {
  const parts: string[] = [];
  return {
    parts,
    place(part: Part) {
      const known = parts.indexOf(part.text);
      if (known < 0) parts.push(part.text);
      return placeOf(known < 0 ? parts.length - 1 : known, part);
    },
    read: (id: number) => parts[id],
  };
}
