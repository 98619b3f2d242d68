import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import type { PhaseDraft } from '../model/draft.ts';
import {
  ADA,
  type Circumstances,
  complete,
  KNOWN,
  result,
  started,
  subjectOf,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';
import type { Run } from './run.ts';
import { checkpointOf, scopeFor } from './scope.ts';

const YES = { id: 'go', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } };

describe('the card names the phase a yes really leads to [adv.N14]', () => {
  test('also when the loop is exhausted', () => {
    const next = {
      condition: 'result.passed === true',
      onTrue: 'SHIP',
      onFalse: 'WORK',
      maxIterations: 1,
      onExhausted: 'SHIP',
    };
    const fields = [{ name: 'passed', type: 'bool', rule: 'present' as const }];
    const workflow = workflowOf([
      { id: 'WORK' },
      { id: 'REVIEW', fields, gates: [YES], next },
      { id: 'SHIP' },
    ]);
    const first = done(done(started(workflow), {}), { passed: false });
    const second = done(done(yes(first), {}), { passed: false });

    expect(waysOn(first)).toEqual(['phase `WORK`']);
    expect(waysOn(second)).toEqual(['phase `SHIP`']);
    expect(yes(second).phase).toBe('SHIP');
  });

  test('also when a list is empty', () => {
    const workflow = workflowOf([
      { id: 'LIST', artifacts: [{ type: 'things' }] },
      { id: 'EACH', parallel: { key: 'things', onEmpty: 'SHIP' }, gates: [YES] },
      { id: 'AUDIT' },
      { id: 'SHIP' },
    ]);
    const waiting = done(started(workflow), { things: [] });

    expect(waysOn(waiting)).toEqual(['phase `SHIP`']);
    expect(yes(waiting).phase).toBe('SHIP');
  });
});

test('a choice that follows a condition back approves nothing [C28]', () => {
  const next = { condition: 'result.passed === true', onTrue: 'SHIP', onFalse: 'WORK', maxIterations: 3 };
  const fields = [{ name: 'passed', type: 'bool', rule: 'present' as const }];
  const workflow = workflowOf([{ id: 'WORK' }, { id: 'REVIEW', fields, gates: [YES], next }, { id: 'SHIP' }]);
  const at = (passed: boolean) => yes(done(done(started(workflow), {}), { passed }));

  expect(scopeFor(at(false), here(at(false))).approved).toEqual({});
  expect(checkpointOf(at(false))).toMatchObject({ gateDecision: { option: 'Yes', approves: false } });
  expect(scopeFor(at(true), here(at(true))).approved).toEqual({ passed: true });
});

test('a handler that passes on what an agent says does not replace what was approved [adv.N1]', () => {
  const workflow = workflowOf([
    { id: 'PLAN', artifacts: [{ type: 'plan' }], gates: [YES] },
    { id: 'NOTE', work: { kind: 'handler', ref: 'h' } },
    { id: 'IMPL', parallel: { key: 'plan' } },
  ]);
  const approved = yes(done(started(workflow), { plan: ['good.js'] }));
  const answer: Circumstances['answer'] = (look) =>
    look.kind === 'handler' ? { ok: true, outcome: 'ok', state: { plan: ['evil.js'] } } : result('passed');
  const run = submit(approved, complete(approved), { answer }).run;

  expect(Object.keys(run.work.items ?? {})).toEqual(['good.js']);
});

test('an item that hands in something called `items` speaks for itself only', () => {
  const seen: unknown[] = [];
  const workflow = workflowOf([
    { id: 'LIST', artifacts: [{ type: 'areas' }] },
    {
      id: 'EACH',
      parallel: { key: 'areas' },
      artifacts: [{ type: 'review' }, { type: 'items' }],
      postconditions: [{ check: 'asked' }],
    },
  ]);
  const run = done(started(workflow), { areas: ['a', 'b'] });
  const evidence = { review: { approved: false }, items: { approved: { review: true } } };
  submit(run, complete(run, evidence, { item: 'a' }), {
    answer: (look) => {
      seen.push((subjectOf(look).scope.artifacts as JsonObject).review);
      return result('passed');
    },
  });

  expect(seen).toEqual([{ approved: false }]);
});

test('`fail` that leads to the end is a way around the gate before it [adv.N12]', () => {
  const endings = (fail: string | null): PhaseDraft[] => [
    { id: 'A', gates: [YES], next: { outcomes: { ok: null, fail } } },
    { id: 'B' },
  ];
  const codes = (phases: readonly PhaseDraft[]) => {
    const defined = defineWorkflow({ id: 'w', phases }, { checks: KNOWN });
    return defined.ok ? [] : defined.problems.map(({ code }) => code);
  };

  expect(codes(endings(null))).toContain('way_around_gate');
  expect(codes(endings('B'))).toEqual([]);
});

test('`fail` reported until the loop is exhausted does not lead past the human [adv.N12]', () => {
  const phases: PhaseDraft[] = [
    {
      id: 'WORK',
      gates: [YES],
      next: { outcomes: { ok: 'SHIP', fail: 'WORK' }, maxIterations: 3, onExhausted: 'SHIP' },
    },
    { id: 'SHIP' },
  ];
  const defined = defineWorkflow({ id: 'w', phases }, { checks: KNOWN });

  expect(defined.ok ? [] : defined.problems.map(({ code }) => code)).toEqual(['way_around_gate']);
});

describe('what an agent is refused', () => {
  test('counts, however it words it', () => {
    let run = started(workflowOf([{ id: 'A' }, { id: 'B' }]));
    for (let turn = 0; turn < 40 && run.status === 'active'; turn++) {
      run = submit(run, { kind: 'complete', phase: `SKIP${turn}`, evidence: {} }).run;
    }

    expect(run).toMatchObject({ status: 'escalated', escalation: { reason: 'refusals' } });
  });

  test('does not grow with what it handed in', () => {
    const run = started(workflowOf([{ id: 'A', artifacts: [{ type: 'a' }] }, { id: 'B' }]));
    const names = Array.from({ length: 20_000 }, (_, index) => [`name${index}`, 1]);
    const { verdict } = submit(run, complete(run, Object.fromEntries(names)));

    expect(JSON.stringify(verdict).length).toBeLessThan(10_000);
    expect(JSON.stringify(verdict)).toContain('19980 more names');
  });

  test('a list longer than anyone could work through is refused', () => {
    const run = started(
      workflowOf([
        { id: 'A', artifacts: [{ type: 'l' }] },
        { id: 'B', parallel: { key: 'l' } },
      ]),
    );
    const l = Array.from({ length: 10_001 }, (_, index) => index);

    expect(submit(run, complete(run, { l })).verdict).toMatchObject({
      blockers: [{ code: 'items_invalid' }],
    });
  });
});

function waysOn(run: Run): readonly unknown[] {
  const options = gateCard(run)?.options as readonly JsonObject[];
  return options.map(({ way }) => way);
}

function done(run: Run, evidence: JsonObject): Run {
  const decision = submit(run, complete(run, evidence));
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function yes(run: Run): Run {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
  const command = { kind: 'decide', gate, option: 'Yes', shown: 's', signature: 'x' } as const;
  const decision = submit(run, command, { principal: ADA, shown: 's' });
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function here(run: Run) {
  return { phase: run.workflow.phases.find(({ id }) => id === run.phase) as never };
}
