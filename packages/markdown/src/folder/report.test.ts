import { expect, test } from 'vitest';
import { Report, topOf } from './report.ts';

test('an error is kept beside any number of notes, and what is left out is counted', () => {
  const report = new Report();
  for (let line = 1; line <= 1500; line++)
    report.note({ ...topOf('a.md'), line }, { code: 'x', message: 'noted' });
  report.error(topOf('b.md'), { code: 'y', message: 'wrong' });
  report.leaveOut({ errors: 2, notes: 0 });

  expect(report.failed).toBe(true);
  const told = report.inOrder('a.md');
  expect(told).toHaveLength(1001);
  expect(told.slice(-2)).toMatchObject([
    { file: 'b.md', code: 'y' },
    {
      code: 'more_problems',
      severity: 'error',
      message: '503 more problems are left out; correct those above first',
    },
  ]);
});
