import type { Fact, Facts, Look, Run, Subject } from '@phasegate/core/engine';
import { isJsonObject, type JsonObject, OUTCOMES, own, phaseById } from '@phasegate/core/model';
import type { Abstraction } from './abstractWorkflow.ts';
import { ANY_TRUTH, type KnownValues, type PossibleTruth, possibleTruth } from './partialTruth.ts';
import { conditionOf } from './phaseConditions.ts';

/** One way the world may answer what the engine asks, and that in words. */
export interface Answered {
  readonly facts: Facts;
  readonly words: readonly string[];
}

/** Of which run it is asked, and what was answered already about evidence that is still the same. */
export interface Asked {
  readonly run: Run;
  readonly abstraction: Abstraction;
  remembered(look: Look): boolean | undefined;
}

/**
 * Every way to answer these questions that can make a difference. Checks asked together hold together or do not, so
 * one that fails stands for all that could.
 */
export function answersTo(looks: readonly Look[], asked: Asked): readonly Answered[] {
  const checks = looks.filter((look) => look.kind === 'check');
  // No run that is only thought through has a workspace.
  const others = looks.filter((look) => look.kind === 'handler' || look.kind === 'condition');
  let ways: readonly Answered[] =
    checks.length === 0 ? [{ facts: {}, words: [] }] : checkAnswers(checks, asked);
  for (const look of others) {
    const each = look.kind === 'handler' ? handlerAnswers(look, asked.run) : conditionAnswers(look, asked);
    ways = ways.flatMap((way) =>
      each.map(({ facts, words }) => ({
        facts: { ...way.facts, ...facts },
        words: [...way.words, ...words],
      })),
    );
  }
  return ways;
}

type LookOf<K extends Look['kind']> = Look & { readonly kind: K };

const PASSED: Fact = { kind: 'check', result: { status: 'passed', reason: '', class: 'verified' } };
const FAILED: Fact = { kind: 'check', result: { status: 'failed', reason: '', class: 'verified' } };

function checkAnswers(looks: readonly LookOf<'check'>[], asked: Asked): readonly Answered[] {
  const truths = looks.map((look) => truthOf(look, asked));
  const passing = Object.fromEntries(looks.map(({ id }) => [id, PASSED]));
  const failing = truths.findIndex(({ no, error }) => no || error);
  const ways: Answered[] = [];
  // What cannot hold is what is told, rather than what happens to stand first.
  const sure = truths.findIndex(({ yes }) => !yes);
  if (sure === -1) ways.push({ facts: passing, words: [] });
  const told = looks[sure === -1 ? failing : sure];
  if (told !== undefined)
    ways.push({ facts: { ...passing, [told.id]: FAILED }, words: [`\`${told.check.label}\` does not hold`] });
  return ways;
}

function truthOf(look: LookOf<'check'>, { run, abstraction, remembered }: Asked): PossibleTruth {
  const { check, subject } = look;
  const known = remembered(look);
  if (known !== undefined) return { yes: known, no: !known, error: false };
  const expression = check.use === 'expression' ? conditionOf(check) : null;
  return expression === null ? ANY_TRUTH : possibleTruth(expression, knownOf(run, subject, abstraction));
}

function handlerAnswers(look: LookOf<'handler'>, run: Run): readonly Answered[] {
  const phase = phaseById(run.workflow, run.phase);
  const outcomes = phase?.next.kind === 'outcomes' ? OUTCOMES : (['ok'] as const);
  const failed: Fact = { kind: 'handler', result: { ok: false, reason: 'failed', timedOut: false } };
  return [
    ...outcomes.map(
      (outcome): Answered => ({
        facts: { [look.id]: { kind: 'handler', result: { ok: true, outcome, state: {} } } },
        words: [`its handler returns \`${outcome}\``],
      }),
    ),
    { facts: { [look.id]: failed }, words: ['its handler throws'] },
  ];
}

function conditionAnswers(
  look: LookOf<'condition'>,
  { run, abstraction, remembered }: Asked,
): readonly Answered[] {
  const { phase } = look.subject;
  const known = remembered(look);
  const expression = abstraction.conditions.get(phase);
  const free =
    expression === undefined ? ANY_TRUTH : possibleTruth(expression, knownOf(run, look.subject, abstraction));
  const truth = known === undefined ? free : { yes: known, no: !known, error: false };
  const open = [...(truth.yes ? [true] : []), ...(truth.no ? [false] : [])];
  const fact: Fact = { kind: 'condition', result: { ok: false, reason: 'a value it names is missing' } };
  const unanswered = { facts: { [look.id]: fact }, words: ['its condition has no answer'] };
  if (open.length === 0) return [unanswered];
  const empty = emptyResult(look.subject) !== undefined;
  // Its schemas are about the items, and there are none.
  const possible = open.filter((value) => empty || (abstraction.answers.get(phase)?.includes(value) ?? true));
  const answered = (possible.length > 0 ? possible : open).map(
    (value): Answered => ({
      facts: { [look.id]: { kind: 'condition', result: { ok: true, value } } },
      words: [`its condition is ${value}`],
    }),
  );
  // Elsewhere a run without an answer stays where it is; a phase without items is entered and then stands there.
  return empty && truth.error ? [...answered, unanswered] : answered;
}

function knownOf(run: Run, subject: Subject, { tried }: Abstraction): KnownValues {
  const { iteration } = subject.scope;
  const result = emptyResult(subject);
  return {
    params: run.params as KnownValues['params'],
    tried,
    iteration: typeof iteration === 'number' ? iteration : null,
    ...(result === undefined ? {} : { result }),
  };
}

/** What is handed in of a parallel phase that has no items: of anything else nothing is known. */
function emptyResult({ scope: { result } }: Subject): JsonObject | undefined {
  const items = own(result, 'items');
  return isJsonObject(result) && isJsonObject(items) && Object.keys(items).length === 0 ? result : undefined;
}
