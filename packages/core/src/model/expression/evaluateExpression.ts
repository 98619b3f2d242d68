import { isJsonObject, type Json, own } from '../../json.ts';
import { jsonEqual } from '../jsonEqual.ts';
import { kindOf, quoted, quotedList } from '../wording.ts';
import { type Expression, type ExpressionError, ExpressionFault, type Scope } from './expressionTree.ts';
import { printExpression } from './printExpression.ts';

/**
 * Evaluates to true or false, or says why there is no answer. `===` compares primitives by value and lists
 * and objects by content; `&&` and `||` leave their right side alone when the left side decides.
 */
export function evaluate(
  expression: Expression,
  scope: Scope,
): { readonly ok: true; readonly value: boolean } | { readonly ok: false; readonly error: ExpressionError } {
  try {
    return { ok: true, value: booleanOf(expression, scope) };
  } catch (error) {
    if (error instanceof ExpressionFault) return { ok: false, error: error.error };
    throw error;
  }
}

type Comparison = Expression & { readonly kind: 'compare' };
type Path = Expression & { readonly kind: 'path' };

function booleanOf(expression: Expression, scope: Scope): boolean {
  const value = resolve(expression, scope);
  if (typeof value === 'boolean') return value;
  throw wrongType(expression, 'true or false', value);
}

function resolve(expression: Expression, scope: Scope): Json {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'path':
      return lookUp(expression, scope);
    case 'list':
      return expression.items.map((item) => resolve(item, scope));
    case 'not':
      return !booleanOf(expression.operand, scope);
    case 'length':
      return lengthOf(expression.operand, resolve(expression.operand, scope));
    case 'and':
      return booleanOf(expression.left, scope) && booleanOf(expression.right, scope);
    case 'or':
      return booleanOf(expression.left, scope) || booleanOf(expression.right, scope);
    case 'compare':
      return compare(expression, resolve(expression.left, scope), resolve(expression.right, scope));
  }
}

function compare(expression: Comparison, left: Json, right: Json): boolean {
  if (expression.operator === '===') return jsonEqual(left, right);
  if (expression.operator === '!==') return !jsonEqual(left, right);
  if (expression.operator === 'in') return isIn(expression, left, right);
  if (typeof left === 'number' && typeof right === 'number') return inOrder(expression.operator, left, right);
  if (typeof left === 'string' && typeof right === 'string') return inOrder(expression.operator, left, right);
  const ordered = typeof left === 'number' || typeof left === 'string';
  if (!ordered)
    throw wrongType(expression.left, `a number or a string before \`${expression.operator}\``, left);
  throw wrongType(expression.right, `${kindOf(left)} after \`${expression.operator}\``, right);
}

function inOrder<T extends number | string>(operator: string, left: T, right: T): boolean {
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  if (operator === '>') return left > right;
  return left >= right;
}

/** A list has its items, an object its own keys. A string has neither: whether text contains text is not asked here. */
function isIn(expression: Comparison, left: Json, right: Json): boolean {
  if (Array.isArray(right)) return right.some((item: Json) => jsonEqual(left, item));
  if (!isJsonObject(right)) throw wrongType(expression.right, 'a list or an object after `in`', right);
  if (typeof left !== 'string')
    throw wrongType(expression.left, 'a key, which is a string, before `in`', left);
  return Object.hasOwn(right, left);
}

/** Counts as JavaScript does: UTF-16 units of a string, items of a list, keys of an object. */
function lengthOf(operand: Expression, value: Json): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  throw wrongType(operand, 'a string, a list or an object in `length`', value);
}

function lookUp(path: Path, scope: Scope): Json {
  let value = rootOf(path, scope);
  for (const [index, step] of path.steps.entries()) {
    const member = memberOf(value, step);
    if (member === undefined) {
      // Only the last step may be a length: `items.length.x` is a path that does not exist.
      const isLength = step === 'length' && index === path.steps.length - 1;
      if (isLength && (typeof value === 'string' || Array.isArray(value))) return value.length;
      throw missing(path, index, value);
    }
    value = member;
  }
  return value;
}

function rootOf(path: Path, scope: Scope): Json {
  const value = own(scope, path.root);
  if (value !== undefined) return value;
  const known = Object.keys(scope).filter((root) => scope[root] !== undefined);
  const message = `there is no ${quoted(path.root)} here, only ${quotedList(known) || 'nothing'}`;
  throw new ExpressionFault({
    code: Object.hasOwn(scope, path.root) ? 'missing_path' : 'unknown_root',
    message,
    at: path.at,
  });
}

/** INVARIANT: only own members are found, so `constructor` or `__proto__` never reach a prototype. */
function memberOf(value: Json, step: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof step === 'number' ? (value as readonly Json[])[step] : undefined;
  return own(value, String(step));
}

function missing(path: Path, index: number, parent: Json): ExpressionFault {
  const whole = quoted(printExpression(path));
  const holder = quoted(printExpression({ ...path, steps: path.steps.slice(0, index) }));
  return new ExpressionFault({
    code: 'missing_path',
    message: `${whole} does not exist: ${holder} ${contentsOf(parent)}`,
    at: path.at,
  });
}

function contentsOf(value: Json): string {
  if (Array.isArray(value))
    return value.length === 1 ? 'is a list of 1 item' : `is a list of ${value.length} items`;
  if (!isJsonObject(value)) return `is ${kindOf(value)}`;
  const keys = Object.keys(value);
  return keys.length === 0 ? 'is an empty object' : `has ${quotedList(keys)}`;
}

function wrongType(expression: Expression, expected: string, value: Json): ExpressionFault {
  const where = expression.kind === 'literal' ? '' : ` in ${quoted(printExpression(expression))}`;
  return new ExpressionFault({
    code: 'wrong_type',
    message: `expected ${expected}, found ${kindOf(value)}${where}`,
    at: expression.at,
  });
}
