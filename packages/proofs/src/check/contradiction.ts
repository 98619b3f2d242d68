import type { Expression, Json } from '@phasegate/core/model';
import { ANYTHING, intersect, isEmpty, NOTHING, type ValueSet } from './valueSet.ts';

/** What may stand at a path, told by the one who knows schemas. */
export type ValuesAt = (path: Expression & { readonly kind: 'path' }, length: Length) => ValueSet;

/**
 * Whether it is asked how long something is: not at all, as `length(x)`, or as `x.length`, which may as well be a
 * value of that name.
 */
export type Length = 'none' | 'called' | 'dotted';

/** One value under one key however it is reached, and what it is called. */
export type NameOf = (path: Expression & { readonly kind: 'path' }) => {
  readonly key: string;
  readonly name: string;
};

/** The path of which too much is asked, where no values can make all of these true at once; else null. */
export function contradictionIn(
  expressions: readonly (readonly [Expression, boolean])[],
  valuesAt: ValuesAt,
  nameOf: NameOf,
): string | null {
  let cases: readonly (readonly Atom[])[] = [[]];
  for (const [expression, positive] of expressions) {
    const ways = waysOf(expression, positive);
    if (cases.length * ways.length > MOST_CASES) return null;
    cases = cases.flatMap((one) => ways.map((way) => [...one, ...way]));
  }
  if (cases.length === 0) return 'a constant';
  let clash: string | null = null;
  for (const one of cases) {
    const found = clashIn(one, valuesAt, nameOf);
    if (found === null) return null;
    clash ??= found;
  }
  return clash;
}

/** Beyond this nothing is claimed. */
const MOST_CASES = 256;

type Path = Expression & { readonly kind: 'path' };

interface Atom {
  readonly path: Path;
  readonly length: Length;
  readonly values: ValueSet;
}

/** Every way to make an expression true (or false), each a list of requirements; parts not understood ask nothing. */
function waysOf(expression: Expression, positive: boolean): readonly (readonly Atom[])[] {
  switch (expression.kind) {
    case 'not':
      return waysOf(expression.operand, !positive);
    case 'and':
    case 'or': {
      const [left, right] = [waysOf(expression.left, positive), waysOf(expression.right, positive)];
      if ((expression.kind === 'and') !== positive) return [...left, ...right];
      if (left.length * right.length > MOST_CASES) return [[]];
      return left.flatMap((one) => right.map((other) => [...one, ...other]));
    }
    case 'literal':
      return expression.value === positive ? [[]] : [];
    case 'path':
      return [[atomOf(expression, { ...ANYTHING, allowed: [positive] })]];
    case 'compare':
      return [compared(expression, positive)];
    default:
      return [[]];
  }
}

function compared(expression: Expression & { readonly kind: 'compare' }, positive: boolean): readonly Atom[] {
  const { left, right, operator } = expression;
  const flipped = left.kind === 'literal' && operator !== 'in';
  const subject = flipped ? right : left;
  const value = constantOf(flipped ? left : right);
  const path = subject.kind === 'length' ? subject.operand : subject;
  if (path.kind !== 'path' || value === undefined) return [];
  const asked = flipped ? (MIRRORED[operator] ?? operator) : operator;
  const values = required(positive ? asked : (NEGATED[asked] ?? 'not in'), value);
  return [subject.kind === 'length' ? { path, length: 'called', values } : atomOf(path, values)];
}

function atomOf(path: Path, values: ValueSet): Atom {
  if (path.steps.at(-1) !== 'length') return { path, length: 'none', values };
  return { path: { ...path, steps: path.steps.slice(0, -1) }, length: 'dotted', values };
}

const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const NEGATED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};

function required(operator: string, value: Json): ValueSet {
  switch (operator) {
    case '===':
      return { ...ANYTHING, allowed: [value] };
    case '!==':
      return { ...ANYTHING, excluded: [value] };
    case 'in':
      return Array.isArray(value) ? { ...ANYTHING, allowed: value } : ANYTHING;
    case 'not in':
      return Array.isArray(value) ? { ...ANYTHING, excluded: value } : ANYTHING;
    default:
      break;
  }
  if (typeof value === 'string') return { ...ANYTHING, types: ['string'] };
  // An order between anything else has no answer, so it can be neither true nor false.
  if (typeof value !== 'number') return NOTHING;
  const edge = { at: value, open: operator === '<' || operator === '>' };
  const end = operator === '<' || operator === '<=' ? { most: edge } : { least: edge };
  return { ...ANYTHING, types: ['number'], ...end };
}

function constantOf(expression: Expression): Json | undefined {
  if (expression.kind === 'literal') return expression.value;
  if (expression.kind !== 'list') return undefined;
  const items = expression.items.map(constantOf);
  return items.every((item) => item !== undefined) ? items : undefined;
}

function clashIn(atoms: readonly Atom[], valuesAt: ValuesAt, nameOf: NameOf): string | null {
  const sets = new Map<string, ValueSet>();
  for (const { path, length, values } of atoms) {
    const { key, name } = nameOf(path);
    const place = `${length} ${key}`;
    const set = intersect(sets.get(place) ?? valuesAt(path, length), values);
    if (isEmpty(set)) return length === 'none' ? name : `length(${name})`;
    sets.set(place, set);
  }
  return null;
}
