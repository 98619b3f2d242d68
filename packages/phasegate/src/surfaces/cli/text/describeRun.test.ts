import type { RunView } from '@phasegate/core';
import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { describeProgress, describeRun } from './describeRun.ts';

test('a run shows its phase, how far it is, and the exact next command', async () => {
  const text = describeRun(view({}), await paintFor(false));

  expect(text.split('\n')).toEqual([
    'run       r1',
    'workflow  tdd: Test-driven change',
    'status    active, ring served, not trusted',
    'phase     TDD (Write failing tests)',
    'progress  [#----] 1/5  PLAN',
    'next      phasegate done r1 --phase TDD --evidence -',
  ]);
});

test('a run that waits at a gate shows the question, the options and how a human answers', async () => {
  const gate: RunView['gate'] = {
    id: 'accepted#1',
    prompt: 'Good to go?',
    options: [
      { label: 'Send back', requires_input: true },
      { label: 'Approve', requires_input: false },
    ],
    since: '2026-01-01T00:00:00.000Z',
    expires_at: null,
    approvers: ['maria'],
    quorum: 2,
    votes: [{ by: 'joe', option: 'Approve' }],
    context: {},
    shown: 'abc123',
  };

  const text = describeRun(view({ status: 'waiting', gate }), await paintFor(false));

  expect(text).toContain(
    'gate      accepted#1: Good to go?\n          - Send back (needs --input)\n          - Approve',
  );
  expect(text).toContain('joe chose Approve');
  expect(text).toContain('2 humans must choose the same');
  expect(text).toContain("phasegate decide r1 --option 'Send back' --shown abc123");
});

test('phase 0 is a phase like any other [C2]', async () => {
  const current_phase = {
    ...view({}).current_phase,
    phase: 0,
    phase_name: 'Setup',
  } as RunView['current_phase'];
  const text = describeRun(view({ phase: 0, current_phase, completed_phases: [] }), await paintFor(false));

  expect(text).toContain('phase     0 (Setup)');
});

test('the bar of a long workflow keeps its width', () => {
  expect(describeProgress({ completed: 40, current: 41, total: 80 }, [])).toBe(
    '[##########----------] 40/80',
  );
  expect(describeProgress({ completed: 0, current: 1, total: 1 }, [])).toBe('[-] 0/1');
});

function view(change: Partial<RunView>): RunView {
  return {
    run: 'r1',
    workflow: 'tdd',
    title: 'Test-driven change',
    target: null,
    params: {},
    status: 'active',
    mode: 'strict',
    ring: 'served',
    trusted: false,
    epoch: 1,
    holder: 'local',
    phase: 'TDD',
    current_phase: {
      phase: 'TDD',
      phase_number: 2,
      phase_name: 'Write failing tests',
      phase_content: 'Write them',
      artifacts_from_previous: {},
      checkpoint_criteria: {},
      tasks: [],
      task_count: 0,
    },
    completed_phases: ['PLAN'],
    progress: { completed: 1, current: 2, total: 5 },
    attempts: 0,
    feedback: null,
    gate: null,
    questions: [],
    answers: [],
    escalation: null,
    reason: null,
    started_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    next_action: { act: 'complete_phase', phase: 'TDD', text: 'complete phase `TDD`' },
    ...change,
  };
}
