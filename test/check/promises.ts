import type { PhaseId, Property, RunEvent, Workflow } from '@phasegate/core';

/** What a run has done with the promises of its workflow, read from the events of its whole life. */
export function brokenPromises(workflow: Workflow, events: readonly RunEvent[]): ReadonlySet<string> {
  const entered = new Set<string>();
  const passed = new Set<string>();
  const broken = new Set<string>();
  const promises = promisesOf(workflow);
  const enter = (name: string) => {
    for (const { name: promise, kind, of } of promises) {
      const places = of.flatMap((subject, place) => (nameOf(subject) === name ? [place] : []));
      const early = places.some(
        (place) => place > 0 && !passed.has(nameOf(of[place - 1] as Property['of'][number])),
      );
      if (kind === 'before' && early) broken.add(promise);
    }
    entered.add(name);
    for (const { name: promise, kind, of } of promises)
      if (kind === 'never' && of.every((subject) => entered.has(nameOf(subject)))) broken.add(promise);
  };
  let decided = false;
  for (const event of events) {
    if (event.type === 'run_started') enter(phaseName(event.phase));
    if (event.type === 'gate_opened') enter(`gate ${gateAt(workflow, event.phase)}`);
    if (event.type === 'gate_decided' && event.final) decided = true;
    if (event.type !== 'phase_completed') continue;
    if (event.outcome === 'ok') passed.add(phaseName(event.phase));
    if (decided && isOnward(workflow, event.phase, event.next))
      passed.add(`gate ${gateAt(workflow, event.phase)}`);
    decided = false;
    if (event.next !== null) {
      enter(phaseName(event.next));
      continue;
    }
    for (const { name, kind, of } of promises)
      if (kind === 'always' && !of.every((subject) => passed.has(nameOf(subject)))) broken.add(name);
  }
  return broken;
}

function promisesOf({ phases, properties = [] }: Workflow): readonly Property[] {
  const required = phases.flatMap(({ humanGate }) => (humanGate?.required ? [humanGate.id] : []));
  return [
    ...properties,
    ...required.map(
      (gate): Property => ({ name: `required ${gate}`, kind: 'always', of: [{ kind: 'gate', gate }] }),
    ),
  ];
}

function nameOf(subject: Property['of'][number]): string {
  return subject.kind === 'phase' ? phaseName(subject.phase) : `gate ${subject.gate}`;
}

function phaseName(phase: PhaseId): string {
  return `phase ${phase}`;
}

function gateAt({ phases }: Workflow, phase: PhaseId): string {
  return phases.find(({ id }) => id === phase)?.humanGate?.id ?? '';
}

function isOnward({ phases }: Workflow, from: PhaseId, to: PhaseId | null): boolean {
  const ids = phases.map(({ id }) => id);
  return to === null || ids.indexOf(to) > ids.indexOf(from);
}
