import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

test('a session has a lane of its own from its second event on', () => {
  const lanes = createLanes(() => 0);
  const shared = lanes.of('claude/a');

  expect(lanes.of('claude/b')).toBe(shared);
  expect(lanes.of('claude/a')).toBe('claude/a');
  expect(lanes.of('claude/b')).toBe('claude/b');
});

test('sessions that nobody heard of before push none out that works, but one that was quiet for long', () => {
  let now = 0;
  const lanes = createLanes(() => now);
  const shared = lanes.of('claude/works');
  for (let made = 0; made < 2000; made += 1) expect(lanes.of(`claude/made-${made}`)).toBe(shared);

  expect(lanes.of('claude/works')).toBe('claude/works');

  now = 31 * 60_000;
  lanes.of('claude/another');
  for (let made = 0; made < 300; made += 1) lanes.of(`claude/later-${made}`);
  expect(lanes.of('claude/works')).toBe(shared);
});
