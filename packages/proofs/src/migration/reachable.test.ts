import type { Command, Principal, Run, RunEvent } from '@phasegate/core/engine';
import type { GateDraft, JsonObject, PhaseDraft, Workflow, WorkflowDraft } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { ADA, openingOf, result, started, submit } from '../../../core/src/engine/fixtures/walks.ts';
import { workflowOf } from '../check/fixtures/flaws.ts';
import { provesReachable } from './reachable.ts';

const PLAN = { id: 'PLAN' };
const BUILD = { id: 'BUILD' };
const SHIP = { id: 'SHIP' };

describe('a run could have got where it is', () => {
  test('under a workflow whose later phases are others, and the way is told', () => {
    const walk = walkOf([PLAN, BUILD, SHIP]).complete();

    expect(walk.proven([PLAN, { ...BUILD, gates: [gate('ok')] }, { id: 'PUBLISH' }])).toEqual({
      reachable: true,
      trace: ['start', 'complete `PLAN` → `BUILD`'],
    });
  });

  test('under one without a phase it has passed', () => {
    const walk = walkOf([PLAN, { id: 'DRAFT' }, BUILD])
      .complete()
      .complete();

    expect(walk.proven([PLAN, BUILD])).toMatchObject({ reachable: true });
  });

  test('under one that has the gate it passed, also where the phase behind that is gone', () => {
    const walk = walkOf([{ ...PLAN, gates: [gate('ok')] }, { id: 'DRAFT' }, BUILD])
      .complete()
      .decide('Yes')
      .complete();

    expect(walk.run.phase).toBe('BUILD');
    expect(walk.proven([{ ...PLAN, gates: [gate('ok')] }, BUILD])).toMatchObject({ reachable: true });
  });

  test('by another way than its own, where what it has passed comes in another order now', () => {
    const walk = walkOf([PLAN, BUILD, { id: 'TEST' }, SHIP])
      .complete()
      .complete()
      .complete();

    expect(walk.proven([PLAN, { id: 'TEST' }, BUILD, SHIP])).toEqual({
      reachable: true,
      trace: ['start', 'complete `PLAN` → `TEST`', 'complete `TEST` → `BUILD`', 'complete `BUILD` → `SHIP`'],
    });
  });

  test('by its own way, however many others there are', () => {
    const loops = Array.from(
      { length: 16 },
      (_, index): PhaseDraft => ({
        id: `P${index}`,
        next: {
          outcomes: {
            ok: index === 15 ? null : `P${index + 1}`,
            fail: index < 14 ? `P${index + 2}` : null,
            iterate: `P${Math.max(0, index - 2)}`,
          },
          maxIterations: 3,
        },
      }),
    );
    const walk = walkOf(loops);
    for (let step = 1; walk.run.phase !== 'P15'; step++) {
      const again = step % 3 === 0 && (walk.run.iterations[String(walk.run.phase)] ?? 0) < 3;
      walk.complete(again ? 'iterate' : undefined);
    }

    expect(walk.proven(loops, { description: 'changed' })).toMatchObject({ reachable: true });
  });

  test('after an attempt that failed, in a phase that nothing is asked of', () => {
    const walk = walkOf([PLAN, BUILD]).complete().fail();

    expect(walk.run.work.attempts).toBe(1);
    expect(walk.proven([PLAN, { ...BUILD, name: 'Build' }])).toMatchObject({
      reachable: true,
      trace: ['start', 'complete `PLAN` → `BUILD`'],
    });
  });
});

