import { type PhaseId, phaseById, type Workflow } from '@phasegate/core/model';
import { isDivided } from './essence.ts';
import { type Explored, type State, traceTo } from './explore.ts';
import { type Monitor, nameOf, type Watched } from './monitor.ts';
import type { Finding } from './report.ts';

/** What the walked states show: phases never reached, states without a way to an end, promises that are broken. */
export function pathFindings(
  workflow: Workflow,
  explored: Explored,
  promises: { readonly monitor: Monitor; readonly watched: readonly Watched[] },
): readonly Finding[] {
  const findings = brokenPromises(explored, promises);
  // What was not seen may still be there, so nothing is said about it.
  if (!explored.complete) return findings;
  return [...findings, ...unreached(workflow, explored), ...stuck(workflow, explored)];
}

function brokenPromises(
  { states }: Explored,
  { monitor, watched }: { readonly monitor: Monitor; readonly watched: readonly Watched[] },
): readonly Finding[] {
  const seen = new Set<number>();
  return states.flatMap(({ marks, run }, place) =>
    monitor.brokenIn(marks).flatMap((index): Finding[] => {
      if (seen.has(index)) return [];
      seen.add(index);
      const promise = watched[index] as Watched;
      const trace = traceTo(states, place);
      const phases = promise.of.flatMap((subject) => (subject.kind === 'phase' ? [subject.phase] : []));
      if (promise.required !== undefined) {
        const { gate, phase } = promise.required;
        const message = `a run can reach the end without a human's yes at \`${gate}\` of phase \`${phase}\`: close that way, or write \`required: false\` on the gate`;
        return [{ code: 'required_gate_bypassed', severity: 'error', message, phases: [phase], trace }];
      }
      const message = `property \`${promise.name}\` does not hold: ${inWords(promise, run.phase)}`;
      const about = { kind: 'property' as const, name: promise.name };
      return [{ code: 'property_broken', severity: 'error', message, phases, about, trace }];
    }),
  );
}

function inWords({ kind, of }: Watched, phase: PhaseId | null): string {
  const names = of.map(nameOf);
  switch (kind) {
    case 'always':
      return `a run can reach the end without having passed ${names.join(' and ')}`;
    case 'never':
      return `a run can reach ${names.join(' and ')}`;
    case 'before':
      return `a run can get to \`${phase}\` out of the order ${names.join(', ')}`;
  }
}

function unreached(workflow: Workflow, { states }: Explored): readonly Finding[] {
  const reached = new Set(states.map(({ run }) => run.phase));
  return workflow.phases.flatMap(({ id }): Finding[] => {
    if (reached.has(id)) return [];
    const message = `no run ever gets to phase \`${id}\`: what leads there can never be true`;
    return [{ code: 'unreachable_phase', severity: 'error', message, phases: [id], trace: [] }];
  });
}

/** States from which no agent and no human can bring the run to an end its author wrote. */
function stuck(workflow: Workflow, { states }: Explored): readonly Finding[] {
  const before = waysBack(states);
  const alive = leadingTo(
    before,
    states.flatMap(({ run }, place) => (run.phase === null ? [place] : [])),
  );
  // Where every state can still end there is nothing to look for.
  if (alive.size === states.length) return [];
  const exhausted = states.map(
    ({ run }, place) =>
      !alive.has(place) && run.status === 'escalated' && run.escalation.reason === 'iterations',
  );
  const towards = leadingTo(
    before,
    exhausted.flatMap((is, place) => (is ? [place] : [])),
  );
  const leaving = leavingTheirPhase(states, before);
  const findings: Finding[] = [];
  const told = new Set<PhaseId>();
  states.forEach(({ run }, place) => {
    if (alive.has(place) || run.phase === null || told.has(run.phase)) return;
    const loop = exhausted[place] === true;
    if (!loop && (towards.has(place) || leaving.has(place))) return;
    told.add(run.phase);
    findings.push(
      loop
        ? exhaustedLoop(run.phase, traceTo(states, place))
        : isDivided(run)
          ? dividedGate(workflow, run.phase, traceTo(states, place))
          : deadEnd(workflow, run.phase, traceTo(states, place)),
    );
  });
  if (findings.length > 0) return findings;
  const first = states.findIndex(({ run }, place) => !alive.has(place) && run.phase !== null);
  if (first === -1) return [];
  return [endlessRound(states[first]?.run.phase as PhaseId, traceTo(states, first))];
}

/** States from which a run can get to another phase, even if only by way of others in its own. */
function leavingTheirPhase(
  states: readonly State[],
  before: readonly (readonly number[])[],
): ReadonlySet<number> {
  const phaseAt = (place: number) => states[place]?.run.phase;
  const within = before.map((places, place) => places.filter((one) => phaseAt(one) === phaseAt(place)));
  return leadingTo(
    within,
    states.flatMap(({ run, next }, place) => (next.some((one) => phaseAt(one) !== run.phase) ? [place] : [])),
  );
}

function endlessRound(phase: PhaseId, trace: readonly string[]): Finding {
  const message = `a run that gets to phase \`${phase}\` this way never ends: it is led round and round, whatever an agent submits and a human decides`;
  return { code: 'dead_end', severity: 'error', message, phases: [phase], trace };
}

function deadEnd(workflow: Workflow, phase: PhaseId, trace: readonly string[]): Finding {
  const name = phaseById(workflow, phase)?.id ?? phase;
  const message = `a run that gets to phase \`${name}\` this way cannot leave it: nothing an agent submits and nothing a human decides leads on`;
  return { code: 'dead_end', severity: 'error', message, phases: [phase], trace };
}

function dividedGate(workflow: Workflow, phase: PhaseId, trace: readonly string[]): Finding {
  const gate = phaseById(workflow, phase)?.humanGate;
  const message = `all who may decide at \`${gate?.id}\` of phase \`${phase}\` can have done so without ${gate?.quorum} of them agreeing, and nothing leads on then: give the gate a \`timeout\`, more \`approvers\` or a lower \`quorum\``;
  return { code: 'dead_end', severity: 'error', message, phases: [phase], trace };
}

function exhaustedLoop(phase: PhaseId, trace: readonly string[]): Finding {
  const message = `when the loop of phase \`${phase}\` is exhausted there is no way out, not even for a human who resumes it: give it \`onExhausted\`, or another way on`;
  return { code: 'exhausted_loop', severity: 'error', message, phases: [phase], trace };
}

/** The states each state can be reached from in one step. */
function waysBack(states: readonly State[]): readonly (readonly number[])[] {
  const before: number[][] = states.map(() => []);
  states.forEach(({ next }, place) => {
    for (const other of next) before[other]?.push(place);
  });
  return before;
}

function leadingTo(before: readonly (readonly number[])[], wanted: readonly number[]): ReadonlySet<number> {
  const open = [...wanted];
  const found = new Set(open);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const earlier of before[place] ?? []) {
      if (found.has(earlier)) continue;
      found.add(earlier);
      open.push(earlier);
    }
  }
  return found;
}
