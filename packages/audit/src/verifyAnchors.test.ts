import { expect, test } from 'vitest';
import type { Anchor } from './anchor.ts';
import type { PlacedHead, Verification } from './auditSource.ts';
import { NO_HEADS } from './headSum.ts';
import { verifyAnchors } from './verifyAnchors.ts';

test('records that came after the newest anchor are not read, and none where there is no anchor', async () => {
  const findings: string[] = [];
  let read = 0;
  const heads = function* (): Iterable<PlacedHead> {
    for (let place = 1; place <= 9; place += 1) {
      read = place;
      yield { place, run: null, seq: place, hash: `h${place}` };
    }
  };
  const verification = {
    source: { places: { heads, newest: () => 9 } },
    report: ({ message }: { readonly message: string }) => void findings.push(message),
    breathe: () => undefined,
  } as unknown as Verification;
  const anchorAt = (place: number): Anchor => ({
    project: { seq: place, hash: `h${place}` },
    sum: NO_HEADS,
    runs: 0,
    place,
    time: `t${place}`,
  });

  expect(await verifyAnchors(verification, [])).toEqual([]);
  expect(read).toBe(0);
  expect(await verifyAnchors(verification, [anchorAt(3), anchorAt(2)])).toEqual([]);
  expect(read).toBe(4);
  expect(findings).toEqual([]);
  await verifyAnchors(verification, [{ ...anchorAt(3), project: { seq: 3, hash: 'other' } }, anchorAt(12)]);
  expect(findings.map((message) => /anchor of (t\d+)/.exec(message)?.[1])).toEqual(['t3', 't12']);
});
