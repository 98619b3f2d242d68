import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { reclaimsOf, type Workflow } from '../model/workflow.ts';
import { apply, begin } from './apply.ts';
import type { Command } from './command.ts';
import type { Decision } from './decide.ts';
import type { RunEvent } from './events.ts';
import { AGENTS, anySharedWorkflow, anySharing, KEYS } from './fixtures/handovers.ts';
import { openingOf, result, started, submit } from './fixtures/walks.ts';
import { fold } from './fold.ts';
import { holds, holdsAnItem } from './holding.ts';
import { standOf } from './itemStand.ts';
import type { Item, Principal, Run } from './run.ts';

const RUNS = { numRuns: cases({ quick: 60, full: 1500 }) };

describe('for agents that share a run in any order, and are lost at any time', () => {
  test('what is held has one holder, and a run that nobody works on is queued [C8]', () => {
    walk(({ before, decision, by, command }) => {
      const { run } = decision;
      const held = itemsOf(run).filter((item) => item.holder !== undefined);
      if (run.status === 'queued') expect([run.holder, held]).toEqual([null, []]);
      if (run.status === 'active') expect(run.holder !== null || held.length > 0).toBe(true);
      expect(held.every((item) => item.status === 'pending')).toBe(true);
      if (command.kind !== 'claim' || !decision.verdict.allowed) return;
      // Nothing is handed out that another has.
      expect(by.kind).toBe('agent');
      if (command.item === undefined) expect(before).toMatchObject({ status: 'queued', holder: null });
      else expect(before.work.items?.[command.item]?.holder).toBeUndefined();
      expect(holds(run, by.name, command.item)).toBe(true);
    });
  });

  test('the epoch rises with each claim of a run, transition and release that leaves nobody at work, never with an item [C8]', () => {
    const raising = ['phase_completed', 'run_claimed', 'run_released'];
    walk(({ before, decision }) => {
      const raised = decision.events.filter(
        (event) =>
          raising.includes(event.type) && !(event.type === 'run_released' && event.keepsEpoch === true),
      ).length;
      expect(decision.run.epoch).toBe(before.epoch + raised);
    });
  });

  test('a released run stands where it stood: nothing done is lost and no attempt is forgiven [S2.92 C15]', () => {
    walk(({ before, decision, command }) => {
      if (command.kind !== 'release' || !decision.verdict.allowed) return;
      const { run } = decision;
      for (const key of ['phase', 'completions', 'state', 'visits', 'iterations', 'decisions'] as const)
        expect(run[key]).toEqual(before[key]);
      for (const key of ['attempts', 'failure', 'refusal', 'note', 'answers', 'enteredAt'] as const)
        expect(run.work[key]).toEqual(before.work[key]);
      const done = (from: Run) => itemsOf(from).map(({ evidence, attempts }) => ({ evidence, attempts }));
      expect(done(run)).toEqual(done(before));
    });
  });

  test('a lost agent is replaced as often as the workflow allows, then a human must act [C15]', () => {
    walk(({ workflow, decision: { run } }) => {
      const most = reclaimsOf(workflow);
      const crashes = run.work.crashes ?? 0;
      expect(crashes).toBeLessThanOrEqual(most + 1);
      if (crashes > most) expect(['escalated', 'stopped']).toContain(run.status);
      for (const item of itemsOf(run)) {
        expect(item.crashes ?? 0).toBeLessThanOrEqual(most + 1);
        if ((item.crashes ?? 0) > most) expect(item.status).toBe('failed');
      }
    });
  });

  test('the stored run is the fold of its events [S0.50 S3.6]', () => {
    walk(({ workflow, events, decision }) => {
      expect(fold(workflow, events)).toEqual(decision.run);
    });
  });

  test('a fold is what applying one event after another makes, to the character, and changes no event', () => {
    walk(({ workflow, events }) => {
      const before = JSON.stringify(events);
      const [first, ...rest] = events;
      const applied = rest.reduce(
        apply,
        begin(workflow, first as Extract<RunEvent, { type: 'run_started' }>),
      );
      const folded = fold(workflow, events);
      expect(JSON.stringify(folded)).toBe(JSON.stringify(applied));
      expect(standOf(folded.work.items)).toEqual(standOf(applied.work.items));
      expect(JSON.stringify(events)).toBe(before);
    });
  });

  test("no agent reaches what is a human's or the engine's by claiming or giving back [C18 adv.H1 adv.J1]", () => {
    walk(({ decision, by }) => {
      if (by.kind !== 'agent') return;
      for (const event of decision.events) {
        expect(['gate_decided', 'question_answered', 'run_resumed', 'run_stopped']).not.toContain(event.type);
        if (event.type === 'run_released' || event.type === 'item_released')
          expect(event).toMatchObject({ cause: 'given_back', holder: by.name });
        if (event.type === 'run_claimed' || event.type === 'item_claimed') expect(event.holder).toBe(by.name);
      }
    });
  });

  test('an agent that holds nothing can change nothing but by a claim [C8]', () => {
    walk(({ decision: { run, events } }) => {
      for (const principal of events.length === 0 ? [] : AGENTS) {
        // Anyone who held a run to its end may read it again.
        if (run.holder === principal.name || holdsAnItem(run, principal.name)) continue;
        for (const command of worksOn(run, undefined)) {
          const tried = submit(run, command, { principal });
          expect([tried.verdict.allowed, tried.events]).toEqual([false, []]);
        }
      }
    });
  });

  test('the holder of an item can do nothing that the holder of the run could not [adv.D6]', () => {
    walk(({ decision: { run } }) => {
      for (const principal of AGENTS) {
        if (holds(run, principal.name) || !holdsAnItem(run, principal.name)) continue;
        const instead: Run = { ...run, holder: principal.name };
        const commands = [undefined, ...KEYS].flatMap((item) => worksOn(run, item));
        for (const command of commands) expectNoMore(run, instead, { command, principal });
      }
    });
  });
});

