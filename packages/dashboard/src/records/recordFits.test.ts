import { expect, test } from 'vitest';
import { recordFits } from './recordFits.ts';

const RECORD = {
  seq: 1,
  run: 'run-1',
  time: '2026-11-17T12:00:00.000Z',
  principal: 'agent:ada',
  event: 'tool_judged',
  data: { tool: 'bash', message: 'Not allowed' },
  prev: '',
  hash: '',
};

test.each([
  [{}, true],
  [{ run: 'run-1' }, true],
  [{ run: 'run-2' }, false],
  [{ event: 'gate_opened,tool_judged' }, true],
  [{ event: 'gate_opened' }, false],
  [{ principal: 'agent:ada' }, true],
  [{ principal: 'agent:bob' }, false],
  [{ search: 'not ALLOWED' }, true],
  [{ search: 'something else' }, false],
])('what is followed is what would be found: %j', (filter, fits) => {
  expect(recordFits(RECORD, filter)).toBe(fits);
});
