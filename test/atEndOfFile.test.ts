import { expect, test } from 'vitest';
import { atEndOfFile, endFile } from './atEndOfFile.ts';

test('what a file started is ended once, the newest first, also where one cannot be', async () => {
  const ended: string[] = [];
  atEndOfFile(() => ended.push('server'));
  atEndOfFile(async () => {
    throw new Error('it hangs');
  });
  atEndOfFile(async () => ended.push('terminal'));

  await expect(endFile()).rejects.toMatchObject({ errors: [new Error('it hangs')] });
  await endFile();

  expect(ended).toEqual(['terminal', 'server']);
});
