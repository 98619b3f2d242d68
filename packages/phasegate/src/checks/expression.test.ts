import { expect, test } from 'vitest';
import { expression } from './expression.ts';
import { checkInput } from './fixtures/checkInput.ts';

const scope = {
  result: { decision: 'rejected', metrics: { delta: 2 }, 'odd.key': 1 },
  checkpoint: { threshold: 5 },
};

test('a condition that is true passes', async () => {
  const answer = await expression.run(
    checkInput({ condition: 'result.metrics.delta < checkpoint.threshold' }, { scope }),
  );

  expect(answer).toMatchObject({ passed: true });
});

test('a condition that is false fails and names the values compared', async () => {
  const condition = 'result.metrics.delta >= checkpoint.threshold';

  const answer = await expression.run(checkInput({ condition }, { scope }));

  expect(answer).toEqual({
    passed: false,
    reason: `\`${condition}\` is false: \`result.metrics.delta\` is 2, \`checkpoint.threshold\` is 5`,
  });
});

test('a condition without an answer throws instead of counting as false or true [C19 fail.4]', async () => {
  for (const condition of [
    'result.absent === 1',
    '!(result.absent === 1)',
    'nowhere.x === 1',
    'result.decision > 3',
    'result.decision ===',
    'result.constructor === 1',
  ]) {
    await expect(expression.run(checkInput({ condition }, { scope })), condition).rejects.toThrow(/`/u);
  }
  await expect(expression.run(checkInput({}, { scope }))).rejects.toThrow('no `condition`');
});

test('a long value is cut in the reason', async () => {
  const answer = await expression.run(
    checkInput({ condition: 'result.text === "short"' }, { scope: { result: { text: 'x'.repeat(5000) } } }),
  );

  expect(answer.passed).toBe(false);
  expect(answer.reason.length).toBeLessThan(400);
});
