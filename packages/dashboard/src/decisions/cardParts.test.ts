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
  const file = { path: 'x', how: 'changed', before: 'aa', after: 'bb', added: 1, removed: 1 };
  const parts = cardParts({
    ...CARD,
    mood: { good: true },
    diff: [{ ...file, diff: '@@ line 1\n-a\n+b', lines_cut: 4 }],
    diff_rest: { files: 7, hash: 'cc' },
  });

  expect(parts.others).toEqual([['mood', { good: true }]]);
  expect(parts.diff).toMatchObject([
    { ...file, cut: 4, lines: [{ kind: 'hunk' }, { kind: 'del' }, { kind: 'add' }] },
  ]);
  expect(parts.diffRest).toEqual({ files: 7, hash: 'cc' });
});

test('a check that the engine ran for has the class that came of it, and one that need not hold has none', () => {
  const proven = [
    { phase: 'P', check: 'tests', class: 'observed', receipt: 'r1', lack: 'no_sandbox' },
    { phase: 'P', check: 'tests', class: 'verified', receipt: 'r2' },
    { phase: 'P', check: 'a: files', class: 'verified' },
    { phase: 'P', check: 'b: files', class: 'observed' },
    { phase: 'O', check: 'files', class: 'claimed' },
  ];

  expect(cardParts({ ...CARD, phase: 'P', proven })).toMatchObject({
    looked: [
      { name: 'tests', held: 'observed' },
      { name: 'files', held: 'observed' },
    ],
    proven: [{ receipt: 'r1', lack: 'no_sandbox' }, { receipt: 'r2' }, { receipt: null }, {}, {}],
  });
  expect(cardParts({ ...CARD, mode: 'permissive' }).looked.map(({ held }) => held)).toEqual([null, null]);
});

test('what a human led the run past is told as that, and never as done', () => {
  const at = '2026-11-17T12:00:00Z';
  const parts = cardParts({
    ...CARD,
    path: [{ phase: 'A', outcome: 'overridden', by: 'maria', at }],
    overrides: [{ phase: 'A', to: 'B', reason: 'the registry is down', by: 'maria', at }],
  });

  expect(parts.path).toEqual([`A: OVERRIDDEN, not completed, by maria, ${at}`]);
  expect(parts.warnings.join()).toContain('maria led the run past phase A');
});

test('what is not as it was is named', () => {
  const now = { ...CARD, evidence: { report: 'done\nand dusted' }, changed_since: [{ path: 'x' }] };

  expect(
    changedSections(CARD, now).map(({ path, how, added, removed }) => [path, how, added, removed]),
  ).toEqual([
    ['evidence', 'changed', 2, 1],
    ['changed since', 'added', 5, 0],
  ]);
});
