import type { CheckResult, Facts, Run, RunEvent } from '@phasegate/core/engine';
import { apply, judgeTool, rulesAgainst } from '@phasegate/core/engine';
import {
  type Check,
  EVIDENCE_CLASSES,
  type Json,
  own,
  type Phase,
  type PhaseId,
  phaseById,
  type Workflow,
} from '@phasegate/core/model';
import { type ChainRecord, type RecordedStep, recordedSteps } from '../replay/recordedSteps.ts';
import { type CheckPlace, checkId, checksOf, coverableId, ruleId, wayId } from './coverables.ts';
import { stoppingWay, wayTaken } from './coverageWays.ts';

/** What a run's chain shows. */
export interface CoverageHits {
  /** Ids, each as often as it was shown. */
  readonly hits: readonly string[];
  /** The workflows it was shown of: more than one where the run was migrated; none where no version was wanted. */
  readonly workflows: ReadonlySet<Workflow>;
}

/** What a run's chain shows while it had a wanted version of its workflow. `startedWith` is its first one. */
export function coverageHits(
  startedWith: Workflow,
  records: readonly ChainRecord[],
  wanted: (workflowHash: string) => boolean = () => true,
): CoverageHits {
  const places = new Map<Workflow, Places>();
  const hits = recordedSteps(startedWith, records).flatMap((step) => {
    const { workflow, workflowHash } = step.before ?? step.after;
    if (!wanted(workflowHash)) return [];
    const checks = places.get(workflow) ?? placesOf(workflow);
    places.set(workflow, checks);
    return hitsOfStep(checks, step);
  });
  return { hits, workflows: new Set(places.keys()) };
}

/** The precondition of the first phase that kept a run from being made, from the blockers of its refused start. */
export function refusedStartHits(workflow: Workflow, blockers: Json | undefined): readonly string[] {
  const entry = phaseById(workflow, workflow.entry);
  return entry === undefined ? [] : refusedPreconditions(entry, blockers);
}

type Places = ReadonlyMap<
  string,
  { readonly check: Check; readonly place: CheckPlace; readonly phase: PhaseId }
>;

function placesOf({ phases }: Workflow): Places {
  const places = phases.flatMap((phase) =>
    checksOf(phase).map(({ check, place }) => [check.id, { check, place, phase: phase.id }] as const),
  );
  return new Map(places);
}

function hitsOfStep(checks: Places, step: RecordedStep): readonly string[] {
  if (step.kind === 'tool') return ruleHits(step);
  const facts = step.kind === 'unrecorded' ? {} : step.facts;
  return [...checkHits(checks, facts), ...eventHits(step, facts)];
}

function ruleHits({ before: run, use, code }: Extract<RecordedStep, { kind: 'tool' }>): readonly string[] {
  if (run === null || run.phase === null) return [];
  const { phase } = run;
  const verdict = judgeTool(run, use);
  // Another answer then: the input was too long to keep, or who asked did not hold the run.
  if (verdict.allowed || verdict.blockers[0].code !== code) return [];
  return rulesAgainst(run, use).map((rule) => ruleId(phase, rule));
}

function checkHits(checks: Places, facts: Facts): readonly string[] {
  return Object.entries(facts).flatMap(([look, fact]) => {
    // A look at a check is its stage, a colon and the check's id.
    const found = checks.get(look.slice(look.indexOf(':') + 1));
    if (found === undefined || fact.kind !== 'check') return [];
    const side = holds(found.check, fact.result) ? 'held' : 'refused';
    return [checkId(found.phase, found.place, side, found.check)];
  });
}

/** As the engine judges it: anything but `passed`, and an answer of too weak a class, refuses. */
function holds({ needs }: Check, { status, class: given }: CheckResult): boolean {
  return status === 'passed' && EVIDENCE_CLASSES.indexOf(given) >= EVIDENCE_CLASSES.indexOf(needs);
}

function eventHits(step: Exclude<RecordedStep, { kind: 'tool' }>, facts: Facts): readonly string[] {
  const hits: string[] = [];
  let run: Run | null = step.before;
  let option: string | null = null;
  for (const event of step.events) {
    if (event.type === 'gate_decided' && event.final) option = event.decision.option;
    hits.push(...hitsOfEvent(run, event, { option, facts }));
    run = run === null ? step.after : apply(run, event);
  }
  return hits;
}

function hitsOfEvent(
  run: Run | null,
  event: RunEvent,
  by: { readonly option: string | null; readonly facts: Facts },
): readonly string[] {
  if (event.type === 'run_started') return [coverableId('phase_entered', event.phase)];
  if (run === null || run.phase === null) return [];
  switch (event.type) {
    case 'gate_opened':
      return [coverableId('gate_opened', event.phase)];
    case 'gate_decided': {
      const chosen = coverableId('option', run.phase, event.decision.option);
      return event.final ? [chosen, coverableId('gate_decided', run.phase)] : [chosen];
    }
    case 'run_stopped': {
      const way = by.option === null ? null : stoppingWay(run, by.option);
      return way === null ? [] : [wayId(way)];
    }
    case 'phase_completed': {
      const way = wayTaken(run, event, by);
      return [
        coverableId('phase_completed', event.phase),
        ...(way === null ? [] : [wayId(way)]),
        ...(event.next === null ? [] : [coverableId('phase_entered', event.next)]),
      ];
    }
    default:
      return [];
  }
}

/** Such a blocker is only words: it counts where one precondition alone can have said them. */
function refusedPreconditions({ id, preconditions }: Phase, blockers: Json | undefined): readonly string[] {
  if (!Array.isArray(blockers)) return [];
  return blockers.flatMap((blocker: Json) => {
    const message = own(blocker, 'message');
    if (own(blocker, 'code') !== 'precondition_failed' || typeof message !== 'string') return [];
    const said = preconditions.filter(
      (check) => message === check.message || message.startsWith(`${check.message} (`),
    );
    return said.length === 1 ? said.map((check) => checkId(id, 'precondition', 'refused', check)) : [];
  });
}
