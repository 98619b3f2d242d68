import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { okTargets } from '../model/approval.ts';
import { DEFAULT_VISITS } from '../model/compile/checkGraph.ts';
import { edgesOf, leadsBack, successorsOf } from '../model/edges.ts';
import { type Phase, phaseById, type Workflow } from '../model/workflow.ts';
import type { Look } from './command.ts';
import type { Decision } from './decide.ts';
import type { RunEvent } from './events.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { type Act, anyActs, anyWorkflow } from './fixtures/arbitraries.ts';
import { AGENT, complete, openingOf, result, started, submit } from './fixtures/walks.ts';
import { fold } from './fold.ts';
import type { CheckResult, Run } from './run.ts';
import { approvedValues } from './values.ts';
import { phaseAnswer, viewFor } from './viewFor.ts';

const RUNS = { numRuns: cases({ quick: 200, full: 7500 }) };

describe('for any workflow and any sequence of commands', () => {
  test('no phase is entered without its checks having passed in that run [S0.2 S0.67 S0.72 S2.66 adv.K3]', () => {
    walk(({ before, decision, looked }) => {
      for (const event of decision.events) {
        if (event.type === 'gate_opened') expectPassed(before, event.phase, looked);
        if (event.type !== 'phase_completed' || event.outcome === 'overridden') continue;
        if (event.outcome !== 'fail' && before.status === 'active') expectPassed(before, event.phase, looked);
        const target = phaseById(before.workflow, event.next);
        for (const check of target?.preconditions ?? [])
          expect(looked.get(`enter:${check.id}`)).toBe('passed');
      }
    });
  });

  test('the stored run is the fold of its events [S0.50 S3.6]', () => {
    walk(({ workflow, events, decision }) => {
      expect(fold(workflow, events)).toEqual(decision.run);
    });
  });

  test('nothing an agent is told contains text of a phase it has not reached [S0.1 S0.15 S0.67]', () => {
    walk(({ workflow, before, decision, act }) => {
      const reached = new Set([
        decision.run.phase,
        ...decision.run.completions.map((completion) => completion.phase),
      ]);
      const told = [
        viewFor(decision.run, AGENT),
        answerFor(before, act.make(before), decision),
        ...workflow.phases.map((phase) => phaseAnswer(decision.run, phase.id)),
        decision.verdict,
      ];
      for (const phase of workflow.phases) {
        if (!reached.has(phase.id)) expect(JSON.stringify(told)).not.toContain(`SECRET-OF-${phase.id}`);
      }
    });
  });

  test('a check that failed, threw or timed out is never followed by a pass [C19 adv.H5]', () => {
    walk(({ decision, looked, act, before }) => {
      // What a human overrides is not passed, which has a property of its own.
      if (act.make(before).kind === 'override') return;
      const bad = [...looked.values()].some((status) => status !== 'passed');
      if (bad) expect(decision.events.map((event) => event.type)).not.toContain('phase_completed');
      if (bad) expect(decision.verdict.allowed).toBe(false);
    });
  });

  test('an agent never decides, answers, resumes, stops or overrides [C18 adv.H1 adv.J1]', () => {
    walk(({ decision, act }) => {
      if (act.principal.kind !== 'agent') return;
      const types = decision.events.map((event) => event.type);
      for (const type of [
        'gate_decided',
        'question_answered',
        'run_resumed',
        'run_stopped',
        'phase_overridden',
      ])
        expect(types).not.toContain(type);
    });
  });

  test('an override passes, approves and hands over nothing, goes one way of its phase, and stays on record [adv.J1]', () => {
    let times = 0;
    walk(({ before, decision, act }) => {
      const broken = decision.events.filter((event) => event.type === 'phase_overridden').length;
      const left = decision.events.filter(
        (event) => event.type === 'phase_completed' && event.outcome === 'overridden',
      );
      expect(left).toHaveLength(broken);
      const { overrides = [], state } = decision.run;
      expect(overrides.slice(0, before.overrides?.length ?? 0)).toEqual(before.overrides ?? []);
      expect(overrides).toHaveLength((before.overrides?.length ?? 0) + broken);
      if (broken === 0) return;
      times += 1;
      const command = act.make(before);
      if (command.kind !== 'override') throw new Error('something else overrode a phase');
      expect([act.principal.kind, broken]).toEqual(['human', 1]);
      expect([command.phase, command.epoch]).toEqual([before.phase, before.epoch]);
      const phase = phaseById(before.workflow, before.phase) as Phase;
      expect([...successorsOf(before.workflow, phase.id), ...okTargets(phase)]).toContain(command.to);
      // To stop a run is a human's right, and no way to complete it.
      const routes = edgesOf(phase).filter(({ by }) => by !== 'option');
      if (command.to === null) expect([...routes.map(({ to }) => to), ...okTargets(phase)]).toContain(null);
      expect(left[0]).toMatchObject({ phase: before.phase, next: command.to, evidence: {} });
      expect(state).toEqual(before.state);
      expect(approvedValues(decision.run)).toEqual(approvedValues(before));
      expect(decision.run.completions.at(-1)).toMatchObject({ phase: before.phase, outcome: 'overridden' });
    });
    expect(times).toBeGreaterThan(0);
  });

  test('a phase behind a human gate is left only by a human [adv.H4 adv.J10]', () => {
    walk(({ before, decision, act }) => {
      const left = decision.events.find((event) => event.type === 'phase_completed');
      if (left?.type !== 'phase_completed' || left.outcome === 'fail') return;
      if (phaseById(before.workflow, left.phase)?.humanGate != null) expect(act.principal.kind).toBe('human');
    });
  });

  test('a refusal always says why and what is the one legal thing to do next [S0.71 adv.L6]', () => {
    walk(({ decision }) => {
      if (decision.verdict.allowed) return;
      for (const blocker of decision.verdict.blockers) {
        expect(blocker.code).toMatch(/^[a-z_]+$/);
        expect(blocker.message.length).toBeGreaterThan(5);
        expect(blocker.nextAction.text.length).toBeGreaterThan(3);
      }
    });
  });

  test('the epoch rises with every transition, claim and release, and with nothing else [C8]', () => {
    const raising = ['phase_completed', 'run_claimed', 'run_released'];
    walk(({ before, decision }) => {
      const raised = decision.events.filter((event) => raising.includes(event.type)).length;
      expect(decision.run.epoch).toBe(before.epoch + raised);
    });
  });

  test('every loop ends within its bound [S3.11 C11]', () => {
    fc.assert(
      fc.property(anyWorkflow, fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (workflow, flags) => {
        const bound = walkBound(workflow);
        let run = started(workflow);
        let steps = 0;
        for (; run.status === 'active' && steps <= bound; steps++) {
          const phase = phaseById(workflow, run.phase) as Phase;
          if (phase.tasks.length > 0) run = submit(run, { kind: 'fetch_task', phase: phase.id, task: 1 }).run;
          const back =
            phase.next.kind === 'outcomes' &&
            phase.next.map.iterate !== undefined &&
            flags[steps % flags.length];
          const evidence = { proof: 'seen', flag: flags[steps % flags.length] as boolean };
          run = submit(run, complete(run, evidence, back ? { outcome: 'iterate' } : {})).run;
        }

        expect(run.status).not.toBe('active');
        expectBounded(run);
      }),
      RUNS,
    );
  });
});

