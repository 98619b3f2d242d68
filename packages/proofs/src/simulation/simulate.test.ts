import type { GateDraft, Workflow } from '@phasegate/core/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { checkWorkflow } from '../check/checkWorkflow.ts';
import { FLAWS, workflowOf } from '../check/fixtures/flaws.ts';
import type { Rates } from './rates.ts';
import { type SimulateOptions, simulate } from './simulate.ts';
import type { Simulation } from './simulation.ts';

const checked = { postconditions: [{ check: 'review_is_complete' }] };
const line = (...ids: readonly string[]) => workflowOf(ids.map((id) => ({ id, ...checked })));
const ONE = line('A');

/** Shares are held to what so many runs may differ by. */
const RUNS = cases({ quick: 500, full: 4000 });

describe('what is known beforehand comes out', () => {
  test('a line in which everything passes takes the sum of its phases, in one attempt each', () => {
    const { phases, ...all } = simulated(line('A', 'B', 'C'), {
      rates: { A: { minutes: 5 }, B: { minutes: 7.5 }, C: { minutes: 2.5 } },
    });

    expect(all).toMatchObject({
      completed: 1,
      stopped: 0,
      stuck: 0,
      attempts: 3,
      utilisation: 1,
      bound: null,
    });
    expect(all.minutes).toEqual({ mean: 15, p50: 15, p95: 15 });
    expect(all.throughput).toBe(4);
    expect(phases.map(({ visits, attempts }) => [visits, attempts])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
    expect(all.histogram).toEqual([{ from: 15, to: 15, runs: 1000 }]);
  });

  test('in permissive mode what is asked before the first phase keeps nobody out [C9]', () => {
    const preconditions = [{ check: 'expression', with: { condition: "params.mode === 'full'" } }];
    const params = { mode: { type: 'string' as const, choices: ['quick'] } };
    const workflow = workflowOf([{ id: 'A', preconditions }], {
      params,
      enforcement: { mode: 'permissive' },
    });

    expect(simulated(workflow, {}).completed).toBe(1);
  });

  test.each([0.1, 0.35, 0.5, 0.8, 0.97])(
    'a pass rate of %d gives p + (1-p)·2 attempts, and p + (1-p)·p pass',
    (p) => {
      const runs = RUNS;
      const { completed, stuck, phases, stranded } = simulated(ONE, { runs, rates: { A: { pass: p } } });

      const passing = p + (1 - p) * p;
      expect(Math.abs((phases[0]?.attempts ?? 0) - (p + (1 - p) * 2))).toBeLessThan(4 * spread(p, runs));
      expect(Math.abs(completed - passing)).toBeLessThan(4 * spread(passing, runs));
      expect(completed + stuck).toBeCloseTo(1, 6);
      expect(stranded).toMatchObject([{ phase: 'A', why: 'escalated' }]);
    },
  );

  test('the second attempt has a rate of its own', () => {
    const { phases, completed } = simulated(ONE, { rates: { A: { pass: [0, 1] } } });

    expect(completed).toBe(1);
    expect(phases[0]?.attempts).toBe(2);
  });

  test('a loop with a limit goes back as often as it may, and a human is next', () => {
    const workflow = workflowOf([
      { id: 'A' },
      {
        id: 'B',
        artifacts: [{ type: 'ok' }],
        next: { condition: 'ok === true', onTrue: null, onFalse: 'A', maxIterations: 2 },
      },
    ]);

    const { phases, stranded } = simulated(workflow, { rates: { B: { condition: 0 } } });

    expect(phases.map(({ visits }) => visits)).toEqual([3, 3]);
    expect(stranded).toEqual([{ phase: 'B', why: 'loop', share: 1 }]);
    expect(simulated(workflow, { rates: {} })).toMatchObject({ completed: 1 });
  });

  test('the share of a condition is the share of runs that go its way', () => {
    const runs = RUNS;
    const workflow = workflowOf([
      { id: 'A', artifacts: [{ type: 'ok' }], next: { condition: 'ok === true', onTrue: 'B', onFalse: 'C' } },
      { id: 'B', next: { to: null } },
      { id: 'C' },
    ]);

    const { phases } = simulated(workflow, { runs, rates: { A: { condition: 0.3 } } });

    expect(Math.abs((phases[1]?.visits ?? 0) - 0.3)).toBeLessThan(4 * spread(0.3, runs));
    expect((phases[1]?.visits ?? 0) + (phases[2]?.visits ?? 0)).toBeCloseTo(1, 6);
  });

  test('outcomes of agents and of handlers come by their share', () => {
    const routes = { outcomes: { ok: null, fail: 'A', skip: null }, maxIterations: 3 };
    const agent = workflowOf([{ id: 'A', next: { ...routes, outcomes: { ok: null, fail: 'A' } } }]);
    const handler = workflowOf([{ id: 'A', work: { kind: 'handler', ref: 'steps/a' }, next: routes }]);

    for (const workflow of [agent, handler]) {
      const { phases, stranded } = simulated(workflow, {
        runs: 4000,
        rates: { A: { outcomes: { fail: 0.5 } } },
      });

      // 1 + 1/2 + 1/4 + 1/8 visits, and one run of sixteen fails four times.
      expect(Math.abs((phases[0]?.visits ?? 0) - 1.875)).toBeLessThan(0.06);
      expect(stranded).toMatchObject([{ phase: 'A', why: 'loop' }]);
      expect(Math.abs((stranded[0]?.share ?? 0) - 1 / 16)).toBeLessThan(4 * spread(1 / 16, 4000));
    }
  });
});

describe('humans', () => {
  const human: GateDraft['human'] = {
    prompt: 'Good?',
    options: [{ label: 'Yes' }, { label: 'Again', next: 'A' }, { label: 'No', next: null }],
  };
  const gated = (more: Partial<NonNullable<GateDraft['human']>> = {}) =>
    workflowOf([{ id: 'A', ...checked, gates: [{ id: 'ship', human: { ...human, ...more } }] }]);

  test('a gate takes the time of its human, and its options are chosen by their share', () => {
    const rates: Rates = {
      A: { minutes: 10, decide_minutes: 30, options: { Yes: 0.5, Again: 0.25, No: 0.25 } },
    };

    const { completed, stopped, minutes, time } = simulated(gated(), { runs: 4000, agents: 4000, rates });

    // Of what is not sent back, two thirds pass.
    expect(Math.abs(completed - 2 / 3)).toBeLessThan(0.03);
    expect(completed + stopped).toBeCloseTo(1, 6);
    expect(minutes?.p50).toBe(40);
    expect(time.map(({ kind, share }) => [kind, share])).toEqual([
      ['gate', 0.75],
      ['work', 0.25],
    ]);
  });

  test('where several must agree one decision is still one', () => {
    const workflow = gated({ quorum: 2, approvers: ['ada', 'bob'] });

    expect(simulated(workflow, {})).toMatchObject({ completed: 1, minutes: { p50: 70 } });
  });

  test('nobody decides: the run is stuck at the gate, or its time runs out', () => {
    const nobody = { A: { options: { Yes: 0, Again: 0, No: 0 } } };
    const parked = gated({ timeout: { after: '2h', then: 'park' } });
    const stopped = gated({ timeout: { after: '2h', then: 'stop' } });

    expect(simulated(gated(), { rates: nobody }).stranded).toEqual([{ phase: 'A', why: 'gate', share: 1 }]);
    expect(simulated(parked, { rates: nobody }).stranded).toEqual([{ phase: 'A', why: 'gate', share: 1 }]);
    expect(simulated(stopped, { rates: nobody })).toMatchObject({ stopped: 1, minutes: { p50: 130 } });
    expect(simulated(stopped, { rates: { A: { decide_minutes: 120 } } })).toMatchObject({ stopped: 1 });
    expect(simulated(stopped, { rates: { A: { decide_minutes: 119 } } })).toMatchObject({ completed: 1 });
  });

  test('who is assumed to decide does so in time, however short that is', () => {
    const soon = gated({ timeout: { after: '1h', then: 'park' } });
    const later = gated({ timeout: { after: '1d', then: 'park' } });

    expect(simulated(soon, {})).toMatchObject({ completed: 1, minutes: { p50: 40 } });
    expect(simulated(later, {})).toMatchObject({ completed: 1, minutes: { p50: 70 } });
  });

  test('an escalated run is resumed, stopped or left by their share', () => {
    const runs = RUNS;
    const rates: Rates = { A: { pass: 0.5, resume: 0.5, stop: 0.25, resume_minutes: 5 } };

    const { completed, stopped, stuck } = simulated(ONE, { runs, rates });

    // Each round passes with 3/4; of the others half come back.
    const passing = 0.75 / (1 - 0.25 * 0.5);
    expect(Math.abs(completed - passing)).toBeLessThan(4 * spread(passing, runs));
    expect(Math.abs(stopped - stuck)).toBeLessThan(0.03);
  });

  test('an agent that gives up hands its run over without submitting it', () => {
    const { stranded, attempts } = simulated(ONE, { rates: { A: { blocked: 1 } } });

    expect(stranded).toEqual([{ phase: 'A', why: 'escalated', share: 1 }]);
    expect(attempts).toBe(1);
  });
});

describe('parallel phases', () => {
  const fan = workflowOf([
    { id: 'A', artifacts: [{ type: 'chapters' }] },
    { id: 'B', parallel: { key: 'chapters' }, ...checked },
    { id: 'C' },
  ]);
  const rates: Rates = { A: { minutes: 1 }, B: { minutes: 6, items: 4 }, C: { minutes: 1 } };

  test('one agent works on items one after another, several side by side', () => {
    const times = [1, 2, 3, 4, 9].map((agents) => simulated(fan, { runs: 1, agents, rates }).minutes?.p50);

    expect(times).toEqual([26, 14, 14, 8, 8]);
  });

  test('every item has its own attempts, and the run is stuck when one that is left failed twice', () => {
    const runs = RUNS;
    const half = { ...rates, B: { minutes: 6, items: 2, pass: 0.5 } };
    const { completed, phases } = simulated(fan, { runs, agents: 2, rates: half });

    expect(Math.abs(completed - 0.75 ** 2)).toBeLessThan(4 * spread(0.75 ** 2, runs));
    expect(Math.abs((phases[1]?.attempts ?? 0) - 3)).toBeLessThan(0.1);
  });

  test('a join that fails is tried again', () => {
    const joined = workflowOf([
      { id: 'A', artifacts: [{ type: 'chapters' }] },
      { id: 'B', parallel: { key: 'chapters' }, gates: [{ blockers: [{ check: 'review_is_complete' }] }] },
    ]);

    expect(simulated(joined, { rates: { B: { pass: [0, 1], items: 1 } } })).toMatchObject({ completed: 1 });
  });

  test('a first phase may be parallel', () => {
    const first = workflowOf([{ id: 'B', parallel: { key: 'chapters' }, ...checked }], {
      params: { chapters: { type: 'list' } },
    });

    expect(simulated(first, { rates: { B: { items: 3, minutes: 2 } } })).toMatchObject({
      completed: 1,
      attempts: 3,
      minutes: { p50: 6 },
    });
  });
});

describe('agents', () => {
  test('more agents never complete fewer runs in an hour', () => {
    const workflow = line('A', 'B');
    const rates: Rates = { A: { pass: 0.8, minutes: [3, 9, 20] }, B: { pass: 0.9, minutes: [1, 2] } };
    const hourly = [1, 2, 4, 8, 16].map(
      (agents) => simulated(workflow, { runs: 500, agents, rates }).throughput ?? 0,
    );

    expect(hourly).toEqual(hourly.toSorted((one, other) => one - other));
    expect(hourly[1] ?? 0).toBeGreaterThan((hourly[0] ?? 0) * 1.8);
  });

  test('how runs end does not depend on how many agents there are', () => {
    const rates: Rates = { A: { pass: 0.6 }, B: { pass: 0.7 } };
    const [one, many] = [1, 7].map((agents) => simulated(line('A', 'B'), { agents, rates }));

    expect(one?.completed).toBe(many?.completed);
    expect(one?.stranded).toEqual(many?.stranded);
  });
});

describe('every run comes to an end that is told', () => {
  test('a pass rate of zero leaves every run where it is', () => {
    const { completed, stuck, phases, minutes, throughput } = simulated(line('A', 'B', 'C'), {
      rates: { B: { pass: 0 } },
    });

    expect({ completed, stuck, minutes, throughput }).toEqual({
      completed: 0,
      stuck: 1,
      minutes: null,
      throughput: 0,
    });
    expect(phases.map(({ stuck: here }) => here)).toEqual([0, 1, 0]);
    expect(phases[2]).toMatchObject({ visits: 0, attempts: null, minutes: null });
  });

  test('a phase without checks can fail too: its work does', () => {
    const { stranded } = simulated(workflowOf([{ id: 'A' }]), { rates: { A: { pass: 0 } } });

    expect(stranded).toEqual([{ phase: 'A', why: 'escalated', share: 1 }]);
  });

  test('a run that never ends is given up, and that is said', () => {
    const { stranded, bound } = simulated(ONE, {
      runs: 10,
      steps: 50,
      rates: { A: { pass: 0, resume: 1, resume_minutes: 1 } },
    });

    expect(stranded).toEqual([{ phase: 'A', why: 'bound', share: 1 }]);
    expect(bound).toEqual({ steps: 50, runs: 10 });
  });

  test('a precondition that the params rule out refuses the way on until a human is asked', () => {
    const workflow = workflowOf(
      [
        { id: 'A' },
        { id: 'B', preconditions: [{ check: 'expression', with: { condition: "params.mode === 'full'" } }] },
      ],
      { params: { mode: { choices: ['full', 'quick'], default: 'quick' } } },
    );

    expect(simulated(workflow, {}).stranded).toEqual([{ phase: 'A', why: 'escalated', share: 1 }]);
  });

  test('a param without a default is drawn, and the report says so', () => {
    const workflow = workflowOf(
      [{ id: 'A', next: { condition: "params.mode === 'full'", onTrue: 'B', onFalse: null } }, { id: 'B' }],
      { params: { mode: { choices: ['full', 'quick'], required: true } } },
    );

    const { phases, notes } = simulated(workflow, { runs: 4000 });

    expect(Math.abs((phases[1]?.visits ?? 0) - 0.5)).toBeLessThan(0.04);
    expect(notes).toEqual(['each value of `mode` is as likely, as there is no default']);
  });

  test('no run gets to a phase that `check` calls unreachable, whatever the rates are', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const workflows = FLAWS.flatMap(({ flawed, fixed }) => [flawed, fixed]);
    const unreachable = new Map(
      workflows.map((workflow) => [
        workflow,
        checkWorkflow(workflow).findings.flatMap(({ code, phases }) =>
          code === 'unreachable_phase' ? phases : [],
        ),
      ]),
    );
    expect([...unreachable.values()].flat()).not.toEqual([]);

    fc.assert(
      fc.property(fc.constantFrom(...workflows), share, share, fc.string(), (workflow, pass, other, seed) => {
        const rates = Object.fromEntries(
          workflow.phases.map(({ id, next }): [string, Rates[string]] => [
            String(id),
            { pass, resume: other, ...(next.kind === 'when' ? { condition: other } : {}) },
          ]),
        );
        const { phases, completed, stopped, stuck } = simulate(workflow, {
          runs: 20,
          agents: 2,
          seed,
          rates,
          steps: 60,
        });
        for (const { phase, visits } of phases) {
          if (unreachable.get(workflow)?.includes(phase)) expect(visits).toBe(0);
        }
        expect(completed + stopped + stuck).toBeCloseTo(1, 6);
      }),
      { numRuns: cases({ quick: 30, full: 750 }) },
    );
  });
});

