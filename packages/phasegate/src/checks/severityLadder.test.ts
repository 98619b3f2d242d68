import type { JsonObject } from '@phasegate/core';
import { compileSchema } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import type { CheckImplementation } from '../runtime/ports.ts';
import { checkInput } from './fixtures/checkInput.ts';
import { CHECKS } from './index.ts';

const check = CHECKS.find(({ name }) => name === 'no_blocking_findings') as CheckImplementation;

describe('findings of a review', () => {
  test('block on ever less the longer a review goes on, so that its loop ends [S4.32 C17 fail.27]', async () => {
    const blocked = async (iteration: number, parameters: JsonObject = {}) => {
      const answers = ['MUST', 'SHOULD', 'COULD'].map(async (severity) => {
        const artifacts = { review: { findings: [{ severity }] } };
        const input = checkInput(parameters, { scope: { artifacts }, reviews: iteration });
        return (await check.run(input)).passed ? '' : severity;
      });
      return (await Promise.all(answers)).filter((severity) => severity !== '').join(' ');
    };

    expect(await Promise.all([1, 2, 3, 4, 5, 6, 50].map((iteration) => blocked(iteration)))).toEqual([
      'MUST SHOULD COULD',
      'MUST SHOULD COULD',
      'MUST SHOULD',
      'MUST SHOULD',
      'MUST',
      'MUST',
      'MUST',
    ]);
    const ladder = [
      { from: 4, block: ['must'] },
      { from: 2, block: ['must', 'should'] },
    ];
    expect(await Promise.all([1, 2, 3, 4, 9].map((iteration) => blocked(iteration, { ladder })))).toEqual([
      'MUST SHOULD',
      'MUST SHOULD',
      'MUST SHOULD',
      'MUST',
      'MUST',
    ]);
    expect(await blocked(9, { severities: ['COULD'] })).toBe('COULD');
  });

  test('of a severity the ladder does not know are refused, however late', async () => {
    const input = checkInput(
      {},
      {
        scope: { artifacts: { review: { findings: [{ severity: 'critical' }] } } },
        reviews: 7,
      },
    );

    expect(await check.run(input)).toEqual({
      passed: false,
      reason: 'a finding in `review` has the severity "critical", expected one of `MUST`, `SHOULD`, `COULD`',
    });
  });

  test.each([
    [{ severities: ['MUST'], ladder: [{ from: 1, block: ['MUST'] }] }],
    [{ ladder: [] }],
    [{ ladder: [{ from: 0, block: ['MUST'] }] }],
    [{ ladder: [{ from: 1, block: [] }] }],
  ])('a ladder that says nothing is found before a run, and never passes: %j', async (parameters) => {
    const compiled = compileSchema(check.parameters);
    const answer = check.run(
      checkInput(parameters, { scope: { artifacts: { review: { findings: [{ severity: 'MUST' }] } } } }),
    );

    expect(compiled.ok && compiled.validate(parameters).length > 0).toBe(true);
    expect(
      await answer.then(
        ({ passed }) => passed,
        () => 'threw',
      ),
    ).not.toBe(true);
  });
});
