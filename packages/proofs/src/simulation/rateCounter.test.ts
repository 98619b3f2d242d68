import type { Command, Facts, Principal, RecordedEvent, Run, RunEvent } from '@phasegate/core/engine';
import { addSeconds, decide, decideStart, fold } from '@phasegate/core/engine';
import type { Json, Workflow } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { workflowOf } from '../check/fixtures/flaws.ts';
import { ratesFrom } from './rateCounter.ts';
import { simulate } from './simulate.ts';

const START = '2026-01-31T23:50:00.000Z';
const AGENT: Principal = { kind: 'agent', name: 'ada' };
const HUMAN: Principal = { kind: 'human', name: 'maria' };

const gated = workflowOf([
  {
    id: 'A',
    postconditions: [{ check: 'review_is_complete' }],
    gates: [
      { id: 'ship', human: { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'Again', next: 'A' }] } },
    ],
  },
  {
    id: 'B',
    artifacts: [{ type: 'ok' }],
    next: { condition: 'ok === true', onTrue: null, onFalse: 'A', maxIterations: 1 },
  },
]);

describe('what a recorded run says', () => {
  test('attempts, times, choices and ways are counted by phase', () => {
    const walk = new Recorder(gated);
    walk.after(5).complete('A', { passes: false });
    walk.after(3).complete('A', { passes: true });
    walk.after(60).choose('Yes');
    walk.after(2).complete('B', { evidence: { ok: false } });
    walk.after(4).complete('A', { passes: true });
    walk.after(30).choose('Again');
    walk.after(6).complete('A', { passes: true });
    walk.after(90).choose('Yes');
    walk.after(8).complete('B', { evidence: { ok: true } });

    const { runs, phases } = ratesFrom([walk.recorded()]);

    expect(runs).toBe(1);
    expect(phases.A).toMatchObject({
      attempts: [
        { passed: 2, n: 3 },
        { passed: 1, n: 1 },
      ],
      options: { Yes: 2, Again: 1 },
      decideMinutes: [60, 30, 90],
    });
    expect(phases.A?.minutes.map(({ work }) => work)).toEqual([5, 3, 4, 6]);
    expect(phases.B).toMatchObject({
      attempts: [
        { passed: 2, n: 2 },
        { passed: 0, n: 0 },
      ],
      condition: { yes: 1, no: 1 },
      escalations: { n: 0 },
    });
  });

  test('an escalation is counted with what became of it, and an exhausted loop as the way it would have gone', () => {
    const walk = new Recorder(gated);
    walk.after(1).complete('A', { passes: false });
    walk.after(1).complete('A', { passes: false });
    walk.after(45).act({ kind: 'resume' });
    walk.after(1).complete('A', { passes: true });
    walk.after(1).choose('Yes');
    walk.after(1).complete('B', { evidence: { ok: false } });
    walk.after(1).complete('A', { passes: true });
    walk.after(1).choose('Yes');
    walk.after(1).complete('B', { evidence: { ok: false } });
    walk.after(15).act({ kind: 'stop', reason: 'enough' });

    const { phases } = ratesFrom([walk.recorded()]);

    expect(phases.A?.escalations).toEqual({ n: 1, resumed: 1, stopped: 0 });
    expect(phases.A?.resumeMinutes).toEqual([45]);
    expect(phases.A?.attempts).toEqual([
      { passed: 2, n: 3 },
      { passed: 0, n: 1 },
    ]);
    expect(phases.B).toMatchObject({
      condition: { yes: 0, no: 2 },
      escalations: { n: 1, resumed: 0, stopped: 1 },
      resumeMinutes: [15],
    });
  });

  test('what an agent waits for answers, or lies in the queue, is not work', () => {
    const walk = new Recorder(workflowOf([{ id: 'A' }]), { queued: true });
    walk.after(500).agent({ kind: 'claim' });
    walk.after(2).agent({ kind: 'ask', questions: [{ text: 'Which?', options: ['this', 'that'] }] });
    walk.after(40).act({ kind: 'answer', question: 1, text: 'this' });
    walk.after(3).complete('A', {});

    expect(ratesFrom([walk.recorded()]).phases.A?.minutes).toEqual([{ work: 5, asked: 40 }]);
  });

  test('an agent that gives up is counted apart from what was judged', () => {
    const walk = new Recorder(workflowOf([{ id: 'A' }]));
    walk.after(7).agent({ kind: 'report_blocked', reason: 'no access' });

    expect(ratesFrom([walk.recorded()]).phases.A).toMatchObject({
      attempts: [
        { passed: 0, n: 0 },
        { passed: 0, n: 0 },
      ],
      blocked: 1,
      escalations: { n: 1, resumed: 0, stopped: 0 },
    });
  });

  test('items of a parallel phase have attempts of their own, and their join is none', () => {
    const workflow = workflowOf([
      { id: 'A', artifacts: [{ type: 'chapters' }] },
      { id: 'B', parallel: { key: 'chapters' }, postconditions: [{ check: 'review_is_complete' }] },
    ]);
    const walk = new Recorder(workflow);
    walk.after(1).complete('A', { evidence: { chapters: ['x', 'y'] } });
    walk.after(2).complete('B', { item: 'x', passes: true });
    walk.after(3).complete('B', { item: 'y', passes: false });
    walk.after(4).complete('B', { item: 'y', passes: true });

    const { phases } = ratesFrom([walk.recorded()]);

    expect(phases.B?.items).toEqual([2]);
    expect(phases.B?.attempts).toEqual([
      { passed: 1, n: 2 },
      { passed: 1, n: 1 },
    ]);
    expect(phases.B?.minutes.map(({ work }) => work)).toEqual([2, 3, 4]);
  });

  test('a human who names a phase says nothing about the condition', () => {
    const options = [{ label: 'Go on' }, { label: 'To the end', next: 'B' }];
    const workflow = workflowOf([
      {
        id: 'A',
        artifacts: [{ type: 'ok' }],
        gates: [{ id: 'ship', human: { prompt: 'Good?', options } }],
        next: { condition: 'ok === true', onTrue: 'B', onFalse: null },
      },
      { id: 'B' },
    ]);
    const counted = ['Go on', 'To the end'].map((option) => {
      const walk = new Recorder(workflow);
      walk.after(1).complete('A', { evidence: { ok: true } });
      walk.after(1).choose(option);
      return ratesFrom([walk.recorded()]).phases.A?.condition;
    });

    expect(counted).toEqual([
      { yes: 1, no: 0 },
      { yes: 0, no: 0 },
    ]);
  });

  test('a gate that is still open is not held against anyone', () => {
    const walk = new Recorder(gated);
    walk.after(5).complete('A', { passes: true });

    expect(ratesFrom([walk.recorded()]).phases.A).toMatchObject({ undecided: 0, decideMinutes: [] });
  });

  test('notes and records of a later version are passed over', () => {
    const { run } = new Recorder(gated).recorded();
    const odd = ['tool_judged', 'run_migrated_one_day'].map((event) => ({ time: START, event, data: null }));

    expect(ratesFrom([{ run, records: odd }])).toEqual({ runs: 1, phases: {} });
  });
});

