import {
  canonicalJson,
  type Json,
  type JsonObject,
  type Phase,
  type Run,
  type Target,
  type Workflow,
} from '@phasegate/core';
import { workerOf } from '@phasegate/core/model';
import { type Domain, readDomain, type TestInput } from '@phasegate/sdk/testing';
import type { CatalogWorkflow, ContractTests, Driven } from '../runtime/ports.ts';
import { type Bed, type Beds, readTasks, startOn, TESTER } from './bed.ts';
import { blockersOf } from './contractRun.ts';
import { withValueAt } from './jsonPath.ts';
import { type Placed, placeRun } from './placeRun.ts';
import { type WayOut, waysOut } from './waysOut.ts';

/** What cases are run with. */
export interface CaseParts {
  readonly beds: Beds;
  readonly found: CatalogWorkflow;
  readonly tests: ContractTests | null;
  readonly hash: (text: string) => string;
  /** Drives a run whose step is a command, with the command in a process of its own, until it is refused once. */
  drive(bed: Bed, run: string, found: CatalogWorkflow): Promise<DrivenCase>;
}

/** How driving a case ended, and what its command printed. */
export interface DrivenCase extends Driven {
  readonly printed: readonly string[];
}

/** How a case ended: null where it passed. */
export type CaseEnd = { readonly skipped: boolean; readonly message: string } | null;

/**
 * Completes one step with the params of a case, on the real runtime: its text is made, its handler or command does its
 * work or an agent hands in evidence, and the run must go on by each way there is. What checks and humans say of it is
 * for contract tests.
 */
export async function runCase(parts: CaseParts, input: TestInput): Promise<CaseEnd> {
  const { found, tests } = parts;
  const phase = found.workflow.phases.find(({ id }) => id === input.step) as Phase;
  const skipped = tests?.skip[String(phase.id)];
  if (skipped !== undefined) return { skipped: true, message: skipped };
  const playing = { alone: aloneIn(found, phase, parts.hash), phase, input };
  const first = await onBed(parts, playing, null);
  if (first.end !== null) return first.end;
  for (const way of first.ways.slice(1)) {
    const { end } = await onBed(parts, playing, way);
    if (end !== null) return end;
  }
  return null;
}

interface Playing {
  /** The workflow with this step as its beginning. */
  readonly alone: CatalogWorkflow;
  readonly phase: Phase;
  readonly input: TestInput;
}

interface Played {
  readonly end: CaseEnd;
  /** All the ways there are, the first of which is taken where none is asked for. */
  readonly ways: readonly WayOut[];
}

async function onBed(parts: CaseParts, playing: Playing, asked: WayOut | null): Promise<Played> {
  const { alone, phase, input } = playing;
  const bed = await parts.beds.make(alone, { real: false, asGiven: true });
  try {
    const seed = seedOf(parts.found.workflow, phase);
    const params = {
      ...paramsFor(parts.found.workflow, input.params, parts.tests),
      ...(seed === null ? {} : { [seed.name]: seed.value }),
    };
    const target = parts.tests?.target ?? null;
    const { id: workflow, capabilities = [] } = alone.workflow;
    const started = await startOn(bed, { workflow, params, target, capabilities });
    if (started.view === null) {
      const without = blockersOf(started.verdict).find(({ code }) => code === 'items_invalid');
      if (without !== undefined) return { end: { skipped: true, message: without.message }, ways: [] };
      return failed(refusalText(started.verdict));
    }
    const placed = await arrange(bed, started.view.run, { parts, playing });
    if (!placed.ok) return { end: { skipped: true, message: placed.reason }, ways: [] };
    const ways = waysOut(placed.run, phase, placed.evidence);
    const way = asked ?? ways[0];
    if (way === undefined) return failed(`phase \`${phase.id}\` has no outcome an agent may report`);
    const wrong = await complete(parts, bed, { playing, run: placed.run, way });
    if (wrong === null) return { end: null, ways };
    return failed(
      `${way.words === '' ? '' : `with ${way.words}: `}${wrong}${evidenceText(placed, { phase, way, tests: parts.tests })}`,
    );
  } finally {
    await bed.close();
  }
}

function failed(message: string): Played {
  return { end: { skipped: false, message }, ways: [] };
}

async function complete(
  parts: CaseParts,
  bed: Bed,
  { playing, run, way }: { readonly playing: Playing; readonly run: Run; readonly way: WayOut },
): Promise<string | null> {
  const { alone, phase } = playing;
  if (phase.work.kind === 'command') {
    const driven = await parts.drive(bed, run.id, alone);
    const wentOn = driven.outcome === 'awaiting_agent' && driven.phase !== phase.id;
    return driven.outcome === 'completed' || wentOn ? null : commandFailure(phase, driven);
  }
  const view = await bed.open.as(TESTER).view(run.id);
  if (workerOf(phase) !== 'handler' && !view.current?.content) {
    return `phase \`${phase.id}\` has nothing to say to its agent`;
  }
  await readTasks(bed, run.id);
  const keys = run.work.items === null ? [undefined] : Object.keys(run.work.items);
  for (const item of keys) {
    const { verdict } = await bed.open.as(TESTER).submit(run.id, {
      kind: 'complete',
      phase: phase.id,
      evidence: way.evidence,
      ...(way.outcome === null ? {} : { outcome: way.outcome }),
      ...(way.outcome === 'fail' ? { reason: 'it did not come off' } : {}),
      ...(item === undefined ? {} : { item }),
    });
    const blockers = blockersOf(verdict);
    // A loop that may not be taken again is where a human comes in, as it should be.
    if (blockers.some(({ code }) => code === 'iterations_exhausted')) return null;
    if (blockers.length > 0) return refusalText(verdict);
  }
  return null;
}