interface Step {
  readonly workflow: Workflow;
  readonly before: Run;
  readonly decision: Decision;
  readonly by: Principal;
  readonly command: Command;
  readonly events: readonly RunEvent[];
}

function walk(check: (step: Step) => void): void {
  fc.assert(
    fc.property(anySharedWorkflow, anySharing, (workflow, turns) => {
      let run = started(workflow, { areas: KEYS }, { queued: true });
      const events: RunEvent[] = [openingOf(run)];
      for (const turn of turns) {
        const [command, by] = [turn.make(run), turn.principal(run)];
        const answer = () => result(turn.answer);
        const decision = submit(run, command, { principal: by, answer, shown: 'seen' });
        events.push(...decision.events);
        check({ workflow, before: run, decision, by, command, events });
        run = decision.run;
      }
    }),
    RUNS,
  );
}

/** Everything an agent at work can do, about one item or the whole. */
function worksOn(run: Run, item: string | undefined): readonly Command[] {
  const phase = run.phase ?? 1;
  const about = item === undefined ? {} : { item };
  return [
    { kind: 'complete', phase, evidence: {}, ...about },
    { kind: 'complete', phase, evidence: {}, outcome: 'fail', reason: 'broken', ...about },
    { kind: 'fetch_task', phase, task: 1 },
    { kind: 'ask', questions: [{ text: 'Which?', options: ['a', 'b'] }] },
    { kind: 'report_blocked', reason: 'stuck' },
  ];
}

function expectNoMore(
  run: Run,
  instead: Run,
  { command, principal }: { readonly command: Command; readonly principal: Principal },
): void {
  const mine = submit(run, command, { principal });
  if (!mine.verdict.allowed) return;
  const theirs = submit(instead, command, { principal });
  expect(theirs.verdict.allowed).toBe(true);
  const types = (decision: Decision) => decision.events.map((event) => event.type);
  expect(types(mine).filter((type) => type !== 'run_claimed')).toEqual(types(theirs));
}

function itemsOf(run: Run): readonly Item[] {
  return Object.values(run.work.items ?? {});
}
