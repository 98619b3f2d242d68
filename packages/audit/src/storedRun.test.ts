import { hash } from 'node:crypto';
import { afterDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { runFromState, stateText } from './storedRun.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));

test('the text of a run is the JSON of all of it but its workflow, however often it is asked for', () => {
  const first = sampleRun('r1');
  const second = afterDraft(first);
  const third = afterDraft(second, {
    completions: [
      ...second.completions,
      { phase: 'REVIEW', visit: 1, at: 't', by: 'ada', outcome: 'fail', evidence: { 'a,"b': [] } },
    ],
  });
  for (const run of [first, second, third, second]) {
    const { workflow, ...state } = run;
    expect(JSON.parse(stateText(run))).toEqual(state);
    expect(runFromState(stateText(run), () => workflow)).toEqual(run);
  }
});
