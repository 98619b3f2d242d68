import type { Expression } from './expressionTree.ts';

export { evaluate } from './evaluateExpression.ts';
export type { Expression, ExpressionError, Scope } from './expressionTree.ts';
export { parseExpression } from './parseExpression.ts';
export { printExpression } from './printExpression.ts';

/** The roots every condition may name; the types of a phase's artifacts are roots too. */
export const SCOPE_ROOTS: readonly string[] = [
  'result',
  'artifacts',
  'approved',
  'params',
  'state',
  'checkpoint',
  'iteration',
  'item',
];

/** Every path the expression names, for checks at definition time. */
export function pathsOf(expression: Expression): readonly (Expression & { kind: 'path' })[] {
  switch (expression.kind) {
    case 'literal':
      return [];
    case 'path':
      return [expression];
    case 'list':
      return expression.items.flatMap(pathsOf);
    case 'not':
    case 'length':
      return pathsOf(expression.operand);
    case 'compare':
    case 'and':
    case 'or':
      return [...pathsOf(expression.left), ...pathsOf(expression.right)];
  }
}
