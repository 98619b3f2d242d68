import { expect, test } from 'vitest';
import { inAscii, othersInAscii } from './ascii.ts';

test('a bar is one in ASCII too, as long as it was', () => {
  expect(inAscii('██▌ 12 %\n▏ 0.1 %')).toBe('### 12 %\n- 0.1 %');
  expect(othersInAscii('█')).toBe('\\u{2588}');
});
