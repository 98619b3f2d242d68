import { describe, expect, test } from 'vitest';
import type { PhaseDraft, WorkflowDraft } from '../model/draft.ts';
import type { Workflow } from '../model/workflow.ts';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import type { RunEvent } from './events.ts';
import {
  ADA,
  AGENT,
  complete,
  ENGINE,
  NOW,
  openingOf,
  phases,
  started,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import { fold } from './fold.ts';
import { readRecording, recorded } from './recording.ts';
import type { Principal, Run } from './run.ts';

const REACHABLE = { reachable: true, trace: ['start'] } as const;
const GATE = {
  id: 'ship',
  human: { prompt: 'Ship?', options: [{ label: 'Yes' }, { label: 'No', next: 1 }] },
};
const READ = [{ name: 'read', instructions: 'read it' }];

describe('a migration', () => {
  test('gives the run the new workflow, keeps its visit and raises the epoch', () => {
    const run = submit(started(two({ tasks: READ })), { kind: 'fetch_task', phase: 1, task: 1 }).run;
    const failed = submit(run, { kind: 'report_failure', phase: 1, reason: 'it broke' }).run;
    const after = two({ tasks: READ, description: 'changed' });

    const { verdict, events, run: moved } = migrate(failed, after);

    expect(verdict).toEqual({ allowed: true });
    expect(events).toEqual([
      {
        at: NOW,
        type: 'run_migrated',
        workflow: after,
        workflowHash: 'h2',
        from: 'h',
        params: {},
        trusted: true,
        by: 'ada',
      },
    ]);
    expect(moved).toEqual({
      ...failed,
      workflow: after,
      workflowHash: 'h2',
      trusted: true,
      epoch: failed.epoch + 1,
      work: { ...failed.work, fetched: [], refusal: null },
    });
    expect(moved.work.attempts).toBe(1);
    const opening = openingOf(started(two({ tasks: READ })));
    const told: RunEvent = { at: NOW, type: 'task_fetched', phase: 1, task: 1 };
    const refusals = submit(run, { kind: 'report_failure', phase: 1, reason: 'it broke' }).events;
    expect(fold(run.workflow, [opening, told, ...refusals, ...events])).toEqual(moved);
  });

  test('goes on by the new rules, and has its tasks read again', () => {
    const { run } = migrate(started(two()), workflowOf(phases(1, () => ({ tasks: READ }))));

    expect(submit(run, complete(run)).verdict).toMatchObject({ blockers: [{ code: 'tasks_not_fetched' }] });
    const read = submit(run, { kind: 'fetch_task', phase: 1, task: 1 }).run;
    expect(submit(read, complete(read)).run.status).toBe('completed');
  });

  test('leaves a run that waits for answers or for a human waiting', () => {
    const asked = submit(started(two()), {
      kind: 'ask',
      questions: [{ text: 'Which?', options: ['a', 'b'] }],
    });
    const blocked = submit(started(two()), { kind: 'report_blocked', reason: 'stuck' });

    expect(migrate(asked.run, two({ description: 'changed' })).run).toMatchObject({ status: 'waiting' });
    expect(migrate(blocked.run, two({ description: 'changed' })).run).toMatchObject({ status: 'escalated' });
  });

  test('does not make trusted what was passed under files that nobody had accepted', () => {
    const run = started(two());
    const later = submit(run, complete(run)).run;
    const after = two({ description: 'changed' });

    expect(run.trusted).toBe(false);
    expect(migrate(run, after).run.trusted).toBe(true);
    expect(migrate(later, after).run.trusted).toBe(false);
    expect(migrate({ ...later, trusted: true }, after).run.trusted).toBe(true);
  });

  test('fills in params that are new and have a default', () => {
    const after = two({}, { params: { mode: { type: 'string', default: 'full' } } });

    expect(migrate(started(two()), after).run.params).toEqual({ mode: 'full' });
  });

  test('is recorded without saying its workflow twice', () => {
    const after = two({ description: 'changed' });
    const command = commandFor(after);
    const { events } = migrate(started(two()), after);

    const kept = recorded({ command, facts: {} }, events);

    expect(JSON.stringify(kept)).not.toContain('changed');
    const record = { time: NOW, event: 'run_migrated', data: { recorded: kept } };
    expect(readRecording(record, events)).toEqual({ command, facts: {} });
  });
});

describe('a migration is refused', () => {
  test.each([AGENT, ENGINE])('to anyone but a human: $kind [C18]', (principal) => {
    expect(codesOf(started(two()), two({ description: 'changed' }), { principal })).toEqual(['not_a_human']);
  });

  test('where the run has ended', () => {
    const ended = submit(started(two()), { kind: 'stop', reason: 'enough' }, { principal: ADA }).run;
    expect(codesOf(ended, two({ description: 'changed' }))).toEqual(['run_ended']);
  });

  test('to another workflow, or to the one it has', () => {
    expect(codesOf(started(two()), two({}, { id: 'other' }))).toEqual(['other_workflow']);
    expect(codesOf(started(two()), two(), { hash: 'h' })).toEqual(['same_workflow']);
  });

  test('where its phase is gone', () => {
    const run = submit(started(two()), complete(started(two()))).run;
    expect(migrate(run, workflowOf(phases(1))).verdict).toMatchObject({
      blockers: [{ code: 'migration_unmapped', message: expect.stringContaining('phase `2`') }],
    });
  });

  test.each([
    ['another gate', { gates: [{ ...GATE, id: 'send' }] }],
    ['no gate', {}],
    ['other options', { gates: [{ ...GATE, human: { prompt: 'Ship?', options: [{ label: 'Yes' }] } }] }],
    ['another check', { gates: [GATE], postconditions: [{ check: 'asked' }] }],
    ['other evidence', { gates: [GATE], fields: [{ name: 'proof', type: 'str' }] }],
  ] as const)('where it waits at a gate and the new phase has %s', (_, change) => {
    const run = submit(started(two({ gates: [GATE] })), complete(started(two()))).run;

    expect(run.status).toBe('waiting');
    expect(codesOf(run, two(change as unknown as Partial<PhaseDraft>))).toContain('migration_unmapped');
    expect(codesOf(run, two({ gates: [GATE], description: 'changed' }))).toEqual([]);
  });

  test('where a vote was cast at its gate', () => {
    const human = { ...GATE.human, quorum: 2 };
    const before = two({ gates: [{ ...GATE, human }] });
    const run = submit(started(before), complete(started(before))).run;
    const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
    const vote: Command = { kind: 'decide', gate, option: 'Yes', shown: 's', signature: 'x' };
    const voted = submit(run, vote, { principal: ADA, shown: 's' }).run;

    const after = two({ gates: [{ ...GATE, human }], description: 'changed' });
    expect(codesOf(run, after)).toEqual([]);
    expect(codesOf(voted, after)).toEqual(['migration_unmapped']);
  });

  test('where its items would be others, or those that are done were asked less', () => {
    const params = { params: { areas: { type: 'list' as const }, others: { type: 'list' as const } } };
    const parallel = { parallel: { key: 'areas' } };
    const run = started(two(parallel, params), { areas: ['a', 'b'] });
    const one = submit(run, complete(run, {}, { item: 'a' })).run;
    const checked = two({ ...parallel, postconditions: [{ check: 'asked' }] }, params);

    expect(codesOf(run, two({}, params))).toEqual(['migration_unmapped']);
    expect(codesOf(run, two({ parallel: { key: 'others' } }, params))).toEqual(['migration_unmapped']);
    expect(codesOf(started(two({}, params), { areas: ['a'] }), two(parallel, params))).toEqual([
      'migration_unmapped',
    ]);
    expect(codesOf(run, checked)).toEqual([]);
    expect(codesOf(one, checked)).toEqual(['migration_unmapped']);
  });

  test('where it works on another database', () => {
    const database = { file: 'book.db' };
    expect(codesOf(started(two()), two({}, { database }))).toEqual(['migration_unmapped']);
  });

  test('with params the new workflow does not take', () => {
    const mode = { type: 'string' as const };
    const run = started(two({}, { params: { mode } }), { mode: 'full' });

    expect(codesOf(run, two())).toEqual(['param_invalid']);
    expect(codesOf(run, two({}, { params: { mode: { ...mode, choices: ['quick'] } } }))).toEqual([
      'param_invalid',
    ]);
    expect(codesOf(run, two({}, { params: { mode, more: { ...mode, required: true } } }))).toEqual([
      'param_invalid',
    ]);
  });

  test('below the ring the new workflow asks for', () => {
    const { enforcement, ...rest } = two();
    const hooked = { ...rest, enforcement: { ...enforcement, ring: 'hooked' as const } };

    expect(codesOf(started(two()), hooked)).toEqual(['ring_too_low']);
  });

  test('where nothing is proven, with the reason', () => {
    const proof = { reachable: false, reason: 'it was not found' } as const;
    const { verdict, events } = migrate(started(two()), two({ description: 'changed' }), { proof });

    expect(verdict).toMatchObject({
      blockers: [{ code: 'migration_unproven', message: 'it was not found' }],
    });
    expect(events).toEqual([]);
  });
});

function two(first: Partial<PhaseDraft> = {}, more: Partial<WorkflowDraft> = {}): Workflow {
  return workflowOf(
    phases(2, (index) => (index === 0 ? first : {})),
    more,
  );
}

interface Differently {
  readonly principal?: Principal;
  readonly proof?: Extract<Command, { kind: 'migrate' }>['proof'];
  readonly hash?: string;
}

function commandFor(workflow: Workflow, { proof = REACHABLE, hash = 'h2' }: Differently = {}): Command {
  return { kind: 'migrate', workflow, workflowHash: hash, trusted: true, proof };
}

function migrate(run: Run, workflow: Workflow, differently: Differently = {}) {
  const { principal = ADA } = differently;
  return decide(run, commandFor(workflow, differently), { principal, now: NOW, facts: {} });
}

function codesOf(run: Run, workflow: Workflow, differently: Differently = {}): readonly string[] {
  const { verdict, run: after } = migrate(run, workflow, differently);
  if (verdict.allowed) return [];
  expect(after).toBe(run);
  return verdict.blockers.map(({ code }) => code);
}
