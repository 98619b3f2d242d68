import type { Facts, Json, JsonObject, Param, Phase } from '@phasegate/core';
import type { Check, Condition, EvidenceClass } from '@phasegate/core/model';
import { declared, get, isPlain } from './names.ts';

/** What is wrong with submitted evidence: each value that is missing, of another kind, or empty. */
export function missing({ evidence: { fields, artifacts } }: Phase, given: JsonObject): string[] {
  const wrong = fields.flatMap(({ name, type, rule }) => {
    const value = given[name] ?? null;
    if (value === null) return rule === 'optional' ? [] : [`${name} is missing`];
    if (!isOf(type, value)) return [`${name} is ${Number.isInteger(value) ? 'whole' : kindOf(value)}`];
    const isEmpty =
      typeof value === 'object' || typeof value === 'string' ? Object.keys(value).length === 0 : false;
    const isLow = rule === 'positive' && typeof value === 'number' && value <= 0;
    if (rule === 'is_true' && !value) return [`${name} is false`];
    return (rule === 'positive' || rule === 'non_empty') && (isEmpty || isLow) ? [`${name} is empty`] : [];
  });
  return [
    ...wrong,
    ...artifacts.filter(({ type }) => given[type] == null).map(({ type }) => `${type} is missing`),
  ];
}

/** What is handed in, apart: the evidence, the agent's own words beside it, and what nobody asked for. */
export function sorted(phase: Phase, given: JsonObject) {
  const asked = declared(phase);
  const of = (names: string[]) =>
    Object.fromEntries(Object.entries(given).filter(([key]) => names.includes(key)));
  const words = ['notes', 'commands_executed'].filter((key) => key in given && !asked.includes(key));
  const rest = Object.keys(given).filter((key) => !words.includes(key));
  const extra = asked.length === 0 ? [] : rest.filter((key) => !asked.includes(key));
  const unfit = words.filter((key) => !isWord(key, given[key] as Json));
  return {
    evidence: of(rest.filter((key) => !extra.includes(key))),
    word: words.length > 0 && unfit.length === 0 ? of(words) : undefined,
    unfit,
    extra,
  };
}

/** An agent's words are texts, commands perhaps a list of them, and not too long. */
function isWord(key: string, value: Json): boolean {
  const texts: readonly Json[] = key !== 'notes' && Array.isArray(value) ? value : [value];
  if (texts.some((text) => typeof text !== 'string')) return false;
  return Buffer.byteLength(texts.join('')) <= (key === 'notes' ? 4096 : 16_384);
}

/** Whether a value may be given to a param. */
export function fits({ type, domain }: Param, value: Json): boolean {
  if (!isOf(type, value)) return false;
  if (domain === null) return true;
  if (domain.kind === 'choice_set') return domain.choices.includes(value);
  if (domain.kind === 'constant') return domain.value === value;
  const [low, high] = domain.kind === 'range' ? [domain.min, domain.max] : [domain.lo, domain.hi];
  return (
    (value as number) >= (low ?? Number.NEGATIVE_INFINITY) &&
    (value as number) <= (high ?? Number.POSITIVE_INFINITY)
  );
}

/** What the answers to checks say against going on. */
export function failing(facts: Facts, stage: string, checks: readonly Check[]): string[] {
  const rank: Record<EvidenceClass, number> = { claimed: 0, observed: 1, verified: 2 };
  return checks
    .filter((check) => !check.severity)
    .flatMap(({ id, needs, message }) => {
      const fact = facts[`${stage}:${id}`];
      if (fact?.kind !== 'check') return [`check_errored ${message} nobody looked`];
      const { status, reason, class: had } = fact.result;
      if (status !== 'passed') return [`check_${status} ${message} ${reason}`];
      return rank[had] < rank[needs] ? [`evidence_class_too_low ${message} ${needs} ${had}`] : [];
    });
}

/** Yes, no, or why neither can be said. Of the conditions, `path === literal` is known here. */
export function answerOf(
  condition: Condition,
  scope: (root: string, name: string) => Json | undefined,
  fact: Facts[string] | undefined,
): boolean | string {
  if (condition.kind === 'function') {
    if (fact?.kind !== 'condition') return 'nobody looked';
    return fact.result.ok ? fact.result.value : fact.result.reason;
  }
  const { expression } = condition;
  if (expression.kind !== 'compare' || expression.left.kind !== 'path' || expression.right.kind !== 'literal')
    return '?';
  const { root, steps } = expression.left;
  const [name, ...rest] = steps.map(String);
  const value = rest.reduce<Json | undefined>(
    (found, step) => (isPlain(found) ? get(found, step) : undefined),
    scope(root, name ?? ''),
  );
  if (value === undefined) return `${root} ${steps} is not there`;
  return value === expression.right.value;
}

/** The names of a parallel phase's items, or why there are none. */
export function namesIn(list: Json | undefined): string[] | string {
  if (!Array.isArray(list)) return 'no list';
  if (list.length > 10_000) return `${list.length} items`;
  const names = list.map((value: Json, index) => {
    const { key, id, name } = (
      typeof value === 'object' && value !== null ? value : { name: value }
    ) as JsonObject;
    const own = [key, id, name].find(
      (one) => (typeof one === 'string' && one !== '') || (typeof one === 'number' && one !== value),
    );
    return String(own ?? index + 1);
  });
  names.forEach((_, index) => {
    while (names.indexOf(names[index] as string) < index) names[index] += `#${index + 1}`;
  });
  return names;
}

const KINDS: Record<string, string> = { int: 'number', integer: 'number', str: 'string', bool: 'boolean' };

function isOf(type: string, value: Json): boolean {
  return kindOf(value) === (KINDS[type] ?? type) && (!type.startsWith('int') || Number.isInteger(value));
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}
