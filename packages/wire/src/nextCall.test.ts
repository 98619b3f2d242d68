import type { NextAction, RunView } from '@phasegate/core';
import { expect, test } from 'vitest';
import { decodeBlockers, decodeNext, encodeBlockers } from './blockers.ts';
import { type Dialect, spellAction } from './nextCall.ts';

const PARTS: Dialect = { spell: (call) => JSON.stringify(call), reader: 'human', steps: true };
const action: NextAction = { act: 'complete_phase', phase: 'PLAN', text: 'complete it' };
const place = {
  run: 'r1',
  phase: 'PLAN',
  status: 'active',
  gate: null,
  current: {
    requiredEvidence: { plan: {}, note: { validator: 'optional' } },
  },
} as unknown as RunView;

function partsOf(next: NextAction, at: Parameters<typeof spellAction>[1]): unknown {
  return JSON.parse(spellAction(next, at, PARTS));
}

test('a surface is told the run, the reader and the evidence to hand in', () => {
  expect(partsOf(action, place)).toEqual({
    action,
    run: 'r1',
    reader: 'human',
    evidence: ['plan', 'note?'],
    human: { act: 'answer' },
  });
  expect(partsOf({ ...action, phase: 'SHIP' }, place)).toMatchObject({ evidence: [] });
});

test('of a run that was not made, a surface is told nothing but its id', () => {
  expect(partsOf(action, { run: 'r1' })).toMatchObject({ run: 'r1', evidence: null, human: null });
});

test('what a human has to do depends on what the run waits for', () => {
  const waiting: NextAction = { act: 'wait_for_human', text: 'wait' };
  const at = (changed: Partial<RunView>) => partsOf(waiting, { ...place, ...changed });

  expect(at({ gate: { id: 'g#1' } as RunView['gate'] })).toMatchObject({
    human: { act: 'decide', gate: 'g#1' },
  });
  expect(at({ status: 'escalated' })).toMatchObject({ human: { act: 'resume_or_stop' } });
});

test('blockers come back as they were, by their parts; without parts the text stays', () => {
  const blockers = [{ code: 'check_failed', message: 'tests fail', nextAction: action }] as const;
  const wire = encodeBlockers(blockers, place, PARTS);

  expect(decodeBlockers(wire)).toEqual(blockers);
  expect(decodeBlockers([{ code: 'x', message: 'm', next_action: 'do it' }])).toEqual([
    { code: 'x', message: 'm', nextAction: { act: 'none', text: 'do it' } },
  ]);
});

test.each([
  ['queued', 'claim'],
  ['active', 'complete_phase'],
  ['waiting', 'wait_for_human'],
  ['escalated', 'wait_for_human'],
  ['completed', 'none'],
  ['stopped', 'none'],
] as const)('a %s run whose answer has no parts comes to %s', (status, act) => {
  expect(decodeNext({ status, phase: 'PLAN', next_action: 'text' })).toMatchObject({ act, text: 'text' });
});
