import type { GateView, NextAction, PhaseView, RunView } from '@phasegate/core';
import { spellNext } from '@phasegate/wire';
import { expect, test } from 'vitest';
import { MCP } from './spell.ts';

const PHASE: PhaseView = {
  id: 'PLAN',
  number: 1,
  name: 'Plan',
  content: 'Plan it.',
  artifacts: {},
  requiredEvidence: {
    plan: { type: 'artifact' },
    note: { type: 'str', validator: 'optional' },
  },
  tasks: [],
  dynamic: false,
  sourceId: null,
};

const GATE: GateView = {
  id: 'ship#1',
  prompt: 'Ship?',
  options: [],
  since: '',
  expiresAt: null,
  approvers: [],
  quorum: 1,
  votes: [],
  context: {},
};

test.each<readonly [string, NextAction, Partial<RunView>, string]>([
  [
    'completing a phase',
    { act: 'complete_phase', phase: 'PLAN', text: '' },
    {},
    'complete_phase(session_id="run-1", phase="PLAN", evidence={plan, note?})',
  ],
  [
    'completing an item of a phase with a number',
    { act: 'complete_phase', phase: 0, item: 'a "b"', text: '' },
    { phase: 0 },
    'complete_phase(session_id="run-1", phase=0, item="a \\"b\\"", evidence={plan, note?})',
  ],
  [
    'completing a phase that is not the current one, whose evidence stays unsaid',
    { act: 'complete_phase', phase: 'SHIP', text: '' },
    {},
    'complete_phase(session_id="run-1", phase="SHIP", evidence={})',
  ],
  [
    'fetching a task',
    { act: 'get_task', phase: 'PLAN', task: 2, text: '' },
    {},
    'get_task(session_id="run-1", phase="PLAN", task_number=2)',
  ],
  [
    'a gate',
    { act: 'wait_for_human', text: '' },
    { status: 'waiting', gate: GATE },
    'get_workflow_state(session_id="run-1") once a human has decided at gate `ship#1` with `phasegate decide run-1`',
  ],
  [
    'a question',
    { act: 'wait_for_human', text: '' },
    { status: 'waiting' },
    'get_workflow_state(session_id="run-1") once a human has answered with `phasegate answer run-1 --question N --option LABEL`',
  ],
  [
    'an escalated run',
    { act: 'wait_for_human', text: '' },
    { status: 'escalated' },
    'get_workflow_state(session_id="run-1") once a human has run `phasegate resume run-1` or `phasegate stop run-1 --reason TEXT`',
  ],
  [
    'an ended run',
    { act: 'none', text: 'nothing: the run is completed' },
    {},
    'nothing: the run is completed',
  ],
])('%s is spelled as the call that does it', (_name, action, changed, call) => {
  const view = {
    run: 'run-1',
    phase: 'PLAN',
    status: 'active',
    gate: null,
    current: PHASE,
    nextAction: action,
    ...changed,
  } as RunView;

  expect(spellNext(view, MCP)).toBe(call);
});
