import { expect, test } from 'vitest';
import { wantsColour } from './paint.ts';

test.each([
  ['a terminal', {}, true, false, true],
  ['a pipe', {}, false, false, false],
  ['NO_COLOR on a terminal', { NO_COLOR: '1' }, true, false, false],
  ['an empty NO_COLOR', { NO_COLOR: '' }, true, false, true],
  ['--no-color against FORCE_COLOR', { FORCE_COLOR: '1' }, true, true, false],
  ['FORCE_COLOR into a pipe', { FORCE_COLOR: '1' }, false, false, true],
  ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, false, false],
  ['a terminal that cannot', { TERM: 'dumb' }, true, false, false],
])('%s', (_, env, terminal, noColour, wanted) => {
  expect(wantsColour(env, terminal, noColour)).toBe(wanted);
});
