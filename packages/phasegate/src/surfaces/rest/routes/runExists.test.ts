import { expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';

test('makes no second run where there is one per target, and names the first', async () => {
  const bed = openApiBed({ ...FIVE, oneRunPer: 'target' });
  const human = await bed.human();
  const first = await bed.post('/runs', human, { workflow: 'tdd', target: 'src/a.ts' });

  const second = await bed.post('/runs', human, { workflow: 'tdd', target: './src/a.ts ' });

  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({
    error: 'run_exists',
    message: expect.stringContaining(String(first.body.run)),
    next_action: expect.stringContaining(`phasegate stop ${String(first.body.run)}`),
  });
});
