import type { CheckResult, Run, RunEvent } from '@phasegate/core/engine';
import { decide, fold } from '@phasegate/core/engine';
import type { Workflow } from '@phasegate/core/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { anyActs, anyWorkflow } from '../../../core/src/engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../../core/src/engine/fixtures/handovers.ts';
import { ADA, NOW, openingOf, result, started, submit } from '../../../core/src/engine/fixtures/walks.ts';
import { abstractionOf } from '../check/abstractWorkflow.ts';
import { DEFAULT_BOUNDS } from '../check/checkWorkflow.ts';
import { essenceOf, keyOf } from '../check/essence.ts';
import { explore } from '../check/explore.ts';
import { History } from './history.ts';
import { provesReachable } from './reachable.ts';

/** What happened to a run so far, after each act of a walk. */
type Seen = (run: Run, events: readonly RunEvent[]) => void;

test('a run can be migrated to its own workflow in other words wherever it is [adv.K6]', () => {
  alone((run, events) => {
    // Where a human led a run past a phase, no workflow has brought it there.
    if (run.phase === null || run.overrides !== undefined) return;
    expect(provesReachable(inOtherWords(run.workflow), run, events)).toMatchObject({ reachable: true });
  });
});

test('the same with agents that share parallel phases and are lost [adv.K6]', () => {
  shared((run, events) => {
    if (run.phase === null) return;
    expect(provesReachable(inOtherWords(run.workflow), run, events)).toMatchObject({ reachable: true });
  });
});

test('what is migrated is a state the new workflow can be in, however the two differ [adv.K6]', () => {
  let migrated = 0;
  let refused = 0;
  fc.assert(
    fc.property(small, small, anyActs, (workflow, other, acts) => {
      const { run, events } = lastOf(workflow, acts);
      const proof = provesReachable(other, run, events);
      const command = { kind: 'migrate', workflow: other, workflowHash: 'h2', trusted: true, proof } as const;
      const decision = decide(run, command, { principal: ADA, now: NOW, facts: {} });
      if (!decision.verdict.allowed) refused += 1;
      if (!decision.verdict.allowed) return;
      migrated += 1;
      expect(statesOf(other, run)).toContain(stateOf(other, decision.run, events));
      expect(fold(workflow, [...events, ...decision.events])).toEqual(decision.run);
    }),
    { numRuns: cases({ quick: 60, full: 1000 }) },
  );
  const few = cases({ quick: 0, full: 10 });
  expect(migrated).toBeGreaterThan(few);
  expect(refused).toBeGreaterThan(few);
});

/** Of which every state can be listed. */
const small = anyWorkflow.filter(({ phases }) => phases.length <= 3);

function inOtherWords(workflow: Workflow): Workflow {
  return { ...workflow, description: 'the same, said better' };
}

/** Every state of a workflow as the plain exploration finds them. */
function statesOf(workflow: Workflow, run: Run): readonly string[] {
  const { monitor } = new History(workflow, run);
  const { states } = explore(abstractionOf(workflow, DEFAULT_BOUNDS.params), monitor, { maxStates: 500_000 });
  return states.map((state) => `${state.run.phase} ${keyOf({ ...state.run, params: {} }, state.marks)}`);
}

function stateOf(workflow: Workflow, run: Run, events: readonly RunEvent[]): string {
  const going = run.status === 'queued' || (run.status === 'waiting' && run.wait.for === 'questions');
  // Work that came to nothing is what the exploration leaves out.
  const tried = { ...run, work: { ...run.work, attempts: 0 }, ...(going ? { status: 'active' } : {}) } as Run;
  const bare = essenceOf(tried, abstractionOf(workflow, DEFAULT_BOUNDS.params));
  return `${bare.phase} ${keyOf({ ...bare, params: {} }, new History(workflow, run).of(events))}`;
}

type Acts = typeof anyActs extends fc.Arbitrary<infer T> ? T : never;

function lastOf(workflow: Workflow, acts: Acts): { readonly run: Run; readonly events: readonly RunEvent[] } {
  let run = started(workflow);
  const events: RunEvent[] = [openingOf(run)];
  for (const act of acts) {
    let looked = 0;
    const answer = () => result(act.answers[looked++ % act.answers.length] as CheckResult['status']);
    const decision = submit(run, act.make(run), { principal: act.principal, answer, shown: 'seen' });
    events.push(...decision.events);
    run = decision.run;
  }
  return { run, events };
}

function alone(seen: Seen): void {
  fc.assert(
    fc.property(anyWorkflow, anyActs, (workflow, acts) => {
      for (let count = acts.length; count >= 0; count -= 5) {
        const { run, events } = lastOf(workflow, acts.slice(0, count));
        seen(run, events);
      }
    }),
    { numRuns: cases({ quick: 20, full: 1500 }) },
  );
}

function shared(seen: Seen): void {
  fc.assert(
    fc.property(anySharedWorkflow, anySharing, fc.integer({ min: 1, max: 4 }), (workflow, turns, count) => {
      const areas = ['a', 'b', 'c', 'd'].slice(0, count);
      let run = started(workflow, { areas });
      const events: RunEvent[] = [openingOf(run)];
      turns.forEach((turn, index) => {
        const decision = submit(run, turn.make(run), {
          principal: turn.principal(run),
          answer: () => result(turn.answer),
          shown: 'seen',
        });
        events.push(...decision.events);
        run = decision.run;
        if (index % 7 === 0) seen(run, events);
      });
    }),
    { numRuns: cases({ quick: 10, full: 750 }) },
  );
}
