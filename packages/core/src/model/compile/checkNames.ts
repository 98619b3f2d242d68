import { needsApproves } from '../approval.ts';
import { ENGINE_FIELDS } from '../names.ts';
import type { DraftPath, Problems } from '../problems.ts';
import type { Workflow } from '../workflow.ts';

/** Checks that every name has one owner, and that what each choice of a human means can be told. */
export function checkNames(workflow: Workflow, problems: Problems): void {
  for (const name of Object.keys(workflow.params)) {
    if (!ENGINE_FIELDS.includes(name)) continue;
    const message = `\`${name}\` is a field of the checkpoint that only the engine fills; call the param something else`;
    problems.error(['params', name], 'name_taken', message);
  }
  workflow.phases.forEach((phase, index) => {
    const { fields, artifacts } = phase.evidence;
    const taken = (name: string, path: DraftPath) => {
      const whose = ownerOf(workflow, name);
      if (whose === null) return;
      const message = `evidence \`${name}\` of phase \`${phase.id}\` has the name of ${whose}; call one of them something else`;
      problems.error(path, 'name_taken', message);
    };
    fields.forEach(({ name }, at) => {
      taken(name, ['phases', index, 'fields', at]);
    });
    artifacts.forEach(({ type }, at) => {
      taken(type, ['phases', index, 'artifacts', at]);
    });
    phase.humanGate?.options.forEach((option) => {
      if (!needsApproves(workflow, phase, option)) return;
      const message =
        `option \`${option.label}\` leads to \`${option.next}\`, which is not where phase \`${phase.id}\` leads by itself: ` +
        'say `approves: true` if choosing it approves what is shown, else `approves: false`';
      problems.error(['phases', index, 'gates'], 'approval_unclear', message);
    });
  });
}

function ownerOf(workflow: Workflow, name: string): string | null {
  if (ENGINE_FIELDS.includes(name)) return "a field of the engine's checkpoint";
  return Object.hasOwn(workflow.params, name) ? 'a param' : null;
}
