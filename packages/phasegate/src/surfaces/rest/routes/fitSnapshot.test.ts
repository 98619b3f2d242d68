import type { Json } from '@phasegate/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../../test/tier.ts';
import { fitSnapshot, SNAPSHOT_LIMIT } from './fitSnapshot.ts';

describe('a snapshot', () => {
  test('that fits is left as it is', () => {
    const snapshot = { time: 't', task: { phase_content: 'x'.repeat(90_000) } };

    expect(fitSnapshot(snapshot)).toEqual({ ...snapshot, truncated: [] });
  });

  test('that does not fit loses its longest texts first, and says where [S2.73]', () => {
    const snapshot = {
      time: '2026-11-15T12:00:00.000Z',
      task: { id: 'r1', phase_content: 'x'.repeat(200_000), params: { note: 'y'.repeat(5_000), keep: 'z' } },
    };

    const fitted = fitSnapshot(snapshot);

    expect(fitted.truncated).toEqual(['task.phase_content']);
    expect(fitted.task.phase_content).toMatch(/^x{32768}… \[cut, 200000 characters in all\]$/);
    expect(fitted.task.params).toEqual(snapshot.task.params);
    expect(bytesOf(fitted)).toBeLessThan(SNAPSHOT_LIMIT);
  });

  test('of many small things loses the end of its lists', () => {
    const events = Array.from({ length: 5_000 }, (_, seq) => ({ seq, event: 'tool_judged', data: {} }));

    const fitted = fitSnapshot({ time: 't', events });

    expect(fitted.truncated).toEqual(['events']);
    expect(fitted.events).toEqual(events.slice(0, fitted.events.length));
    expect(fitted.events.length).toBeGreaterThan(50);
  });

  test('names only so many of the places it was cut at', () => {
    const texts = Object.fromEntries(Array.from({ length: 400 }, (_, key) => [`k${key}`, 'x'.repeat(9_000)]));

    const fitted = fitSnapshot({ params: texts });

    expect(fitted.truncated).toHaveLength(51);
    expect(fitted.truncated.at(-1)).toBe('…');
  });

  test('of anything at all is under 100 KB, keeps its fields with their types, and cuts nothing unsaid [S2.73]', () => {
    const grown = fc
      .tuple(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 4_000 }), fc.string())
      .map(([value, times, text]): Json => {
        const many = Array.from({ length: Math.min(times, 60) }, () => value as Json);
        return { many, long: text.repeat(times), [`${text}\u2028"`.repeat(times % 300)]: many };
      });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), grown), (snapshot) => {
        const fitted: Readonly<Record<string, Json>> = fitSnapshot(snapshot);

        expect(bytesOf(fitted)).toBeLessThan(SNAPSHOT_LIMIT);
        const whole = (fitted.truncated as readonly Json[]).length === 0;
        for (const [key, value] of Object.entries(snapshot)) {
          expect(typeof fitted[key]).toBe(typeof value);
          if (whole) expect(JSON.stringify(fitted[key])).toBe(JSON.stringify(value));
        }
      }),
      { numRuns: cases({ quick: 40, full: 1000 }) },
    );
  });

  test.each([
    ['one text of every width', { text: '\u0000🙂é'.repeat(200_000) }],
    ['keys longer than the limit', { open: { ['k'.repeat(300_000)]: 1, other: 2 } }],
    ['two hundred levels', { open: nested(200, 'x'.repeat(400)) }],
    [
      'a hundred thousand keys',
      { open: Object.fromEntries(Array.from({ length: 100_000 }, (_, k) => [k, k])) },
    ],
  ])('of %s fits', (_name, snapshot) => {
    const fitted = fitSnapshot(snapshot as Record<string, Json>);

    expect(bytesOf(fitted)).toBeLessThan(SNAPSHOT_LIMIT);
    if (bytesOf(snapshot) >= SNAPSHOT_LIMIT) expect(fitted.truncated).not.toEqual([]);
  });
});

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function nested(levels: number, text: string): Json {
  return levels === 0 ? text : { text, deeper: [nested(levels - 1, text), text, text] };
}
