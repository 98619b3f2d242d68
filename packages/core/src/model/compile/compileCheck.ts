import { isJsonObject } from '../../json.ts';
import type { CheckDraft, KnownCheck } from '../draft.ts';
import type { DraftPath } from '../problems.ts';
import { type CompiledSchema, compileSchema, type SchemaProblem } from '../schema/jsonSchema.ts';
import { type Check, EVIDENCE_CLASSES } from '../workflow.ts';
import { compileCondition } from './compileCondition.ts';
import type { PhasePlace } from './compileContext.ts';

/** A check with the place in the draft it comes from. */
export interface PlacedCheck {
  readonly draft: CheckDraft;
  readonly path: DraftPath;
  readonly id: string;
}

/** Compiles a list of checks of a phase. */
export function compileChecks(
  place: PhasePlace,
  drafts: readonly CheckDraft[],
  list: 'preconditions' | 'postconditions',
): readonly Check[] {
  const asked = { ...place, entering: list === 'preconditions' };
  return drafts.map((draft, index) =>
    compileCheck(asked, {
      draft,
      path: [...place.path, list, index],
      id: `${place.phase.id}/${list}/${index}`,
    }),
  );
}

/** Compiles one check: it must be on the shelf, and its parameters must fit. */
export function compileCheck(place: PhasePlace, { draft, path, id }: PlacedCheck): Check {
  const use = draft.ref === undefined ? (draft.check ?? '') : 'function';
  const label = draft.label ?? (use === 'function' ? (draft.ref as string) : use);
  const check: Check = {
    id,
    use,
    label,
    with: draft.ref === undefined ? (draft.with ?? {}) : { ref: draft.ref },
    message: draft.message ?? `\`${label}\` did not hold`,
    needs: draft.needs ?? (draft.verify === true ? 'verified' : 'claimed'),
    ...(draft.verify === true ? { verify: true as const } : {}),
    ...(draft.severity === 'warning' ? { severity: 'warning' as const } : {}),
  };
  if (use === 'function') {
    if (check.needs !== 'claimed') {
      const message = `a function gives \`claimed\` evidence, so \`${check.needs}\` can never come from it`;
      place.context.problems.error([...path, 'needs'], 'unsatisfiable', message);
    }
    return check;
  }
  const known = Object.hasOwn(place.context.known.checks, use) ? place.context.known.checks[use] : undefined;
  if (known === undefined) {
    const hint = place.context.problems.hint(use, () => Object.keys(place.context.known.checks));
    place.context.problems.error([...path, 'check'], 'unknown_check', `there is no check \`${use}\`${hint}`);
    return check;
  }
  checkParameters(place, check, known, path);
  checkManner(place, { check, known, path }, draft.verify);
  // What the engine looks at in the world may have moved since; what was handed in cannot.
  const again = known.class !== 'claimed' && draft.recheck !== false && place.entering !== true;
  if (again) return { ...check, recheck: true };
  return place.entering === true && isFrozen(check, known) ? { ...check, frozen: true } : check;
}

/** Only what runs a program can be run elsewhere; what is to be run in the workspace never gives `verified`. */
function checkManner(
  { context }: PhasePlace,
  { check, known, path }: { readonly check: Check; readonly known: KnownCheck; readonly path: DraftPath },
  verify: boolean | undefined,
): void {
  if (verify === true && known.verifiable !== true) {
    const message = `check \`${check.use}\` runs no program, so there is nothing to verify: leave \`verify\` out`;
    context.problems.error([...path, 'verify'], 'bad_parameter', message);
  }
  if (verify === false && known.verifiable === true && check.needs === 'verified') {
    const message =
      'what is not run on a copy of the tree is `observed`, so `verified` can never come from it';
    context.problems.error([...path, 'verify'], 'unsatisfiable', message);
  }
}

/** Whether the answer is the same before and after a human decides: what they choose and write is not known before. */
function isFrozen(check: Check, known: KnownCheck): boolean {
  return known.reads === 'subject' && !/\b(?:gateDecision|decisions)\b/u.test(JSON.stringify(check.with));
}

function checkParameters(place: PhasePlace, check: Check, known: KnownCheck, path: DraftPath): void {
  const { problems } = place.context;
  const schema = parametersOf(known);
  for (const problem of schema.ok ? withoutEchoes(schema.validate(check.with)) : []) {
    const keys = problem.path.split('/').slice(1);
    problems.error(
      [...path, 'with', ...keys],
      'bad_parameter',
      `check \`${check.use}\`: \`with\`${dotted(keys)} ${problem.message}`,
    );
  }
  for (const key of known.conditions ?? []) {
    const source = check.with[key];
    if (typeof source === 'string') compileCondition(place, source, [...path, 'with', key]);
  }
  const inline = check.with.schema;
  if (check.use === 'json_schema' && (isJsonObject(inline) || typeof inline === 'boolean')) {
    const compiled = compileSchema(inline);
    for (const defect of compiled.ok ? [] : compiled.problems) {
      problems.error(
        [...path, 'with', 'schema', ...defect.path],
        'bad_schema',
        `the schema ${defect.message}`,
      );
    }
  }
  if (EVIDENCE_CLASSES.indexOf(check.needs) > EVIDENCE_CLASSES.indexOf(known.class)) {
    const message = `check \`${check.use}\` gives \`${known.class}\` evidence, so \`${check.needs}\` can never come from it`;
    problems.error([...path, 'needs'], 'unsatisfiable', message);
  }
}

/** A key that is only mistyped is missing as well: what was meant is said once, and nothing of forms. */
function withoutEchoes(problems: readonly SchemaProblem[]): readonly SchemaProblem[] {
  const mistyped = problems.filter(({ message }) => /^has an unknown key .*\(did you mean /s.test(message));
  return problems.filter(
    ({ path, message }) =>
      !message.startsWith('has none of the ') || !mistyped.some((other) => other.path === path),
  );
}

/** Made once: a workflow may have many checks of few kinds. */
const parameters = new WeakMap<KnownCheck, CompiledSchema>();

function parametersOf(known: KnownCheck): CompiledSchema {
  const made = parameters.get(known) ?? compileSchema(known.parameters);
  parameters.set(known, made);
  return made;
}

function dotted(keys: readonly string[]): string {
  return keys.map((key) => `.${key}`).join('');
}
