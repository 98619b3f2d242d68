import { isInHome } from '../model/guardedPaths.ts';
import type { Phase } from '../model/workflow.ts';
import { blocker, byRule } from './blockers.ts';
import type { Look } from './command.ts';
import type { Asking } from './deciding.ts';
import { TREE_LOOK } from './measuredIn.ts';
import { changeText, outsideTexts } from './outsideTexts.ts';
import type { Run, TreeChange } from './run.ts';
import { mayWrite } from './toolPolicy.ts';
import type { Blocker, NextAction, Warning } from './verdict.ts';

/** What the fence says of a phase that is about to be left. */
export interface Fenced {
  readonly blockers: readonly Blocker[];
  /** Changes outside the scope, for the run to keep. */
  readonly outside: readonly TreeChange[];
  readonly warnings: readonly Warning[];
}

const OPEN: Fenced = { blockers: [], outside: [], warnings: [] };

/**
 * Whether the workspace was changed only where the phase may write. Asked of phases that were measured when they were
 * entered: a run in memory has no workspace, and one from before the fence has no measure.
 */
export function fenceOf(run: Run, phase: Phase, asking: Asking): Fenced {
  const { tree } = run.work;
  if (tree === undefined) return OPEN;
  const look: Look & { kind: 'tree' } = { kind: 'tree', id: TREE_LOOK, run: run.id, phase: phase.id, tree };
  const result = asking.fact(look)?.result;
  if (result === undefined) return OPEN;
  if (!result.ok) {
    const text = `complete phase \`${phase.id}\` again; if this comes again, report that you are blocked`;
    const action: NextAction = { act: 'complete_phase', phase: phase.id, text };
    return { ...OPEN, blockers: [blocker(result.code, result.reason, action)] };
  }
  const outside = result.outside.filter(
    ({ path }) => isInHome(path) || !mayWrite(phase, path) || isNeverIn(path, result.outside),
  );
  const warnings = (result.noticed ?? []).map((change) => ({
    code: 'scope_violation' as const,
    message: `${changeText(change)}; it is on record and refuses nothing`,
  }));
  if (outside.length === 0) return { ...OPEN, warnings };
  return { blockers: outsideBlockers(run, phase, { outside, more: result.more ?? 0 }), outside, warnings };
}

/** A second name for a file is wrong wherever it is. */
function isNeverIn(path: string, outside: readonly TreeChange[]): boolean {
  return outside.some(
    (change) => change.path === path && (change.how === 'linked' || change.how === 'unreadable'),
  );
}

function outsideBlockers(
  run: Run,
  phase: Phase,
  { outside, more }: { readonly outside: readonly TreeChange[]; readonly more: number },
): readonly Blocker[] {
  const scope = phase.writes.length === 0 ? 'nothing' : phase.writes.join(', ');
  const text = `undo what is outside the scope and complete phase \`${phase.id}\` again, or report that you are blocked: a human decides about it with \`phasegate fence ${run.id}\``;
  const action: NextAction = { act: 'complete_phase', phase: phase.id, text };
  const texts = outsideTexts({ outside, more }, `phase \`${phase.id}\` may write ${scope}`);
  return texts.map((message) => byRule(blocker('scope_violation', message, action), phase, 'writes'));
}