test('the same seed gives the same bytes, and another seed others', () => {
  const workflow = line('A', 'B');
  const rates: Rates = { A: { pass: 0.7, minutes: [1, 5, 9] } };
  const bytes = (seed: string) => JSON.stringify(simulated(workflow, { seed, agents: 3, rates }));

  expect(bytes('7')).toBe(bytes('7'));
  expect(bytes('7')).not.toBe(bytes('8'));
});

test('every number that was neither recorded nor given is marked as assumed', () => {
  const { inputs, phases } = simulated(line('A', 'B'), { rates: { A: { pass: 0.9 } } });

  expect(inputs.map(({ phase, rate, source }) => `${phase} ${rate} ${source}`)).toEqual([
    'A pass given',
    'A minutes assumed',
    'A resume assumed',
    'B pass assumed',
    'B minutes assumed',
    'B resume assumed',
  ]);
  expect(phases.map(({ pass }) => pass.source)).toEqual(['given', 'assumed']);
});

test('what cannot be simulated is refused with all that is wrong', () => {
  const wrong = { runs: 0, agents: 1.5, seed: '', rates: { Q: {}, A: { pass: 2, options: {} } } };

  expect(() => simulate(ONE, wrong)).toThrow(
    /`runs` .* not `0`; `agents` .* not `1.5`; there is no phase `Q`; .*`pass` .* not `2`; .*no human gate/,
  );
});

function simulated(workflow: Workflow, options: Partial<SimulateOptions>): Simulation {
  return simulate(workflow, { runs: 1000, agents: 1, seed: '1', ...options });
}

/** The standard deviation of a share that is found in so many runs. */
function spread(share: number, runs: number): number {
  return Math.sqrt((share * (1 - share)) / runs);
}