describe('a run could not have got where it is', () => {
  test('past a phase that is new', () => {
    const walk = walkOf([PLAN, BUILD]).complete();

    expect(walk.proven([PLAN, { id: 'TEST' }, BUILD])).toEqual({
      reachable: false,
      reason:
        'the new workflow does not lead to phase `BUILD` without phase `TEST`, which this run has not passed',
    });
  });

  test.each([true, false])('past a human gate that is new, required or not: %s [adv.H4]', (required) => {
    const walk = walkOf([PLAN, BUILD]).complete();

    expect(walk.proven([{ ...PLAN, gates: [gate('ok', { required })] }, BUILD])).toEqual({
      reachable: false,
      reason:
        'the new workflow does not lead to phase `BUILD` without gate `ok` of phase `PLAN`, which this run has not passed',
    });
  });

  test('past a gate that now asks for more humans, or for others [adv.J10]', () => {
    const walk = walkOf([{ ...PLAN, gates: [gate('ok')] }, BUILD])
      .complete()
      .decide('Yes');
    const gated = (change: Partial<NonNullable<GateDraft['human']>>) => [
      { ...PLAN, gates: [gate('ok', change)] },
      BUILD,
    ];

    expect(walk.proven(gated({ prompt: 'Really?' }))).toMatchObject({ reachable: true });
    expect(walk.proven(gated({ approvers: ['ada', 'cy'] }))).toMatchObject({ reachable: true });
    expect(walk.proven(gated({ approvers: ['cy'] }))).toMatchObject({ reachable: false });
    expect(walk.proven(gated({ quorum: 2 }))).toMatchObject({ reachable: false });
  });

  test('past a gate of another name in the same place', () => {
    const walk = walkOf([{ ...PLAN, gates: [gate('ok')] }, BUILD])
      .complete()
      .decide('Yes');

    expect(walk.proven([{ ...PLAN, gates: [gate('fine')] }, BUILD])).toMatchObject({ reachable: false });
  });

  test('past a gate where a human chose what is not an option now, or leads elsewhere now [adv.H4]', () => {
    const draft = (back: string): GateDraft => ({
      id: 'ok',
      human: { prompt: 'Go?', options: [{ label: 'Yes' }, { label: 'Back', next: back }] },
    });
    const before = [
      { ...PLAN, next: { to: 'REVIEW' } },
      { id: 'DRAFT', next: { to: 'BUILD' } },
      { id: 'REVIEW', gates: [draft('DRAFT')] },
      BUILD,
    ];
    const rejected = walkOf(before).complete().complete().decide('Back').complete();
    const approved = walkOf(before).complete().complete().decide('Yes');
    const without: GateDraft = { id: 'ok', human: { prompt: 'Go?', options: [{ label: 'Yes' }] } };

    expect(rejected.run.phase).toBe('BUILD');
    expect(approved.run.phase).toBe('BUILD');
    for (const gates of [[draft('PLAN')], [without]]) {
      const after = [PLAN, { id: 'REVIEW', gates }, BUILD];
      expect(rejected.proven(after)).toMatchObject({ reachable: false });
      expect(approved.proven(after)).toMatchObject({ reachable: true });
    }
  });

  test('past a gate whose decision led nowhere, and whose work was done again without it [adv.H4]', () => {
    const gated = { ...PLAN, gates: [gate('ok')] };
    const walk = walkOf([gated, BUILD]).complete();
    const decided = walk.decide('Yes').events.find(({ type }) => type === 'gate_decided') as RunEvent;
    const bare = walkOf([PLAN, BUILD]).complete();
    const [opening, completed] = bare.events as [RunEvent, RunEvent];
    const resumed: RunEvent = { at: completed.at, type: 'run_resumed', note: null, by: 'ada' };

    const proof = (events: readonly RunEvent[]) => provesReachable(made([gated, BUILD]), bare.run, events);
    expect(proof([opening, decided, completed])).toMatchObject({ reachable: true });
    expect(proof([opening, decided, resumed, completed])).toMatchObject({ reachable: false });
  });

  test('where a human sent it back, and nobody can any more', () => {
    const before = [PLAN, { id: 'DRAFT', gates: [gate('ok')] }, BUILD];
    const walk = walkOf(before).complete().complete().decide('Back');
    const after = [PLAN, { id: 'DRAFT', gates: [gate('ok')] }, { ...BUILD, name: 'Build' }];

    expect(walk.run.phase).toBe('PLAN');
    expect(walk.proven(after)).toMatchObject({ reachable: true });
    // Without the gate nothing leads back.
    expect(walk.proven([PLAN, { id: 'DRAFT' }, BUILD])).toMatchObject({ reachable: false });
  });

  test('with a phase behind it that now comes later', () => {
    const walk = walkOf([PLAN, BUILD, SHIP]).complete().complete();

    expect(walk.proven([PLAN, SHIP, BUILD])).toEqual({
      reachable: false,
      reason: 'the new workflow does not lead to phase `SHIP` with phase `BUILD` behind it, as this run has',
    });
  });

  test('more often through a loop than that may go', () => {
    const loop = (maxIterations: number): readonly PhaseDraft[] => [
      PLAN,
      { ...BUILD, next: { outcomes: { ok: null, iterate: 'PLAN' }, maxIterations } },
    ];
    const walk = walkOf(loop(3));
    for (let round = 0; round < 2; round++) walk.complete().complete('iterate');

    expect(walk.proven(loop(2))).toMatchObject({ reachable: true });
    expect(walk.proven(loop(1))).toEqual({
      reachable: false,
      reason:
        'the new workflow does not lead to phase `PLAN` with 2 iterations of `BUILD` behind it, as this run has',
    });
  });

  test('with params that keep it from where it is', () => {
    const quick = { check: 'expression', with: { condition: "params.mode === 'quick'" } };
    const params = { mode: { type: 'string' as const, choices: ['quick', 'full'] } };
    const walk = walkOf([PLAN, BUILD], { params }, { mode: 'full' }).complete();

    expect(walk.proven([PLAN, { ...BUILD, preconditions: [quick] }], { params })).toMatchObject({
      reachable: false,
    });
    expect(walk.proven([{ ...PLAN, preconditions: [quick] }, BUILD], { params })).toEqual({
      reachable: false,
      reason: 'with its params the first phase of the new workflow is not entered',
    });
  });

  test('where it has broken what the new workflow promises', () => {
    const walk = walkOf([PLAN, BUILD, SHIP]).complete();
    const properties = [{ name: 'ships first', before: ['SHIP', 'BUILD'] }];

    expect(walk.proven([PLAN, BUILD, SHIP], { properties })).toEqual({
      reachable: false,
      reason: 'the run has already broken `ships first`',
    });
  });

  test('as far as can be told within the bound', () => {
    const walk = walkOf([PLAN, BUILD]).complete();

    expect(provesReachable(made([PLAN, BUILD]), walk.run, walk.events, { states: 1 })).toEqual({
      reachable: false,
      reason: 'looking ended after 1 states, so nothing is proven',
    });
  });

  test('once it has ended', () => {
    expect(walkOf([PLAN]).complete().proven([PLAN])).toEqual({
      reachable: false,
      reason: 'run `run-1` has ended',
    });
  });
});

