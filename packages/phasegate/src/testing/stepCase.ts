import {
  canonicalJson,
  type Json,
  type JsonObject,
  type Phase,
  type Run,
  type Workflow,
} from '@phasegate/core';
import { type Domain, readDomain, type TestInput } from '@phasegate/sdk/testing';
import type { CatalogWorkflow, ContractTests, Driven } from '../runtime/ports.ts';
import { type Bed, type Beds, readTasks, TESTER } from './bed.ts';
import { blockersOf } from './contractRun.ts';

/** What cases are run with. */
export interface CaseParts {
  readonly beds: Beds;
  readonly found: CatalogWorkflow;
  readonly tests: ContractTests | null;
  readonly hash: (text: string) => string;
  /** Drives a run whose step is a command, with the command in a process of its own. */
  drive(bed: Bed, run: string, found: CatalogWorkflow, log: (line: string) => void): Promise<Driven>;
}

/** How a case ended: null where it passed. */
export type CaseEnd = { readonly skipped: boolean; readonly message: string } | null;

/**
 * Invokes one step with the params of a case, on the real runtime: its text is made, its handler or command does its
 * work, and its outcome must be one its `next` knows. What stands around a step is for contract tests.
 */
export async function runCase(parts: CaseParts, input: TestInput): Promise<CaseEnd> {
  const { beds, found, tests } = parts;
  const phase = found.workflow.phases.find(({ id }) => id === input.step) as Phase;
  const skipped = tests?.skip[String(phase.id)] ?? (phase.parallel === null ? null : PARALLEL);
  if (skipped !== null) return { skipped: true, message: skipped };
  const alone = aloneIn(found, phase, parts.hash);
  const bed = await beds.make(alone, { real: false });
  try {
    const wrong = await invoke(parts, bed, { alone, phase, input });
    return wrong === null ? null : { skipped: false, message: wrong };
  } finally {
    await bed.close();
  }
}

const PARALLEL = 'it is done once per item, and the items come from another step';

interface Invoked {
  readonly alone: CatalogWorkflow;
  readonly phase: Phase;
  readonly input: TestInput;
}

async function invoke(parts: CaseParts, bed: Bed, { alone, phase, input }: Invoked): Promise<string | null> {
  const { workflow } = alone;
  const params = paramsFor(workflow, input.params, parts.tests);
  const started = await bed.open
    .as(TESTER)
    .start({ workflow: workflow.id, params, target: parts.tests?.target ?? null });
  if (started.view === null) return refusalText(started.verdict);
  const id = started.view.run;
  await arrange(bed, id, { phase, parts, iteration: input.params.iteration });
  if (phase.work.kind === 'handler') {
    await readTasks(bed, id);
    const { verdict } = await bed.open
      .as(TESTER)
      .submit(id, { kind: 'complete', phase: phase.id, evidence: {} });
    return verdict.allowed ? null : refusalText(verdict);
  }
  if (phase.work.kind === 'command') {
    const lines: string[] = [];
    const driven = await parts.drive(bed, id, alone, (line) => void lines.push(line));
    return driven.outcome === 'completed' ? null : [driven.message, ...lines.slice(-5)].join('\n');
  }
  const view = await bed.open.as(TESTER).view(id);
  return view.current_phase?.phase_content ? null : `phase \`${phase.id}\` has nothing to say to its agent`;
}

/** Puts the run where the case is about: after the steps before it, in its iteration. */
async function arrange(
  { store }: Bed,
  runId: string,
  {
    phase,
    parts,
    iteration,
  }: { readonly phase: Phase; readonly parts: CaseParts; readonly iteration: Json | undefined },
): Promise<void> {
  const stored = await store.load(runId);
  if (stored === undefined) return;
  const { run, version } = stored;
  const times = typeof iteration === 'number' ? iteration : 1;
  const order = parts.found.workflow.phases;
  const completions = order
    .slice(
      0,
      order.findIndex(({ id }) => id === phase.id),
    )
    .flatMap(({ id }) => {
      const evidence = parts.tests?.evidence[String(id)];
      return evidence === undefined
        ? []
        : [{ phase: id, visit: 1, at: run.startedAt, by: TESTER.name, outcome: 'ok' as const, evidence }];
    });
  if (times === 1 && completions.length === 0) return;
  const placed: Run = {
    ...run,
    completions,
    visits: { [String(phase.id)]: times },
    iterations: times === 1 ? {} : { [String(phase.id)]: times - 1 },
  };
  await store.save(placed, version, []);
}

/** The workflow with this step as its beginning and its end. */
function aloneIn(found: CatalogWorkflow, phase: Phase, hash: CaseParts['hash']): CatalogWorkflow {
  const only: Phase = {
    ...phase,
    preconditions: phase.preconditions.filter(({ id }) => id.startsWith(`${phase.id}/only_when/`)),
    postconditions: [],
    blockers: [],
    evidence: { fields: [], artifacts: [] },
    humanGate: null,
    next: endOf(phase.next),
  };
  const phases = found.workflow.phases.map((other) => (other.id === phase.id ? only : other));
  const workflow: Workflow = { ...found.workflow, entry: phase.id, phases };
  return { ...found, workflow, hash: hash(canonicalJson(workflow as unknown as Json)) };
}

function endOf(next: Phase['next']): Phase['next'] {
  if (next.kind !== 'outcomes') return { kind: 'to', target: null };
  const map = Object.fromEntries(Object.keys(next.map).map((outcome) => [outcome, null]));
  const otherwise = 'otherwise' in next ? { otherwise: null } : {};
  return { kind: 'outcomes', map, maxIterations: null, ...otherwise };
}

/** The params of the case that the workflow has, and for those it must have beside them the first value there is. */
function paramsFor(workflow: Workflow, given: JsonObject, tests: ContractTests | null): JsonObject {
  const entries = Object.entries(workflow.params).flatMap(([name, param]): [string, Json][] => {
    if (Object.hasOwn(given, name)) return [[name, given[name] as Json]];
    if (!param.required || param.default !== undefined) return [];
    const domain = testDomains(tests)[name];
    const [first] = domain ?? [];
    return first === undefined ? [] : [[name, first]];
  });
  return Object.fromEntries(entries);
}

/** The domains a file of contract tests gives: those it names, and one value for each param it sets. */
export function testDomains(tests: ContractTests | null): Readonly<Record<string, Domain>> {
  const set = Object.entries(tests?.params ?? {}).map(([name, constant]) => [name, { constant }] as const);
  const named = Object.entries(tests?.domains ?? {});
  return Object.fromEntries(
    [...set, ...named].flatMap(([name, draft]) => {
      const domain = readDomain(draft);
      return domain === null ? [] : [[name, domain]];
    }),
  );
}

function refusalText(verdict: Parameters<typeof blockersOf>[0]): string {
  return blockersOf(verdict)
    .map(({ code, message }) => `${code}: ${message}`)
    .join('; ');
}
