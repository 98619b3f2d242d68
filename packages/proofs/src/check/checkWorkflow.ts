import type { Phase, Workflow } from '@phasegate/core/model';
import { abstractionOf } from './abstractWorkflow.ts';
import { approvalFindings } from './approvalFindings.ts';
import { claimsFindings } from './claimsFindings.ts';
import { explore, traceTo } from './explore.ts';
import { gateFindings } from './gateFindings.ts';
import { Monitor, watchedIn } from './monitor.ts';
import { pathFindings } from './pathFindings.ts';
import type { Bounds, CheckReport, Finding, Surroundings } from './report.ts';
import { workFindings } from './workFindings.ts';

/** How far is looked where nobody says. */
export const DEFAULT_BOUNDS: Bounds = { states: 200_000, params: 1000 };

/** How far to look, what is known of the surroundings, and who is told how far it has come. */
export interface CheckOptions {
  readonly bounds?: Partial<Bounds>;
  readonly around?: Surroundings;
  /** Called now and then with the number of states seen. */
  readonly progress?: ((states: number) => void) | undefined;
}

/**
 * Walks every state a workflow can be in with the engine itself, answering what depends on evidence every way, and
 * reports what cannot end, cannot be satisfied or can be bypassed, each with the shortest way there.
 */
export function checkWorkflow(
  workflow: Workflow,
  { bounds = {}, around = {}, progress }: CheckOptions = {},
): CheckReport {
  const limits = { ...DEFAULT_BOUNDS, ...bounds };
  const abstraction = abstractionOf(workflow, limits.params);
  const watched = watchedIn(workflow);
  const monitor = new Monitor(workflow, watched);
  const explored = explore(abstraction, monitor, { maxStates: limits.states, progress });
  const { states, transitions, complete } = explored;
  const firstIn = new Map<unknown, number>();
  states.forEach(({ run }, place) => {
    if (!firstIn.has(run.phase)) firstIn.set(run.phase, place);
  });
  const wayTo = ({ id }: Phase): readonly string[] => {
    const place = firstIn.get(id);
    return place === undefined ? [] : traceTo(states, place);
  };
  const findings: Finding[] = [
    ...pathFindings(workflow, explored, { monitor, watched }),
    ...gateFindings(workflow, wayTo),
    ...workFindings(workflow, wayTo, around),
    ...approvalFindings(workflow, wayTo),
    ...(complete ? [] : [boundReached(limits.states)]),
    ...abstraction.notes,
    ...claimsFindings(workflow, { whole: !lacksSource(workflow) }),
    ...(lacksSource(workflow) ? [SOURCE_NOT_READ] : []),
  ];
  return {
    workflow: workflow.id,
    clean: findings.every(({ severity }) => severity === 'note'),
    findings,
    states: states.length,
    transitions,
    bound: complete ? null : { kind: 'states', limit: limits.states },
    params: [...abstraction.tried],
  };
}

/** Whether it has templates for phases of a source, and none of those phases. */
function lacksSource({ templates, phases }: Workflow): boolean {
  return templates !== null && !phases.some(({ content }) => content?.kind === 'template');
}

const SOURCE_NOT_READ: Finding = {
  code: 'source_not_read',
  severity: 'note',
  message:
    'only the phases that are fixed were walked, as the others come from a source when a run starts: name the source as for `start`',
  phases: [],
  trace: [],
};

/** Not a note: what was not looked at is not proven. */
function boundReached(limit: number): Finding {
  const message = `looking ended after ${limit} state${limit === 1 ? '' : 's'}, so nothing is proven about the rest: raise the bound, let loops go back less often or give params fewer values`;
  return { code: 'bound_reached', severity: 'error', message, phases: [], trace: [] };
}