function gate(
  id: string,
  change: Partial<NonNullable<GateDraft['human']>> & { required?: boolean } = {},
): GateDraft {
  const options = [{ label: 'Yes' }, { label: 'Back', next: 'PLAN' }];
  return { id, human: { prompt: 'Go?', options, ...change } };
}

function made(phases: readonly PhaseDraft[], more: Partial<WorkflowDraft> = {}): Workflow {
  return workflowOf(phases, more);
}

/** A run that is led through its workflow, with all that happened to it. */
class Walk {
  run: Run;
  readonly events: RunEvent[];

  constructor(run: Run) {
    this.run = run;
    this.events = [openingOf(run)];
  }

  complete(outcome?: 'iterate'): this {
    const phase = this.run.phase as string;
    return this.#do({ kind: 'complete', phase, evidence: {}, ...(outcome === undefined ? {} : { outcome }) });
  }

  fail(): this {
    return this.#do({ kind: 'report_failure', phase: this.run.phase as string, reason: 'it broke' });
  }

  decide(option: string, by = ADA): this {
    const { run } = this;
    const open = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
    return this.#do({ kind: 'decide', gate: open, option, shown: 's', signature: 'x' }, by);
  }

  proven(phases: readonly PhaseDraft[], more: Partial<WorkflowDraft> = {}) {
    return provesReachable(made(phases, more), this.run, this.events);
  }

  #do(command: Command, principal?: Principal): this {
    const decision = submit(this.run, command, {
      answer: () => result('passed'),
      shown: 's',
      ...(principal === undefined ? {} : { principal }),
    });
    this.events.push(...decision.events);
    this.run = decision.run;
    return this;
  }
}

function walkOf(
  phases: readonly PhaseDraft[],
  more: Partial<WorkflowDraft> = {},
  params: JsonObject = {},
): Walk {
  return new Walk(started(made(phases, more), params));
}
