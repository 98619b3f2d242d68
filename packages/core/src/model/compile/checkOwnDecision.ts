import { own } from '../../json.ts';
import { type Expression, parseExpression, pathsOf } from '../expression/expression.ts';
import type { Problems } from '../problems.ts';
import type { Check, HumanGate, Phase, Workflow } from '../workflow.ts';
import type { Known } from './compileContext.ts';

/**
 * What a phase is checked for is asked before its gate opens, so a condition there on the decision of that very gate
 * can never hold: the phase could never be completed.
 */
export function checkOwnDecision(workflow: Workflow, known: Known, problems: Problems): void {
  workflow.phases.forEach((phase, index) => {
    const { humanGate } = phase;
    if (humanGate === null) return;
    const others = workflow.phases.some((other) => other.id !== phase.id && other.humanGate !== null);
    const about = (check: Check) =>
      conditionsOf(check, known).some((condition) => readsOwn(condition, { phase, humanGate, others }));
    const message = `a human decides at gate \`${humanGate.id}\` only after this was asked, so its decision can never be read here; ask for it in a later phase`;
    phase.postconditions.forEach((check, at) => {
      if (about(check)) problems.error(['phases', index, 'postconditions', at], 'unsatisfiable', message);
    });
    if (phase.blockers.some(about)) problems.error(['phases', index, 'gates'], 'unsatisfiable', message);
  });
}

interface Gated {
  readonly phase: Phase;
  readonly humanGate: HumanGate;
  /** Whether the newest decision could be that of another gate. */
  readonly others: boolean;
}

function readsOwn(condition: Expression, gated: Gated): boolean {
  return pathsOf(condition).some(isOwnPath(gated)) || demandsOwn(condition, gated);
}

function isOwnPath({ humanGate, others }: Gated): (path: Expression & { readonly kind: 'path' }) => boolean {
  return ({ root, steps: [first, second] }) =>
    root === 'checkpoint' &&
    ((first === 'gateDecision' && !others) || (first === 'decisions' && second === humanGate.id));
}

/** Whether it holds for no decision but this gate's: `checkpoint.gateDecision.gate === 'this'`, with more or without. */
function demandsOwn(condition: Expression, gated: Gated): boolean {
  if (condition.kind === 'and')
    return demandsOwn(condition.left, gated) || demandsOwn(condition.right, gated);
  if (condition.kind !== 'compare' || condition.operator !== '===') return false;
  const { left, right } = condition;
  return isOwnName(left, right, gated) || isOwnName(right, left, gated);
}

function isOwnName(path: Expression, name: Expression, { phase, humanGate }: Gated): boolean {
  if (path.kind !== 'path' || name.kind !== 'literal') return false;
  const [first, second] = path.steps;
  if (path.root !== 'checkpoint' || first !== 'gateDecision') return false;
  return (
    (second === 'gate' && name.value === humanGate.id) || (second === 'phase' && name.value === phase.id)
  );
}

function conditionsOf(check: Check, { checks }: Known): readonly Expression[] {
  const keys = (Object.hasOwn(checks, check.use) ? checks[check.use]?.conditions : undefined) ?? [];
  return keys.flatMap((key) => {
    const source = own(check.with, key);
    const parsed = typeof source === 'string' ? parseExpression(source) : null;
    return parsed?.ok === true ? [parsed.expression] : [];
  });
}
