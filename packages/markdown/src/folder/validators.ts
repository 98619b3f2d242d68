import type { Json, JsonObject } from '@phasegate/core';
import { didYouMean, type EvidenceRule, evaluate, parseExpression } from '@phasegate/core/model';
import { type FieldType, resultPath } from './evidence.ts';
import { splitLambda, translateRule } from './pythonCondition.ts';
import { PATTERN_NAMES, ruleOfPattern } from './validatorPatterns.ts';

/** What a validator asks of a field: a rule of the engine, and perhaps a condition beyond it. */
export type Validator =
  | { readonly ok: true; readonly rule: EvidenceRule; readonly condition?: string }
  | { readonly ok: false; readonly code: 'unknown_validator' | 'unsatisfiable'; readonly reason: string };

/** The field a validator is asked about. */
export interface Validated {
  readonly name: string;
  readonly type: FieldType;
  /** Values for the further arguments of a lambda. */
  readonly params?: JsonObject;
}

/** Validators every gate file and every table may name, as they would be written out. */
const KNOWN: Readonly<Record<string, string>> = {
  positive: 'x > 0',
  greater_than_0: 'x > 0',
  greater_than_zero: 'x > 0',
  non_zero: 'x > 0',
  non_negative: 'x >= 0',
  percentage: '0 <= x <= 100',
  non_empty: 'len(x) > 0',
  not_empty: 'len(x) > 0',
  non_empty_list: 'len(x) > 0',
  non_empty_string: 'len(x) > 0',
  is_true: 'x is True',
  must_be_true: 'x is True',
  is_false: 'x is False',
  present: 'x is not None',
  exists: 'x is not None',
  required: 'x is not None',
  not_none: 'x is not None',
};
const OPTIONAL = ['optional', 'any', 'always_true', 'may_be_empty'];
const NOTHING = ['', '-', '–', '—', 'none', 'n/a'];

/** Whether a validator's place is empty. */
export function isNoValidator(text: string): boolean {
  return NOTHING.includes(text.trim().replace(/^`|`$/g, '').toLowerCase());
}

/** Reads a validator: a known name, one of the file's own, or a rule written out. */
export function readValidator(
  text: string,
  field: Validated,
  own: Readonly<Record<string, string>> = {},
): Validator {
  const name = text.trim().replace(/^`|`$/g, '');
  if (isNoValidator(name)) return { ok: true, rule: 'present' };
  const written = Object.hasOwn(own, name) ? own[name] : undefined;
  if (written === undefined && OPTIONAL.includes(name.toLowerCase())) return { ok: true, rule: 'optional' };
  // A name of the file's own may stand for a known one, and no further.
  const rule = known(written === undefined ? name : written.trim(), field.type);
  if (!/^[\w-]+$/.test(rule)) return readRule(rule, field);
  const names = [...Object.keys(KNOWN), ...OPTIONAL, ...PATTERN_NAMES, ...Object.keys(own)];
  const reason = `there is no validator \`${rule}\`${didYouMean(name, names)}; known are ${names.join(', ')}, or a rule such as \`len(x) >= 2\``;
  return { ok: false, code: 'unknown_validator', reason };
}

function known(name: string, type: FieldType): string {
  const key = name.toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(KNOWN, key) ? (KNOWN[key] as string) : (ruleOfPattern(key, type) ?? name);
}

function readRule(rule: string, { name, type, params = {} }: Validated): Validator {
  const value = resultPath(name);
  const { args, body } = splitLambda(rule);
  const [first = 'x', ...further] = args;
  const missing = further.filter((argument) => !Object.hasOwn(params, argument));
  if (missing.length > 0) {
    const reason = `\`validator_params\` has no ${missing.map((one) => `\`${one}\``).join(', ')}`;
    return { ok: false, code: 'unknown_validator', reason };
  }
  const translated = translateRule(body, (word) => {
    if (word === first || (args.length === 0 && (word === 'value' || word === name))) return value;
    return further.includes(word) ? literal(params[word] ?? null) : undefined;
  });
  if (!translated.ok)
    return { ok: false, code: 'unknown_validator', reason: `\`${rule}\`: ${translated.reason}` };
  const { condition } = translated;
  const simple = ruleFor(condition, value, type);
  if (simple !== null) return { ok: true, rule: simple };
  const problem = conditionProblem(condition, { [name]: type });
  if (problem !== null) return { ok: false, code: 'unsatisfiable', reason: `\`${rule}\`: ${problem}` };
  return { ok: true, rule: 'present', condition };
}

/** The engine's own rule where there is one: it refuses with the words of the evidence and costs no attempt. */
function ruleFor(condition: string, value: string, type: FieldType): EvidenceRule | null {
  if (condition === 'true' || condition === `${value} !== null`) return 'present';
  const numeric = type === 'int' || type === 'number';
  if (type === 'bool' && condition === `${value} === true`) return 'is_true';
  if (condition === `${value} > 0`) return numeric ? 'positive' : null;
  if (type === 'int' && condition === `${value} >= 1`) return 'positive';
  const lengthy = !numeric && type !== 'bool';
  const wantsSome = [`length(${value}) > 0`, `length(${value}) >= 1`, `length(${value}) !== 0`];
  return lengthy && wantsSome.includes(condition) ? 'non_empty' : null;
}

const SAMPLES: Readonly<Record<FieldType, Json>> = {
  int: 1,
  number: 1.5,
  str: 'text',
  list: ['item'],
  bool: true,
  object: { key: 'value' },
};

/** Why a condition can never be answered for fields of these types, or null. */
export function conditionProblem(
  condition: string,
  types: Readonly<Record<string, FieldType>>,
): string | null {
  const parsed = parseExpression(condition);
  if (!parsed.ok) return parsed.error.message;
  const result = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, SAMPLES[type]]));
  const answer = evaluate(parsed.expression, { result });
  return answer.ok || answer.error.code !== 'wrong_type' ? null : answer.error.message;
}

function literal(value: Json): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
