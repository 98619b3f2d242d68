import type { Command, JsonObject, RunView, Submitted } from '@phasegate/core';
import type { CommandOutcome } from '@phasegate/core/engine';
import { describe, expect, test } from 'vitest';
import type { Run } from './answers.ts';
import type { Dialect } from './nextCall.ts';
import { decodeLine, decodeRun, decodeTask, encodeLine, encodeRun, encodeTask } from './run.ts';
import { decodeOutcome, decodeVerdict, encodeSubmitted } from './submitted.ts';
import { decodeToolVerdict, encodeToolVerdict } from './tools.ts';

const PARTS: Dialect = { spell: ({ action }) => action.text, reader: 'human', steps: true };
const AT = '2026-11-15T12:00:00.000Z';
const nextAction = { act: 'complete_phase', phase: 'PLAN', text: 'complete phase `PLAN`' } as const;
const blockers = [{ code: 'check_failed', message: 'tests fail', nextAction }] as const;

const VIEW: RunView = {
  run: 'r1',
  workflow: 'tdd',
  title: 'Test-driven change',
  target: 'src/a.ts',
  params: { mode: 'full' },
  status: 'escalated',
  mode: 'strict',
  ring: 'served',
  trusted: true,
  epoch: 3,
  holder: 'ada',
  phase: 'PLAN',
  current: {
    id: 'PLAN',
    number: 1,
    name: 'Plan',
    content: 'Plan it.',
    artifacts: { LOOK: { notes: 'seen' } },
    requiredEvidence: { plan: { type: 'artifact' } },
    tasks: [{ number: 1, name: 'North' }],
    dynamic: true,
    sourceId: 'a',
  },
  completedPhases: ['LOOK'],
  progress: { completed: 1, current: 2, total: 3 },
  attempts: 2,
  feedback: 'tests fail',
  gate: {
    id: 'ship#1',
    prompt: 'Ship?',
    options: [{ label: 'Approve', requiresInput: true }],
    since: AT,
    expiresAt: AT,
    approvers: ['maria'],
    quorum: 2,
    votes: [{ by: 'maria', option: 'Approve' }],
    context: { plan: 1 },
  },
  questions: [{ text: 'Which?', options: ['a', 'b'] }],
  answers: [{ question: 1, text: 'a', by: 'maria', at: AT, elicited: false }],
  escalation: { reason: 'attempts', message: 'too often', since: AT, blockers } as RunView['escalation'],
  reason: null,
  startedAt: AT,
  updatedAt: AT,
  nextAction,
};

describe('what is written is read back as it was', () => {
  test('a run, a task and a line of the list', () => {
    const { current: _current, ...ended } = VIEW;
    const line = {
      run: 'r1',
      workflow: 'tdd',
      target: null,
      status: 'active',
      phase: 1,
      holder: null,
    } as const;
    const summary = { ...line, epoch: 1, priority: 0, capabilities: [], startedAt: AT, updatedAt: AT };

    const goal = { text: 'add it\nnow', by: { kind: 'agent', name: 'ada b' } } as const;
    expect(decodeRun(sent(encodeRun({ ...VIEW, goal }, PARTS)) as Run)).toEqual({ ...VIEW, goal });
    expect(decodeLine(encodeLine({ ...summary, goal }))).toEqual({ ...summary, goal });
    expect(decodeRun(sent(encodeRun(VIEW, PARTS)) as Run)).toEqual(VIEW);
    expect(decodeTask(encodeTask(VIEW, { key: 'a', value: 1 }, PARTS))).toEqual(VIEW);
    expect(decodeRun(encodeRun({ ...ended, phase: null, current: null }, PARTS))).toMatchObject({
      phase: null,
      current: null,
    });
    expect(decodeLine(encodeLine(summary))).toEqual(summary);
  });

  test('an agent is given nothing of what a human is shown at a gate', () => {
    const { gate } = encodeRun(VIEW, { ...PARTS, reader: 'agent' });

    expect(Object.keys(gate ?? {}).sort()).toEqual(['expires_at', 'id', 'options', 'prompt', 'since']);
  });

  test.each<readonly [Command, CommandOutcome, Partial<RunView>]>([
    [complete(), { kind: 'phase_completed', phase: 'PLAN' }, { status: 'active' }],
    [
      complete(),
      { kind: 'phase_completed', phase: 'PLAN' },
      { status: 'completed', phase: null, current: null },
    ],
    [complete(), { kind: 'gate_opened' }, { status: 'waiting' }],
    [complete(), { kind: 'item_completed', item: 'a' }, { status: 'active' }],
    [
      complete(),
      { kind: 'phase_refused', examples: {}, skipped: null },
      { status: 'active', escalation: null },
    ],
    [
      complete(),
      {
        kind: 'phase_refused',
        examples: {},
        skipped: { message: 'Cannot access Phase 3', artifacts: { 1: {} } },
      },
      {},
    ],
    [fetch(), { kind: 'task', phase: 'PLAN', number: 1, content: 'Look.', source: 'dynamic' }, {}],
    [fetch(), { kind: 'task_refused', skipped: null }, {}],
    [fetch(), { kind: 'task_refused', skipped: { message: 'Cannot access Phase 3', artifacts: {} } }, {}],
    [{ kind: 'stop', reason: 'enough' }, { kind: 'done' }, {}],
    [{ kind: 'stop', reason: 'enough' }, { kind: 'refused' }, {}],
  ])('%j: %j', (command, outcome, changed) => {
    const view = { ...VIEW, ...changed };
    const allowed = !outcome.kind.endsWith('refused');
    const verdict: Submitted['verdict'] = allowed
      ? { allowed: true, wouldRefuse: blockers, warnings: [{ code: 'check_failed', message: 'slow' }] }
      : { allowed: false, blockers };
    const answer = sent(encodeSubmitted({ verdict, view, outcome }, PARTS));

    expect(decodeOutcome({ command, verdict, answer, view })).toEqual(outcome);
  });

  test('a verdict, on a command and on a tool', () => {
    const [first] = blockers;
    const refused = {
      allowed: false,
      blockers: [{ ...first, nextAction: { act: 'none', text: nextAction.text } }],
    };

    expect(
      decodeVerdict({}, [
        { code: 'check_failed', message: 'tests fail', next_action: 'x', next_step: nextAction },
      ]),
    ).toEqual({
      allowed: false,
      blockers,
    });
    expect(decodeToolVerdict(encodeToolVerdict({ allowed: false, blockers }, 'r1', PARTS))).toEqual(refused);
    expect(
      decodeToolVerdict(encodeToolVerdict({ allowed: true, wouldRefuse: blockers }, 'r1', PARTS)),
    ).toEqual({
      allowed: true,
      wouldRefuse: blockers,
    });
  });
});

function complete(): Command {
  return { kind: 'complete', phase: 'PLAN', evidence: {} };
}

function fetch(): Command {
  return { kind: 'fetch_task', phase: 'PLAN', task: 1 };
}

/** As it comes out at the other end. */
function sent<T>(answer: T): JsonObject & T {
  return JSON.parse(JSON.stringify(answer));
}
