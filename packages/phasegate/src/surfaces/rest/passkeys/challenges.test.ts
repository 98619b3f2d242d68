import { expect, test } from 'vitest';
import { createChallenges } from './challenges.ts';

const MINUTE = 60_000;

test('a challenge is good once, in its session, for its purpose, for three minutes', () => {
  let time = 1_000_000;
  const challenges = createChallenges({ now: () => time });
  const [one, other, late] = Array.from({ length: 3 }, () => challenges.make('s1', 'act')) as [
    string,
    string,
    string,
  ];

  expect(challenges.spend('s2', 'act', one)).toBe(false);
  expect(challenges.spend('s1', 'register', one)).toBe(false);
  expect(challenges.spend('s1', 'act', one)).toBe(true);
  expect(challenges.spend('s1', 'act', one)).toBe(false);
  time += 3 * MINUTE - 1;
  expect(challenges.spend('s1', 'act', other)).toBe(true);
  time += 1;
  expect(challenges.spend('s1', 'act', late)).toBe(false);
});

test('nobody makes one up, and another spelling of one is none', () => {
  const challenges = createChallenges({ now: () => 0 });
  const made = challenges.make('s1', 'act');
  const last = made.at(-1) === 'A' ? 'Q' : 'A';

  for (const nonce of ['', 'x', 'A'.repeat(64), `${made}=`, `${made.slice(0, -1)}${last}`, `${made}A`])
    expect(challenges.spend('s1', 'act', nonce)).toBe(false);
  expect(createChallenges({ now: () => 0 }).spend('s1', 'act', made)).toBe(false);
  expect(challenges.spend('s1', 'act', made)).toBe(true);
});

test('who asks for many with the same cookie takes none away from its human, nor from others [adv.O5]', () => {
  const challenges = createChallenges({ now: () => 0 });
  const [mine, others] = [challenges.make('s1', 'act'), challenges.make('s2', 'act')];

  for (let count = 0; count < 5_000; count += 1) challenges.make('s1', 'act');
  expect(challenges.spend('s1', 'act', mine)).toBe(true);
  for (let count = 0; count < 5_000; count += 1) challenges.spend('s1', 'act', challenges.make('s1', 'act'));

  expect(challenges.spend('s2', 'act', others)).toBe(true);
});
