import { expect, test } from 'vitest';
import { attachmentOf, holdsRing, isIsolated } from './rings.ts';
import { RINGS, type Ring } from './workflow.ts';

test('a ring holds for what asks for no more of attachment and isolation [S2.1]', () => {
  const held = (has: Ring) => RINGS.filter((asked) => holdsRing(has, asked));

  expect(held('served')).toEqual(['served']);
  expect(held('hooked')).toEqual(['served', 'hooked']);
  expect(held('sandboxed')).toEqual(['served', 'hooked', 'sandboxed']);
  expect(held('isolated')).toEqual(['served', 'isolated']);
  expect(held('hooked+isolated')).toEqual(['served', 'hooked', 'isolated', 'hooked+isolated']);
  expect(held('sandboxed+isolated')).toEqual(RINGS);
});

test('a word that is not a ring holds nothing, and nothing holds it', () => {
  const unknown = 'airtight' as Ring;

  expect(holdsRing(unknown, 'served')).toBe(false);
  expect(holdsRing('sandboxed+isolated', unknown)).toBe(false);
  expect([attachmentOf(unknown), isIsolated(unknown)]).toEqual(['served', false]);
});
