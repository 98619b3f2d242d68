import { describe, expect, test } from 'vitest';
import type { PhaseDraft } from '../model/draft.ts';
import type { Fact } from './command.ts';
import { decide } from './decide.ts';
import { ADA, complete, NOW, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';
import { readRecording, recorded } from './recording.ts';
import type { Run } from './run.ts';

const HASH = 'a'.repeat(64);
const options = [
  { label: 'Approve' },
  { label: 'Finalize', next: 2 },
  { label: 'Back', next: 1 },
  { label: 'Reject', next: null },
];
const asAda = { principal: ADA, shown: 'seen' };

function begun(first: Partial<PhaseDraft>): Run {
  return started(workflowOf(phases(2, (index) => (index === 0 ? first : {}))));
}

function waiting(): Run {
  const run = begun({ gates: [{ id: 'ship', human: { prompt: 'Ship it?', options } }] });
  return submit(run, complete(run), { database: HASH }).run;
}

function choose(option: string) {
  return { kind: 'decide', gate: 'ship#1', option, shown: 'seen', signature: 's' } as const;
}

/** A phase whose handler says how it ended. */
function handled(outcome: 'ok' | 'fail' | 'skip' | 'iterate') {
  const run = begun({
    work: { kind: 'handler', ref: 'steps/1/handler' },
    next: { outcomes: { ok: 2, fail: 2, skip: 2, iterate: 1 }, maxIterations: 3 },
  });
  const fact = { ok: true, outcome, state: {} } as Extract<Fact, { kind: 'handler' }>['result'];
  return submit(run, complete(run), { database: HASH, answer: () => fact });
}

describe("the copy of an author's database", () => {
  test('goes with a completion of outcome `ok` or `iterate`, and with no other [C35 adv.N7]', () => {
    for (const outcome of ['ok', 'iterate'] as const) {
      expect(handled(outcome).events).toMatchObject([{ type: 'phase_completed', outcome, database: HASH }]);
      expect(handled(outcome).run.completions).toMatchObject([{ database: HASH }]);
    }
    for (const outcome of ['fail', 'skip'] as const) {
      const { events, run } = handled(outcome);
      expect(events).toMatchObject([{ type: 'phase_completed', outcome }]);
      expect(JSON.stringify([events, run.completions])).not.toContain(HASH);
    }
  });

  test('waits at a gate, with its hash on the card, and goes with the yes alone [C35 adv.N7]', () => {
    const run = waiting();

    expect(run).toMatchObject({ status: 'waiting', wait: { database: HASH }, completions: [] });
    expect(gateCard(run)).toMatchObject({ database: HASH });
    for (const option of ['Approve', 'Finalize']) {
      expect(submit(run, choose(option), { ...asAda, database: HASH }).events.at(-1)).toMatchObject({
        type: 'phase_completed',
        database: HASH,
      });
    }
    for (const option of ['Back', 'Reject']) {
      const { verdict, events } = submit(run, choose(option), { ...asAda, database: HASH });
      expect(verdict).toMatchObject({ allowed: true });
      expect(JSON.stringify(events)).not.toContain(HASH);
    }
  });

  test('that is not there is named nowhere: neither on the card nor in an event', () => {
    const run = begun({ gates: [{ id: 'ship', human: { prompt: 'Ship it?', options } }] });
    const { run: open, events } = submit(run, complete(run));

    expect(gateCard(open)).not.toHaveProperty('database');
    const decided = submit(open, choose('Approve'), asAda);
    expect(JSON.stringify([events, decided.events])).not.toContain('database');
    expect(decided.run).toMatchObject({ status: 'active', phase: 2 });
  });

  test('that can no longer be installed refuses the yes, and the step is done anew [adv.N7]', () => {
    const run = waiting();

    for (const database of [undefined, 'b'.repeat(64)]) {
      const moved = submit(run, choose('Approve'), {
        ...asAda,
        ...(database === undefined ? {} : { database }),
      });
      expect(moved.verdict).toMatchObject({
        allowed: false,
        blockers: [{ code: 'database_moved', nextAction: { act: 'complete_phase', phase: 1 } }],
      });
      expect(moved.events).toMatchObject([{ type: 'gate_closed', gate: 'ship#1' }]);
      expect(moved.run).toMatchObject({
        status: 'active',
        phase: 1,
        epoch: 2,
        completions: [],
        decisions: [],
      });
      expect(moved.run.work).toMatchObject({
        attempts: 0,
        failure: expect.stringContaining('changed while'),
      });
      expect(moved.run).not.toHaveProperty('wait');
      // It is waited for again, at a gate of another name.
      expect(submit(moved.run, complete(moved.run), { database: HASH }).run).toMatchObject({
        wait: { gate: 'ship#2', database: HASH },
      });
    }
  });

  test('that can no longer be installed is in the way of nobody who says no', () => {
    expect(submit(waiting(), choose('Reject'), asAda).run.status).toBe('stopped');
    expect(submit(waiting(), choose('Back'), asAda).run).toMatchObject({ status: 'active', phase: 1 });
  });

  test('of an item goes with that item', () => {
    const run = started(
      workflowOf(
        phases(2, (index) => (index === 0 ? { parallel: { key: 'areas' } } : {})),
        { params: { areas: { type: 'list' } } },
      ),
      { areas: ['a', 'b'] },
    );
    const one = submit(run, complete(run, {}, { item: 'a' }), { database: HASH });

    expect(one.events).toMatchObject([{ type: 'item_completed', item: 'a', database: HASH }]);
    expect(one.run.work.items?.a).toMatchObject({ status: 'completed', database: HASH });
    const last = submit(one.run, complete(one.run, {}, { item: 'b' }), { database: 'c'.repeat(64) });
    expect(last.run.completions).toMatchObject([{ phase: 1, database: 'c'.repeat(64) }]);
  });

  test('is kept with what a decision was made from, so that the same can be decided again', () => {
    const run = waiting();
    const command = choose('Approve');
    const { events } = submit(run, command, { ...asAda, database: HASH });

    const kept = recorded({ command, facts: {}, database: HASH }, events);
    const read = readRecording({ time: NOW, event: 'gate_decided', data: { recorded: kept } }, events);

    expect(read).toEqual({ command, facts: {}, database: HASH });
    expect(decide(run, command, { ...asAda, now: NOW, facts: {}, database: HASH }).events).toEqual(events);
  });
});