/** Of what a command printed: enough for what was thrown and where. */
const LAST_LINES = 15;

function commandFailure({ id }: Phase, { message, printed }: DrivenCase): string {
  // The runtime's own frames would push out what was thrown.
  const lines = printed.filter((line) => line.trim() !== '' && !/^\s+at .*\bnode:internal\//.test(line));
  if (lines.length === 0) return message;
  const shown = [...(lines.length > LAST_LINES ? ['…'] : []), ...lines.slice(-LAST_LINES)];
  return [message, 'it printed:', ...shown.map((line) => `  ${line}`), aloneText(id)].join('\n');
}

function aloneText(id: Phase['id']): string {
  return `the step ran alone, in a copy of the project; if it needs what another step leaves there, name it under \`skip: { ${id}: … }\` of the contract tests`;
}

async function arrange(
  { store }: Bed,
  runId: string,
  { parts, playing }: { readonly parts: CaseParts; readonly playing: Playing },
): Promise<Placed> {
  const { phase, input } = playing;
  const stored = await store.load(runId);
  if (stored === undefined) return { ok: false, reason: 'the run is not there' };
  const { iteration } = input.params;
  const { found, tests } = parts;
  const params = { ...stored.run.params };
  const seed = seedOf(found.workflow, phase);
  if (seed !== null) delete params[seed.name];
  const times = typeof iteration === 'number' ? iteration : 1;
  const { workflow } = stored.run;
  // The param that the run began with is not the author's, so it owns no name.
  const asWritten = { ...stored.run, params, workflow: { ...workflow, params: found.workflow.params } };
  const placed = placeRun(asWritten, { phase, phases: found.workflow.phases, tests, times });
  if (!placed.ok) return placed;
  const run = { ...placed.run, workflow };
  await store.save(run, stored.version, []);
  return { ...placed, run };
}

/** Anyone who reads of a failure must know whose evidence it was, and what was only made up. */
function evidenceText(
  { madeUp }: Placed & { readonly ok: true },
  { phase, way, tests }: { readonly phase: Phase; readonly way: WayOut } & Pick<CaseParts, 'tests'>,
): string {
  const { id } = phase;
  const worker = workerOf(phase);
  if (worker === 'command' || worker === 'handler') return '';
  if (!madeUp) return ` (with \`evidence\` of \`${id}\` in \`${tests?.file}\`)`;
  const text = JSON.stringify(way.evidence);
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return ` (the evidence was made up: ${shown}; give \`evidence\` of \`${id}\` in the contract tests)`;
}

/** The workflow with this step as its beginning, and nothing in the way but what the params gate out. */
function aloneIn(found: CatalogWorkflow, phase: Phase, hash: CaseParts['hash']): CatalogWorkflow {
  const phases = found.workflow.phases.map((other): Phase => {
    const ungated: Phase = {
      ...other,
      preconditions: other.preconditions.filter(({ id }) => id.startsWith(`${other.id}/only_when/`)),
      postconditions: [],
      blockers: [],
      humanGate: null,
    };
    if (other.id !== phase.id) return { ...ungated, work: { kind: 'agent' }, render: null };
    return phase.work.kind === 'command' ? { ...ungated, next: notAgain(phase) } : ungated;
  });
  const params = paramsWithSeed(found.workflow, phase);
  const workflow: Workflow = { ...found.workflow, params, entry: phase.id, phases };
  return { ...found, workflow, hash: hash(canonicalJson(workflow as unknown as Json)) };
}

/** A command that leads to itself would be run again, which is another case. */
function notAgain({ id, next }: Phase): Phase['next'] {
  const off = (target: Target) => (target === id ? null : target);
  if (next.kind === 'to') return { kind: 'to', target: off(next.target) };
  if (next.kind === 'when') return { ...next, onTrue: off(next.onTrue), onFalse: off(next.onFalse) };
  const map = Object.fromEntries(Object.entries(next.map).map(([outcome, to]) => [outcome, off(to)]));
  return { ...next, map };
}

/**
 * A run cannot begin with items that steps before it give: it begins with one that a param of the same name gives, and
 * gets those it is about where it is placed. Null where the workflow has such a param of its own.
 */
function seedOf(
  { params }: Workflow,
  { parallel }: Phase,
): { readonly name: string; readonly value: Json } | null {
  const [name, ...rest] = parallel?.key.split('.') ?? [];
  if (name === undefined || Object.hasOwn(params, name)) return null;
  return { name, value: withValueAt(undefined, rest, ['item']) };
}

function paramsWithSeed(workflow: Workflow, phase: Phase): Workflow['params'] {
  const seed = seedOf(workflow, phase);
  if (seed === null) return workflow.params;
  const type = Array.isArray(seed.value) ? 'list' : 'object';
  return { ...workflow.params, [seed.name]: { type, description: '', domain: null, required: false } };
}

/** The params of the case that the workflow has, and for those it must have beside them the first value there is. */
function paramsFor(workflow: Workflow, given: JsonObject, tests: ContractTests | null): JsonObject {
  const entries = Object.entries(workflow.params).flatMap(([name, param]): [string, Json][] => {
    if (Object.hasOwn(given, name)) return [[name, given[name] as Json]];
    if (!param.required || param.default !== undefined) return [];
    const domains = testDomains(tests);
    const [first] = (Object.hasOwn(domains, name) ? domains[name] : undefined) ?? [];
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
