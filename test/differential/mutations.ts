import { VALUE_MUTATIONS } from './valueMutations.ts';

/** One mistake that could be made in the engine. */
export interface Mutation {
  /** What the engine would do then. */
  readonly name: string;
  /** Under `packages/core/src/engine`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Mistakes that the differential test must notice, every one. */
export const MUTATIONS: readonly Mutation[] = [
  ...VALUE_MUTATIONS,
  {
    name: 'a third attempt is given before a human is asked',
    file: 'deciding.ts',
    find: 'if (attempts >= 2) {',
    replace: 'if (attempts >= 3) {',
  },
  {
    name: 'the same refusal may come six times',
    file: 'deciding.ts',
    find: 'const SAME_REFUSALS = 5;',
    replace: 'const SAME_REFUSALS = 6;',
  },
  {
    name: 'refusals of a visit are counted only where they repeat',
    file: 'deciding.ts',
    find: 'const ALL_REFUSALS = 30;',
    replace: 'const ALL_REFUSALS = 31;',
  },
  {
    name: 'every undeclared name is listed',
    file: 'submission.ts',
    find: 'const MOST_NAMES = 20;',
    replace: 'const MOST_NAMES = 25;',
  },
  {
    name: 'what nobody looked at passes',
    file: 'deciding.ts',
    find: "{ status: 'errored', reason: 'nobody looked', class: 'claimed' }",
    replace: "{ status: 'passed', reason: 'nobody looked', class: 'verified' }",
  },
  {
    name: 'one human is a quorum',
    file: 'gate.ts',
    find: '.size >= gate.quorum;',
    replace: '.size >= 1;',
  },
  {
    name: 'anyone is an approver',
    file: 'gate.ts',
    find: 'if (gate.approvers.length > 0 && !gate.approvers.includes(principal.name)) {',
    replace: 'if (gate.approvers.length > 99) {',
  },
  {
    name: 'an option that stops the run lets it go on',
    file: 'gate.ts',
    find: 'if (option.next === undefined) return followRoute',
    replace: 'if (option.next === undefined || option.next === null) return followRoute',
  },
  {
    name: 'a gate whose time is up is still decided',
    file: 'gate.ts',
    find: 'if (late !== null) return late;',
    replace: '',
  },
  {
    name: 'evidence classes are compared the wrong way round',
    file: 'transition.ts',
    find: 'EVIDENCE_CLASSES.indexOf(result.class) >= EVIDENCE_CLASSES.indexOf(check.needs)',
    replace: 'EVIDENCE_CLASSES.indexOf(result.class) <= EVIDENCE_CLASSES.indexOf(check.needs)',
  },
  {
    name: 'a check that only warns refuses',
    file: 'transition.ts',
    find: "severity !== 'warning'",
    replace: "severity !== 'none'",
  },
  {
    name: 'a phase is entered whatever its preconditions say',
    file: 'transition.ts',
    find: 'if (failed.length > 0 && !way.permissive) return { ok: false, blockers: failed };',
    replace: '',
  },
  {
    name: 'ways back are not counted',
    file: 'apply.ts',
    find: '[from]: timesOf(run.iterations, from) + 1',
    replace: '[from]: timesOf(run.iterations, from)',
  },
  {
    name: 'a claim leaves the epoch as it is',
    file: 'apply.ts',
    find: 'holder: event.holder,\n        epoch: run.epoch + 1,',
    replace: 'holder: event.holder,\n        epoch: run.epoch,',
  },
  {
    name: 'a loop may be gone through once more than allowed',
    file: 'route.ts',
    find: 'taken < limit',
    replace: 'taken <= limit',
  },
  {
    name: 'a parallel phase is joined before every item is done',
    file: 'items.ts',
    find: 'if (standOf(run.work.items).open.some(([one]) => one !== key))',
    replace: 'if (standOf(run.work.items).total === 0)',
  },
  {
    name: 'any agent works on any run',
    file: 'atWork.ts',
    find: 'if (!mine(principal.name)) return notYours(run);',
    replace: '',
  },
  {
    name: 'a skipped phase skips its human gate too',
    file: 'leaving.ts',
    find: 'if (done.phase.humanGate !== null) return',
    replace: "if (done.phase.humanGate !== null && done.outcome !== 'skip') return",
  },
  {
    name: 'failed checks let a phase pass',
    file: 'complete.ts',
    find: 'if (failed.length > 0 && !permissive) return refuse(failed, true);',
    replace: '',
  },
  {
    name: 'zero is a positive number',
    file: 'evidence.ts',
    find: "field.rule === 'positive' ? value > 0 : true",
    replace: "field.rule === 'positive' ? value >= 0 : true",
  },
  {
    name: 'a boolean that must be true may be false',
    file: 'evidence.ts',
    find: "if (field.rule === 'is_true') return value === true;",
    replace: '',
  },
  {
    name: 'a lost run is handed out once less',
    file: 'claim.ts',
    find: 'crashes <= reclaimsOf(run.workflow)) return [released];',
    replace: 'crashes < reclaimsOf(run.workflow)) return [released];',
  },
  {
    name: 'an agent has the verbs of a human',
    file: 'interventions.ts',
    find: "if (principal.kind === 'human') return null;",
    replace: "if (principal.kind !== 'engine') return null;",
  },
  {
    name: 'a run starts though its first phase may not be entered',
    file: 'start.ts',
    find: 'failed.length > 0 && !permissive',
    replace: 'failed.length > 99 && !permissive',
  },
];
