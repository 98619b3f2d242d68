import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIdleEnd } from './idleEnd.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the time passes only while nothing is under way, and a question whether it lives is no use', async () => {
  const idle = createIdleEnd(1000);
  const [stream, probe] = [new EventEmitter(), new EventEmitter()];
  let passed = false;
  void idle.passed.then(() => {
    passed = true;
  });

  await vi.advanceTimersByTimeAsync(900);
  idle.begin({ url: '/api/v1/events' }, stream as never);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(passed).toBe(false);
  stream.emit('close');
  await vi.advanceTimersByTimeAsync(900);
  idle.begin({ url: '/healthz' }, probe as never);
  expect(passed).toBe(false);
  await vi.advanceTimersByTimeAsync(100);

  expect(passed).toBe(true);
});

test('without a time it never passes', async () => {
  const idle = createIdleEnd(undefined);
  let passed = false;
  void idle.passed.then(() => {
    passed = true;
  });

  await vi.advanceTimersByTimeAsync(10 ** 9);

  expect(passed).toBe(false);
});
