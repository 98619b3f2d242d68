import { isJsonObject, type Json, type JsonObject, own } from '../json.ts';
import { declaredNames, ENGINE_FIELDS, evidenceNamesOf, hasFreeResult } from '../model/names.ts';
import { type Phase, type PhaseId, phaseById, type Workflow } from '../model/workflow.ts';
import { isApprovedBefore, isRejectedBefore } from './before.ts';
import { over } from './history.ts';
import type { Completion, Run } from './run.ts';

/**
 * Whether a completion gives names their values: its outcome was `ok` or `iterate`, no human rejected it, and strict
 * mode would not have refused it. Any other stays its phase's own result.
 */
export function givesNames(run: Run, completion: Completion): boolean {
  if (completion.outcome !== 'ok' && completion.outcome !== 'iterate') return false;
  return completion.letThrough !== true && !isRejectedBefore(run, completion);
}

/** Per name, the newest valid value handed in by a phase that declares it. */
export function artifactValues(run: Run): JsonObject {
  return Object.fromEntries(namedValues(run));
}

const namedValues = over<Map<string, Json>>({
  begin: (like) => new Map(like),
  add(values, completion, run) {
    if (!givesNames(run, completion)) return;
    for (const [name, value] of declaredIn(run.workflow, completion)) values.set(name, value);
  },
});

/** Per name, the value under the newest final decision that approved it. */
export function approvedValues(run: Run): JsonObject {
  return Object.fromEntries(decidedValues(run));
}

const decidedValues = over<Map<string, Json>>({
  begin: (like) => new Map(like),
  add(values, completion, run) {
    const approved = completion.approved ?? (isApprovedBefore(run, completion) ? {} : undefined);
    if (approved === undefined) return;
    const own = givesNames(run, completion) ? declaredIn(run.workflow, completion) : [];
    for (const [name, value] of [...own, ...Object.entries(approved)]) values.set(name, value);
  },
});

/** The names a phase declares with their values in what was handed in; of joined items, item key to value. */
export function declaredValues(
  phase: Phase,
  evidence: JsonObject,
  { joined, outcomes = {} }: { readonly joined: boolean; readonly outcomes?: Completion['outcomes'] },
): readonly (readonly [string, Json])[] {
  const names = declaredNames(phase);
  // One item may hand in something called `items` as well: only of a join it is the map of all.
  const items = joined ? own(evidence, 'items') : undefined;
  if (items === undefined || !isJsonObject(items)) {
    return names.flatMap((name) => {
      const value = own(evidence, name);
      return value === undefined ? [] : [[name, value] as const];
    });
  }
  const done = Object.entries(items).filter(([key]) => own(outcomes, key) !== 'skip');
  return names.map((name) => [
    name,
    Object.fromEntries(
      done.flatMap(([key, item]) => {
        const value = own(item, name);
        return value === undefined ? [] : [[key, value] as const];
      }),
    ),
  ]);
}

/** The newest result of every phase that counts, by its id as text. */
export function resultsOf(run: Run): JsonObject {
  return Object.fromEntries(newestResults(run));
}

const newestResults = over<Map<string, JsonObject>>({
  begin: (like) => new Map(like),
  add(results, completion, run) {
    if (givesNames(run, completion)) results.set(String(completion.phase), completion.evidence);
  },
});

/** The newest free result of every step that has one. */
const newestFree = over<Map<PhaseId, JsonObject>>({
  begin: (like) => new Map(like),
  add(results, completion, run) {
    const phase = phaseById(run.workflow, completion.phase);
    if (phase === undefined || !hasFreeResult(phase) || !givesNames(run, completion)) return;
    results.set(phase.id, completion.evidence);
  },
});

/**
 * Names that nobody declares or owns, with the steps whose newest free result holds them. With two steps the name is
 * nobody's: either could have been planted.
 */
export function freeHolders(run: Run): ReadonlyMap<string, readonly PhaseId[]> {
  const newest = newestFree(run);
  const declared = evidenceNamesOf(run.workflow);
  const holders = new Map<string, PhaseId[]>();
  for (const [step, result] of newest) {
    for (const name of Object.keys(result)) {
      const owned =
        ENGINE_FIELDS.includes(name) ||
        declared.has(name) ||
        Object.hasOwn(run.workflow.params, name) ||
        Object.hasOwn(run.state, name);
      if (!owned) holders.set(name, [...(holders.get(name) ?? []), step]);
    }
  }
  return holders;
}

/** Values of the names that exactly one step's free result holds. */
export function freeValues(run: Run): JsonObject {
  const results = resultsOf(run);
  return Object.fromEntries(
    [...freeHolders(run)].flatMap(([name, steps]) => {
      const [step, ...others] = steps;
      if (step === undefined || others.length > 0) return [];
      return [[name, own(results[String(step)], name) as Json] as const];
    }),
  );
}

/** Why a bare name has no value, where free results of two steps hold it; else null. */
export function contestedReason(run: Run, name: string): string | null {
  const steps = freeHolders(run).get(name) ?? [];
  return steps.length < 2 ? null : whyContested(name, steps);
}

/** Why a bare name that free results of several steps hold belongs to none of them, and what to say instead. */
export function whyContested(name: string, steps: readonly PhaseId[]): string {
  const listed = steps.map((step) => `\`${step}\``).join(' and ');
  const [first] = steps;
  const ways = `\`checkpoint.results["${first}"].${name}\` in a condition, \`results.${first}.${name}\` in a \`context\` or \`parallel_key\``;
  return `\`${name}\` is in the results of the steps ${listed}, so it belongs to neither; the author says whose is meant: ${ways}`;
}

function declaredIn(workflow: Workflow, completion: Completion): readonly (readonly [string, Json])[] {
  const phase = phaseById(workflow, completion.phase);
  if (phase === undefined) return [];
  const { evidence, outcomes } = completion;
  const joined = phase.parallel !== null;
  return declaredValues(phase, evidence, { joined, ...(outcomes === undefined ? {} : { outcomes }) });
}
