import { describe, expect, test } from 'vitest';
import { canonicalJson, type JsonObject } from '../json.ts';
import type { GateDraft, PhaseDraft } from '../model/draft.ts';
import { ADA, type Circumstances, complete, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';
import type { Run } from './run.ts';
import { checkpointOf, scopeFor } from './scope.ts';

const GRACE = { kind: 'human', name: 'grace' } as const;

function gate(more: Partial<NonNullable<GateDraft['human']>> = {}): GateDraft {
  const options = [
    { label: 'Accept' },
    { label: 'Again', next: 'A' },
    { label: 'File', next: 'FILED', approves: false },
    { label: 'Stop', next: null },
  ];
  return { id: 'go', human: { prompt: 'Good?', options, ...more } };
}
const ARTICLE: readonly PhaseDraft[] = [
  { id: 'A', artifacts: [{ type: 'article' }], gates: [gate()] },
  { id: 'B' },
  { id: 'FILED' },
];

describe('a no', () => {
  test.each([
    ['Again', 'A'],
    ['File', 'FILED'],
  ])('is not stored as a yes: `%s` completes as `rejected` [C35 adv.N10]', (option, phase) => {
    const waiting = submitted(started(workflowOf(ARTICLE)), { article: 'draft' });
    const run = decided(waiting, option);

    expect(run).toMatchObject({ phase, completions: [{ phase: 'A', outcome: 'rejected' }] });
    expect(scopeFor(run, here(run))).toMatchObject({ artifacts: {}, approved: {} });
    expect(checkpointOf(run)).not.toHaveProperty('article');
    expect(checkpointOf(run)).toMatchObject({
      completedSteps: [{ step: 'A', outcome: 'rejected' }],
      results: {},
    });
  });

  test('merges no state, and leaves an earlier yes as it was [C35 adv.N10]', () => {
    const workflow = workflowOf([
      {
        id: 'A',
        work: { kind: 'handler', ref: 'steps/A/handler' },
        gates: [gate()],
      },
      { id: 'B', next: { condition: 'result.again === true', onTrue: 'A', onFalse: null, maxIterations: 2 } },
      { id: 'FILED' },
    ]);
    const low = decided(submitted(started(workflow), {}, stateful({ risk: 'low' })), 'Accept');
    const again = submitted(low, { again: true });
    const high = decided(submitted(again, {}, stateful({ risk: 'HIGH' })), 'Again');

    expect(low.state).toEqual({ risk: 'low' });
    expect(high.state).toEqual({ risk: 'low' });
  });

  test('leaves what was approved before in place [C28]', () => {
    const looped: readonly PhaseDraft[] = [
      ...ARTICLE.slice(0, 1),
      { id: 'B', next: { condition: 'result.again === true', onTrue: 'A', onFalse: null, maxIterations: 2 } },
      { id: 'FILED' },
    ];
    const yes = decided(submitted(started(workflowOf(looped)), { article: 'first' }), 'Accept');
    const second = decided(submitted(submitted(yes, { again: true }), { article: 'second' }), 'File');

    expect(scopeFor(second, here(second)).approved).toEqual({ article: 'first' });
  });

  test('may lead where a yes does not, with the author’s word for it', () => {
    const [first, ...rest] = ARTICLE as [PhaseDraft, ...PhaseDraft[]];
    const human = gate({ options: [{ label: 'Keep', next: 'FILED', approves: true }, { label: 'Accept' }] });
    const run = decided(
      submitted(started(workflowOf([{ ...first, gates: [human] }, ...rest])), { article: 'x' }),
      'Keep',
    );

    expect(scopeFor(run, here(run)).approved).toEqual({ article: 'x' });
  });

  test('is judged by the way really taken where the phase has a condition', () => {
    const next = { condition: 'result.good === true', onTrue: 'C', onFalse: 'B' };
    const options = [{ label: 'On', next: 'C' }, { label: 'Own way' }];
    const workflow = workflowOf([
      {
        id: 'A',
        fields: [{ name: 'good', type: 'bool', rule: 'present' }],
        gates: [gate({ options })],
        next,
      },
      { id: 'B' },
      { id: 'C' },
    ]);
    const meant = (good: boolean) =>
      decided(submitted(started(workflow), { good }), 'On').completions[0]?.outcome;

    expect(meant(true)).toBe('ok');
    expect(meant(false)).toBe('rejected');
  });
});

describe('what is signed', () => {
  test('is what is merged: the card shows this visit’s state, not the last one’s [adv.N8]', () => {
    const workflow = workflowOf([
      { id: 'A', work: { kind: 'handler', ref: 'h' }, gates: [gate({ context: ['risk'] })] },
      { id: 'B' },
      { id: 'FILED' },
    ]);
    const rejected = decided(submitted(started(workflow), {}, stateful({ risk: 'low' })), 'Again');
    const waiting = submitted(rejected, {}, stateful({ risk: 'HIGH' }));

    expect(gateCard(waiting)).toMatchObject({ context: { risk: 'HIGH' }, state: { risk: 'HIGH' } });
    expect(decided(waiting, 'Accept').state).toEqual({ risk: 'HIGH' });
  });

  test('covers the whole of every name in the context, and that is what is approved [C28]', () => {
    const workflow = workflowOf([
      { id: 'M' },
      { id: 'A', gates: [gate({ context: ['metrics.delta'] })] },
      { id: 'B' },
      { id: 'FILED' },
    ]);
    const metrics = { delta: 1, hidden: 'too' };
    const waiting = submitted(submitted(started(workflow), { metrics }), {});
    const run = decided(waiting, 'Accept');

    expect(gateCard(waiting)).toMatchObject({ context: { 'metrics.delta': 1 }, covered: { metrics } });
    expect(scopeFor(run, here(run)).approved).toEqual({ metrics });
  });

  test('is nothing where two steps hold a name in the context: the gate does not open [C29]', () => {
    const workflow = workflowOf([
      { id: 'M' },
      { id: 'N' },
      { id: 'A', gates: [gate({ context: ['metrics'] })] },
      { id: 'B' },
      { id: 'FILED' },
    ]);
    const run = submitted(submitted(started(workflow), { metrics: 1 }), { metrics: 2 });
    const decision = submit(run, complete(run));

    expect(decision.verdict).toMatchObject({
      blockers: [{ code: 'context_unclear', message: expect.stringMatching(/`M` and `N`/) }],
    });
    expect(decision.run.status).toBe('active');
  });

  test('is looked at again when it counts, unless the author says otherwise [B7]', () => {
    const checked = (recheck?: boolean) =>
      workflowOf([
        {
          id: 'A',
          postconditions: [
            { check: 'asked', label: 'seen', ...(recheck === undefined ? {} : { recheck }) },
            { check: 'believed', label: 'said' },
          ],
          gates: [gate()],
        },
        { id: 'B' },
        { id: 'FILED' },
      ]);
    const again: string[] = [];
    const gone: Circumstances['answer'] = (look) => {
      again.push(look.id);
      return result('failed', 'it is gone');
    };
    const waiting = submitted(started(checked()), {});

    const refused = decide(waiting, 'Accept', { answer: gone });
    expect(refused.verdict).toMatchObject({ blockers: [{ code: 'check_failed' }] });
    expect(refused.run).toBe(waiting);
    expect(again).toEqual(['again:A/postconditions/0']);
    expect(decide(waiting, 'Again', { answer: gone }).run.phase).toBe('A');
    expect(decide(submitted(started(checked(false)), {}), 'Accept', { answer: gone }).run.phase).toBe('B');
  });
});

describe('one approval', () => {
  test('is of one instance: a gate that timed out and opened again is another [B5]', () => {
    const timed = workflowOf([
      { id: 'A', gates: [gate({ timeout: { after: '1h' } })] },
      { id: 'B' },
      { id: 'FILED' },
    ]);
    const first = submitted(started(timed), {});
    const parked = submit(first, { kind: 'expire' }, { now: '2026-11-15T14:00:00.000Z' }).run;
    const resumed = submit(
      parked,
      { kind: 'resume' },
      { principal: ADA, now: '2026-11-15T14:00:00.000Z' },
    ).run;
    const second = submit(resumed, complete(resumed), { now: '2026-11-15T14:00:00.000Z' }).run;

    expect(gateOf(first)).toBe('go#1');
    expect(gateOf(second)).toBe('go#2');
    expect(canonicalJson(gateCard(first) as JsonObject)).not.toBe(
      canonicalJson(gateCard(second) as JsonObject),
    );
  });

  test('is told to the run when it is final, with gate and phase, until its phase is entered again [C37]', () => {
    const human = gate({ quorum: 2, approvers: ['ada', 'grace'] });
    const workflow = workflowOf([
      { id: 'A', gates: [human] },
      { id: 'B', next: { condition: 'result.again === true', onTrue: 'A', onFalse: null, maxIterations: 2 } },
      { id: 'FILED' },
    ]);
    const voted = decide(submitted(started(workflow), {}), 'Accept').run;
    const settled = decide(voted, 'Accept', { principal: GRACE }).run;
    const back = submitted(settled, { again: true });

    expect(checkpointOf(voted)).not.toHaveProperty('gateDecision');
    expect(checkpointOf(settled)).toMatchObject({
      gateDecision: { gate: 'go', phase: 'A', option: 'Accept', input: null },
      decisions: { go: { option: 'Accept' } },
    });
    expect(back.phase).toBe('A');
    expect(checkpointOf(back)).not.toHaveProperty('gateDecision');
  });

  test('is what a route after it reads, not what another phase declares later [C28]', () => {
    const workflow = workflowOf([
      { id: 'A', artifacts: [{ type: 'plan' }], gates: [gate()] },
      { id: 'B', artifacts: [{ type: 'plan' }] },
      {
        id: 'C',
        next: { condition: "artifacts.plan === 'approved'", onTrue: null, onFalse: 'FILED' },
      },
      { id: 'FILED' },
    ]);
    const run = submitted(decided(submitted(started(workflow), { plan: 'approved' }), 'Accept'), {
      plan: 'swapped',
    });

    expect(scopeFor(run, here(run))).toMatchObject({
      artifacts: { plan: 'swapped' },
      approved: { plan: 'approved' },
    });
    expect(submitted(run, {}).status).toBe('completed');
  });
});

function stateful(state: JsonObject): Circumstances {
  return {
    answer: (look) => (look.kind === 'handler' ? { ok: true, outcome: 'ok', state } : result('passed')),
  };
}

function gateOf(run: Run): string {
  return run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
}

function decide(run: Run, option: string, circumstances: Circumstances = {}) {
  const command = { kind: 'decide', gate: gateOf(run), option, shown: 's', signature: 'x' } as const;
  return submit(run, command, { principal: ADA, shown: 's', ...circumstances });
}

function decided(run: Run, option: string): Run {
  const decision = decide(run, option);
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function submitted(run: Run, evidence: JsonObject, circumstances: Circumstances = {}): Run {
  const decision = submit(run, complete(run, evidence), circumstances);
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function here(run: Run) {
  return {
    phase: run.workflow.phases.find(({ id }) => id === run.phase) ?? (run.workflow.phases[0] as never),
  };
}
