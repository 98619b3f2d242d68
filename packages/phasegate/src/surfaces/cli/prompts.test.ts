import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { makePrompts } from './prompts.ts';

test.each([
  [0, 80],
  [40, 40],
])('a question on a terminal of %i columns is drawn for %i', async (columns, drawn) => {
  const output = Object.assign(new PassThrough(), { columns });
  let written = '';
  output.on('data', (chunk) => {
    written += chunk;
  });

  const answered = await makePrompts(Readable.from(['y']), output).confirm('Is it this one?');

  expect(answered).toBe(true);
  expect(output.columns).toBe(drawn);
  expect(written).toContain('Is it this one?');
});
