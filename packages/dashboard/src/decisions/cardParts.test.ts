import { expect, test } from 'vitest';
import { cardParts } from './cardParts.ts';
import { changedSections } from './changedSections.ts';

const CARD = {
  run: 'run-1',
  goal: { text: 'ship it', by: 'human maria' },
  target: null,
  checks: [
    { check: 'tests', needs: 'verified' },
    { check: 'shape', needs: 'claimed' },
    { check: 'files', needs: 'claimed', looks: true },
  ],
  context: { plan: 'x' },
  covered: { plan: 'x' },
  evidence: { report: 'done' },
  submitted_by: 'ada',
  outcome: 'ok',
  trusted: false,
  refused: [{ phase: 'P', what: 'bash', message: 'not allowed', times: 3 }],
  options: [],
  prompt: 'Ship?',
};

test('a card is taken apart by what the engine saw, what is claimed and what to beware of', () => {
  const parts = cardParts(CARD);

  expect(parts.goal).toEqual({ text: 'ship it', by: 'human maria' });
  expect(parts.looked.map(({ name }) => name)).toEqual(['tests', 'files']);
  expect(parts.readOnly).toEqual(['shape']);
  expect(parts.covered).toEqual([]);
  expect(parts.warnings).toEqual([
    'No human has accepted this workflow.',
    'Refused in P: bash ×3: not allowed',
  ]);
  expect(parts.others).toEqual([]);
});

test('a part that nobody here knows is shown all the same, and a difference as one', () => {
  const diff = 'diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n';
  const parts = cardParts({ ...CARD, mood: { good: true }, diff: { text: diff, truncated: false } });

  expect(parts.others).toEqual([['mood', { good: true }]]);
  expect(parts.diffs).toEqual([{ name: 'diff', text: diff, note: 'truncated: false' }]);
});

test('what is not as it was is named', () => {
  expect(changedSections(CARD, { ...CARD, outcome: 'fail', changed_since: [] })).toEqual([
    'outcome',
    'changed since',
  ]);
});
