import type { Mutation } from './mutations.ts';

/** Every key of every submission, the newest last: what a name meant before it had an owner. */
const ALL_EVIDENCE = 'Object.assign({}, ...run.completions.map((one) => one.evidence))';

/** Mistakes about whose a value is: planted in the engine, each is to be noticed. */
export const OWNER_MUTATIONS: readonly Mutation[] = [
  {
    name: 'the newest evidence of a name wins',
    file: 'values.ts',
    find: 'of declaredIn(run.workflow, completion)) values.set(name, value);',
    replace: 'of Object.entries(completion.evidence)) values.set(name, value);',
  },
  {
    name: 'evidence comes before params',
    file: 'scope.ts',
    find: '...run.state, ...run.params };',
    replace: `...run.state, ...run.params, ...${ALL_EVIDENCE} };`,
  },
  {
    name: 'unset fields of the engine are free',
    file: 'scope.ts',
    find: 'Object.entries(named).filter(([name]) => !ENGINE_FIELDS.includes(name));',
    replace: `Object.entries({ ...${ALL_EVIDENCE}, ...named });`,
  },
  {
    name: 'what is approved is read from artifacts',
    file: 'values.ts',
    find: 'export function approvedValues(run: Run): JsonObject {',
    replace: 'export function approvedValues(run: Run): JsonObject {\n  return artifactValues(run);',
  },
  {
    name: 'a failed visit gives names their values',
    file: 'values.ts',
    find: "if (completion.outcome !== 'ok' && completion.outcome !== 'iterate') return false;",
    replace: "if (completion.outcome === 'skip' || completion.outcome === 'rejected') return false;",
  },
  {
    name: 'items come from the newest list of that name',
    file: 'route.ts',
    find: 'valueAt(approvedCheckpointOf(run, phase, { own: [] }), key);',
    replace: `valueAt({ ...approvedCheckpointOf(run, phase, { own: [] }), ...${ALL_EVIDENCE} }, key);`,
  },
];

/** The same, and mistakes about decisions, items and attempts. */
export const VALUE_MUTATIONS: readonly Mutation[] = [
  ...OWNER_MUTATIONS,
  {
    name: 'undeclared evidence is taken',
    file: 'submission.ts',
    find: 'else undeclared.push(name);',
    replace: 'else evidence.push([name, value]);',
  },
  {
    name: 'what a gate covers is read from artifacts',
    file: 'scope.ts',
    find: 'const covered = [...coveredAt(run.workflow, phase.id)];',
    replace: 'const covered = [...coveredAt(run.workflow, phase.id)].slice(99);',
  },
  {
    name: 'a name in two free results is the first one',
    file: 'values.ts',
    find: 'if (step === undefined || others.length > 0) return [];',
    replace: 'if (step === undefined) return [];',
  },
  {
    name: 'what permissive mode let through gives names',
    file: 'values.ts',
    find: 'return completion.letThrough !== true && !isRejectedBefore(run, completion);',
    replace: 'return !isRejectedBefore(run, completion);',
  },
  {
    name: 'a handler may set a param',
    file: 'complete.ts',
    find: 'if (taken === undefined) return { outcome, state };',
    replace: 'if (taken !== null) return { outcome, state };',
  },
  {
    name: 'a rejected visit counts as ok',
    file: 'gate.ts',
    find: "outcome: rejected ? 'rejected' : wait.outcome,",
    replace: 'outcome: wait.outcome,',
  },
  {
    name: 'the state of a rejected visit is merged',
    file: 'gate.ts',
    find: 'state: rejected ? {} : wait.state,',
    replace: 'state: wait.state,',
  },
  {
    name: 'a no approves the context it was shown',
    file: 'gate.ts',
    find: "meaning === 'approves' ? contextValues(run, gate, visit) : null;",
    replace: 'contextValues(run, gate, visit);',
  },
  {
    name: 'nothing is looked at again when a human approves',
    file: 'gate.ts',
    find: "meaning === 'approves' ? recheckBlockers(run, { wait, phase }, asking) : [];",
    replace: '[];',
  },
  {
    name: 'the decision is kept after its phase is entered again',
    file: 'apply.ts',
    find: 'core.settled.filter((settled) => settled.phase !== phase)',
    replace: 'core.settled',
  },
  {
    name: 'the last item speaks for all',
    file: 'joining.ts',
    find: "const outcomes = Object.values(items).map(({ outcome = 'ok' }) => outcome);",
    replace: "const outcomes = Object.values(items).slice(-1).map(({ outcome = 'ok' }) => outcome);",
  },
  {
    name: 'a refused join leaves its items done',
    file: 'items.ts',
    find: '{ ...event, reopens: true as const }',
    replace: 'event',
  },
  {
    name: 'a visit that ends in fail pays for its attempts',
    file: 'apply.ts',
    find: 'const attempts = timesOf(done.owed ?? {}, event.next);',
    replace: 'const attempts = 0;',
  },
  {
    name: 'what a handler says comes before what was approved',
    file: 'scope.ts',
    find: '!Object.hasOwn(run.state, name) || declared.has(name) || Object.hasOwn(approved, name)',
    replace: '!Object.hasOwn(run.state, name)',
  },
  {
    name: 'going back with the phase is a yes',
    file: 'gateMeaning.ts',
    find: "return back ? 'follows' : 'approves';",
    replace: "return 'approves';",
  },
  {
    name: 'a gate opens that nobody can pass',
    file: 'leaving.ts',
    find: 'if (shut.length > 0) return',
    replace: 'if (shut.length > 99) return',
  },
  {
    name: 'a gate stays shut though a no leads to another phase',
    file: 'gateWays.ts',
    find: 'return option.next == null || option.next === phase.id ? [] : [[]];',
    replace: 'return [];',
  },
  {
    name: 'refusals that take turns are not counted',
    file: 'repeatedRefusal.ts',
    find: 'const count = seen.includes(key) ? before.count + 1 : before.count;',
    replace: 'const count = before.key === key ? before.count + 1 : 1;',
  },
];
