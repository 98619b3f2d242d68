import { decideStart, type Json, PhasegateError, phaseById, type Workflow } from '@phasegate/core';
import { successorsOf } from '@phasegate/core/model';
import { type Domain, extractSchema, MOST_CASES } from '@phasegate/sdk/testing';

/** A test that needs nothing but the workflow: a name, and what is wrong or null. */
export interface PlainTest {
  readonly name: string;
  run(): string | null;
}

/** That the graph of a loaded workflow is whole. */
export function structureTests(workflow: Workflow): readonly PlainTest[] {
  const { phases, entry } = workflow;
  const reached = reachable(workflow);
  return [
    {
      name: 'the entry is a step',
      run: () => (phaseById(workflow, entry) === undefined ? `there is no step \`${entry}\`` : null),
    },
    {
      name: 'some step leads to the end',
      run: () =>
        phases.some((phase) => successorsOf(workflow, phase.id).includes(null))
          ? null
          : 'no step leads to the end',
    },
    ...phases.flatMap((phase): PlainTest[] => [
      {
        name: `step ${phase.id} leads to steps and ends only`,
        run: () => {
          const lost = successorsOf(workflow, phase.id).find(
            (to) => to !== null && phaseById(workflow, to) === undefined,
          );
          return lost === undefined ? null : `it leads to \`${lost}\`, which is not a step`;
        },
      },
      {
        name: `step ${phase.id} can be reached`,
        run: () => (reached.has(phase.id) ? null : 'no way leads there'),
      },
    ]),
  ];
}

/** That every value of every domain is taken by a run, once. */
export function domainTests(
  workflow: Workflow,
  domains: Readonly<Record<string, Domain>>,
  { sampled, file }: { readonly sampled: readonly string[]; readonly file: string },
): readonly PlainTest[] {
  const told = (name: string) =>
    sampled.includes(name) ? ` (samples of ours; name your own under \`domains\` in \`${file}\`)` : '';
  let known: Readonly<Record<string, Domain>> = domains;
  try {
    known = Object.fromEntries(
      Object.values(extractSchema(workflow, { domains })).flatMap(Object.entries<Domain>),
    );
  } catch (error) {
    // What has no end is reported by the cases; the domains that were named are looked at all the same.
    if (!(error instanceof PhasegateError)) throw error;
  }
  return Object.entries(known)
    .filter(([name]) => Object.hasOwn(workflow.params, name))
    .map(([name, domain]) => ({
      name: `param ${name}${told(name)}`,
      run: () => {
        const seen = new Set<string>();
        for (const value of domain) {
          const text = JSON.stringify(value);
          if (seen.has(text)) return `\`${text}\` is in it twice`;
          if (seen.add(text).size > MOST_CASES) return null;
          const problem = refused(workflow, name, value);
          if (problem !== null) return problem;
        }
        return null;
      },
    }));
}

function refused(workflow: Workflow, name: string, value: Json): string | null {
  const { verdict } = decideStart(
    {
      id: 'domain',
      workflow,
      workflowHash: '',
      target: null,
      params: { [name]: value },
      ring: workflow.enforcement.ring,
      trusted: false,
      queued: false,
    },
    { principal: { kind: 'human', name: 'tester' }, now: '2000-01-01T00:00:00.000Z', facts: {} },
  );
  if (verdict.allowed) return null;
  const about = verdict.blockers.find(
    ({ code, message }) => code === 'param_invalid' && message.startsWith(`param \`${name}\` must`),
  );
  return about?.message ?? null;
}

function reachable(workflow: Workflow): ReadonlySet<unknown> {
  const reached = new Set<unknown>([workflow.entry]);
  const open = [workflow.entry];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const to of successorsOf(workflow, id)) {
      if (to === null || reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}
