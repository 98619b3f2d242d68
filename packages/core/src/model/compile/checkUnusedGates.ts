import type { CompileContext } from './compileContext.ts';

/** A gate that no phase has is probably a gate that some phase should have. */
export function checkUnusedGates({ draft, known, problems }: CompileContext): void {
  const used = new Set(draft.phases.flatMap((phase) => phase.gates ?? []));
  // A mistyped name is reported where it stands.
  const mistyped = problems.has('unknown_gate');
  for (const [name, gate] of Object.entries(draft.gates ?? {})) {
    if (used.has(name)) continue;
    if (!mistyped) problems.note(['gates', name], 'unused_gate', `no phase has the gate \`${name}\``);
    gate.blockers?.forEach(({ check, ref }, index) => {
      if (ref !== undefined || check === undefined || Object.hasOwn(known.checks, check)) return;
      const hint = problems.hint(check, () => Object.keys(known.checks));
      const path = ['gates', name, 'blockers', index, 'check'];
      problems.error(path, 'unknown_check', `there is no check \`${check}\`${hint}`);
    });
  }
}