interface Step {
  readonly workflow: Workflow;
  readonly before: Run;
  readonly decision: Decision;
  readonly act: Act;
  /** What was looked at for this decision, and what was found. */
  readonly looked: ReadonlyMap<string, CheckResult['status']>;
  /** All events of the run so far. */
  readonly events: readonly RunEvent[];
}

function walk(check: (step: Step) => void): void {
  fc.assert(
    fc.property(anyWorkflow, anyActs, (workflow, acts) => {
      let run = started(workflow);
      const events: RunEvent[] = [openingOf(run)];
      for (const act of acts) {
        const looked = new Map<string, CheckResult['status']>();
        const answer = (look: Look) => {
          const status = act.answers[looked.size % act.answers.length] as CheckResult['status'];
          looked.set(look.id, status);
          return result(status);
        };
        const decision = submit(run, act.make(run), { principal: act.principal, answer, shown: 'seen' });
        events.push(...decision.events);
        check({ workflow, before: run, decision, act, looked, events });
        run = decision.run;
      }
    }),
    RUNS,
  );
}

function expectPassed(before: Run, id: string | number, looked: ReadonlyMap<string, string>): void {
  const phase = phaseById(before.workflow, id) as Phase;
  for (const check of [...phase.postconditions, ...phase.blockers])
    expect(looked.get(`leave:${check.id}`)).toBe('passed');
}

/** Ways back are counted for good, so a walk has at most this many steps. */
function walkBound(workflow: Workflow): number {
  const backs = workflow.phases.map(
    (phase) => (phase.next.kind === 'to' ? 0 : (phase.next.maxIterations ?? 0)) + DEFAULT_VISITS,
  );
  return (backs.reduce((sum, one) => sum + one, 0) + 1) * workflow.phases.length;
}

function expectBounded(run: Run): void {
  for (const phase of run.workflow.phases) {
    if (phase.next.kind === 'to') continue;
    const taken = run.iterations[String(phase.id)] ?? 0;
    if (phase.next.maxIterations !== null) expect(taken).toBeLessThanOrEqual(phase.next.maxIterations);
    else
      expect(taken).toBeLessThanOrEqual(
        DEFAULT_VISITS * run.workflow.phases.filter((to) => leadsBack(run.workflow, phase.id, to.id)).length,
      );
  }
}
