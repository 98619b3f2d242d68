import { expect, test } from 'vitest';
import { memoryRows } from '../../../runtime/signIns/memoryRows.ts';
import { type Challenges, createChallenges } from './challenges.ts';

const MINUTE = 60_000;
const KEY = Buffer.alloc(32, 1);

test('a challenge is good once, in its session, for its purpose, for three minutes', async () => {
  let time = 1_000_000;
  const challenges = challengesAt(() => time);
  const [one, other, late] = Array.from({ length: 3 }, () => challenges.make('s1', 'act')) as [
    string,
    string,
    string,
  ];

  expect(await challenges.spend('s2', 'act', one)).toBe(false);
  expect(await challenges.spend('s1', 'register', one)).toBe(false);
  expect(await challenges.spend('s1', 'act', one)).toBe(true);
  expect(await challenges.spend('s1', 'act', one)).toBe(false);
  time += 3 * MINUTE - 1;
  expect(await challenges.spend('s1', 'act', other)).toBe(true);
  time += 1;
  expect(await challenges.spend('s1', 'act', late)).toBe(false);
});

test('nobody makes one up, and another spelling of one is none', async () => {
  const challenges = challengesAt(() => 0);
  const made = challenges.make('s1', 'act');
  const last = made.at(-1) === 'A' ? 'Q' : 'A';

  for (const nonce of ['', 'x', 'A'.repeat(64), `${made}=`, `${made.slice(0, -1)}${last}`, `${made}A`])
    expect(await challenges.spend('s1', 'act', nonce)).toBe(false);
  const elsewhere = createChallenges({ rows: memoryRows(() => 0), key: Buffer.alloc(32, 2) });
  expect(await elsewhere.spend('s1', 'act', made)).toBe(false);
  expect(await challenges.spend('s1', 'act', made)).toBe(true);
});

test('who asks for many with the same cookie takes none away from its human, nor from others [adv.O5]', async () => {
  const challenges = challengesAt(() => 0);
  const [mine, others] = [challenges.make('s1', 'act'), challenges.make('s2', 'act')];

  for (let count = 0; count < 5_000; count += 1) challenges.make('s1', 'act');
  expect(await challenges.spend('s1', 'act', mine)).toBe(true);
  for (let count = 0; count < 5_000; count += 1)
    await challenges.spend('s1', 'act', challenges.make('s1', 'act'));

  expect(await challenges.spend('s2', 'act', others)).toBe(true);
});

test('of those who show one at the same moment, by nodes that share rows, one is let in', async () => {
  const rows = memoryRows(() => 0);
  const nodes = [1, 2].map(() => createChallenges({ rows, key: KEY })) as [Challenges, Challenges];
  const made = Array.from({ length: 4 }, () => nodes[0].make('s1', 'act'));

  const shown = made.flatMap((nonce) => nodes.map((node) => node.spend('s1', 'act', nonce)));

  expect(await Promise.all(shown)).toEqual(made.flatMap(() => [true, false]));
});

test('what one node has forgotten because it was over is not good at another whose clock is late', async () => {
  let [late, right] = [0, 0];
  const rows = memoryRows(() => right);
  const node = createChallenges({ rows, key: KEY });
  const behind = createChallenges({ rows: { ...rows, now: () => late }, key: KEY });
  const first = node.make('s1', 'act');
  expect(await node.spend('s1', 'act', first)).toBe(true);

  [late, right] = [MINUTE, 4 * MINUTE];
  expect(await node.spend('s1', 'act', node.make('s1', 'act'))).toBe(true);

  expect(JSON.stringify(await rows.get('challenges', 's1'))).not.toContain(
    Buffer.from(first, 'base64url').toString('hex', 0, 24),
  );
  expect(await behind.spend('s1', 'act', first)).toBe(false);
});

test('a row that cannot be read lets nobody in', async () => {
  const rows = memoryRows(() => 0);
  const challenges = createChallenges({ rows, key: KEY });
  await rows.put('challenges', { key: 's1', data: { spent: 'none' } }, null);

  expect(await challenges.spend('s1', 'act', challenges.make('s1', 'act'))).toBe(false);
});

function challengesAt(now: () => number): Challenges {
  return createChallenges({ rows: memoryRows(now), key: KEY });
}
