import { expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

test('a start makes no worktree, and says where one is made', async () => {
  const bed = openApiBed(FIVE);
  const human = await bed.human();

  const { status, body } = await bed.post('/runs', human, { workflow: 'tdd', worktree: true });

  expect(status).toBe(422);
  expect(body).toMatchObject({
    error: 'request_invalid',
    problems: [
      { field: 'worktree', message: expect.stringContaining('phasegate start WORKFLOW --worktree') },
    ],
  });
});