test.runIf(FULL)('a simulation of recorded runs is like them', () => {
  const walks = Array.from({ length: 10 }, (_, index) => {
    const walk = new Recorder(gated);
    if (index < 4) walk.after(5).complete('A', { passes: false });
    walk.after(5).complete('A', { passes: true });
    walk.after(20).choose('Yes');
    walk.after(10).complete('B', { evidence: { ok: true } });
    return walk.recorded();
  });

  const { phases, minutes, inputs, recorded } = simulate(gated, {
    runs: 4000,
    agents: 4000,
    seed: '1',
    recorded: ratesFrom(walks),
  });

  expect(recorded).toBe(10);
  expect(phases[0]?.pass).toEqual({ rates: [0.6, 1], source: 'recorded', n: 14 });
  expect(Math.abs((phases[0]?.attempts ?? 0) - 1.4)).toBeLessThan(0.04);
  expect(minutes).toMatchObject({ p50: 35, p95: 40 });
  expect(inputs.filter(({ source }) => source === 'assumed').map(({ rate }) => rate)).toEqual([
    'resume',
    'resume',
  ]);
});

test('phases that the workflow no longer has are named', () => {
  const walk = new Recorder(workflowOf([{ id: 'OLD' }]));
  walk.after(1).complete('OLD', {});

  const { notes } = simulate(gated, {
    runs: 1,
    agents: 1,
    seed: '1',
    recorded: ratesFrom([walk.recorded()]),
  });

  expect(notes).toEqual(['recorded and no longer in the workflow, so left out: `OLD`']);
});

/** Plays a run with the engine and keeps its records, as a store would. */
class Recorder {
  #run: Run;
  #now = START;
  readonly #events: RunEvent[] = [];

  constructor(workflow: Workflow, { queued = false } = {}) {
    const starting = {
      id: 'run-1',
      workflow,
      workflowHash: '',
      target: null,
      params: {},
      ring: 'served' as const,
      trusted: true,
      queued,
    };
    const { run, events } = decideStart(starting, { principal: AGENT, now: START, facts: {} });
    if (run === null) throw new Error('it does not start');
    this.#run = run;
    this.#events.push(...events);
  }

  after(minutes: number): this {
    this.#now = addSeconds(this.#now, minutes * 60);
    return this;
  }

  complete(
    phase: string,
    {
      passes = true,
      evidence = {},
      item,
    }: { passes?: boolean; evidence?: Record<string, Json>; item?: string },
  ): void {
    const status = passes ? ('passed' as const) : ('failed' as const);
    const result = { status, reason: '', class: 'verified' as const };
    const facts = Object.fromEntries(
      this.#run.workflow.phases.flatMap(({ postconditions }) =>
        postconditions.map(({ id }) => [`leave:${id}`, { kind: 'check' as const, result }]),
      ),
    );
    const command = { kind: 'complete' as const, phase, evidence, ...(item === undefined ? {} : { item }) };
    this.#decide(command, AGENT, facts);
  }

  agent(command: Command): void {
    this.#decide(command, AGENT, {});
  }

  act(command: Command): void {
    this.#decide(command, HUMAN, {});
  }

  choose(option: string): void {
    const gate = this.#run.status === 'waiting' && this.#run.wait.for === 'gate' ? this.#run.wait.gate : '';
    this.#decide({ kind: 'decide', gate, option, shown: '', signature: '' }, HUMAN, {});
  }

  recorded(): { readonly run: Run; readonly records: readonly RecordedEvent[] } {
    const records = this.#events.map(({ at, type, ...data }) => {
      return { time: at, event: type, data: data as unknown as Json };
    });
    expect(fold(this.#run.workflow, this.#events)).toEqual(this.#run);
    return { run: this.#run, records };
  }

  #decide(command: Command, principal: Principal, facts: Facts): void {
    const { run, events } = decide(this.#run, command, { principal, now: this.#now, facts, shown: '' });
    if (events.length === 0) throw new Error(`nothing came of ${command.kind}`);
    this.#run = run;
    this.#events.push(...events);
  }
}
