import type { Json } from '../../json.ts';
import { type Expression, isName } from './expressionTree.ts';

/** Writes a condition in its shortest form; parsing that text gives the same tree, but for positions. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return printLiteral(expression.value);
    case 'path':
      return expression.root + expression.steps.map(printStep).join('');
    case 'list':
      return `[${expression.items.map(printExpression).join(', ')}]`;
    case 'length':
      return `length(${printExpression(expression.operand)})`;
    case 'not':
      return `!${enclosed(expression.operand, UNARY)}`;
    case 'compare':
    case 'and':
    case 'or': {
      const binds = strength(expression);
      // Equal strength groups to the left, so only the right side needs parentheses for it.
      return `${enclosed(expression.left, binds)} ${sign(expression)} ${enclosed(expression.right, binds + 1)}`;
    }
  }
}

const UNARY = 5;

function enclosed(expression: Expression, binds: number): string {
  const text = printExpression(expression);
  return strength(expression) < binds ? `(${text})` : text;
}

function strength(expression: Expression): number {
  if (expression.kind === 'or') return 1;
  if (expression.kind === 'and') return 2;
  if (expression.kind !== 'compare') return UNARY;
  return expression.operator === '===' || expression.operator === '!==' ? 3 : 4;
}

function sign(expression: Expression & { readonly kind: 'compare' | 'and' | 'or' }): string {
  if (expression.kind === 'compare') return expression.operator;
  return expression.kind === 'and' ? '&&' : '||';
}

function printStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

function printLiteral(value: Json): string {
  return Object.is(value, -0) ? '-0' : JSON.stringify(value);
}
