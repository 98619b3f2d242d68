import { isJsonObject, type Json, own } from '@phasegate/core';
import type { ImportKind } from '../../runtime/ports.ts';

/** The formats a YAML document looks like. */
export function kindsOfYaml(value: Json | undefined): readonly ImportKind[] {
  const inner = own(value, 'workflow');
  const found = new Set<ImportKind>();
  if (
    Array.isArray(own(value, 'steps')) &&
    (isJsonObject(inner) || own(value, 'schema_version') !== undefined)
  )
    found.add('spec-kit-workflow');
  const phases = own(isJsonObject(inner) ? inner : value, 'phases');
  for (const phase of Array.isArray(phases) ? phases : []) {
    if (own(phase, 'items') !== undefined) found.add('orchestrator-items');
    const contract = ['required_artifacts', 'allowed_tools', 'forbidden_tools', 'tool_constraints'];
    if (contract.some((key) => own(phase, key) !== undefined)) found.add('orchestrator-contract');
    const gates = own(phase, 'gates');
    for (const gate of Array.isArray(gates) ? gates : []) {
      const typed = GATED.includes(String(own(gate, 'type')));
      found.add(typed ? 'orchestrator-gates' : 'orchestrator-contract');
    }
  }
  if (found.size === 0 && isJsonObject(inner) && Array.isArray(phases)) found.add('orchestrator-gates');
  return [...found];
}

const GATED = ['file_exists', 'command', 'no_pattern', 'json_valid'];

/** The formats a folder looks like, by the names in it. */
export function kindsOfFolder(names: readonly string[], tasks: string | undefined): readonly ImportKind[] {
  const has = (...wanted: string[]) => wanted.some((name) => names.includes(name));
  const found: ImportKind[] = [];
  if (has('metadata.json') && has('phases')) found.push('praxis-folder');
  if (!has('tasks.md')) return found;
  if (has('proposal.md')) found.push('openspec-change');
  if (has('requirements.md', 'bugfix.md')) found.push('kiro-spec');
  if (has('spec.md', 'plan.md')) found.push('spec-kit-tasks');
  return found.length > 0 ? found : kindsOfTasks(tasks ?? '');
}

/** The formats the text of a `tasks.md` looks like. */
function kindsOfTasks(text: string): readonly ImportKind[] {
  const found: ImportKind[] = [];
  if (/^\s*- \[[ xX]\] T\d{3}\b/m.test(text)) found.push('spec-kit-tasks');
  if (/_Requirements?:/.test(text)) found.push('kiro-spec');
  if (/^## \d+\. /m.test(text) && /^- \[[ xX]\] \d+\.\d+ /m.test(text)) found.push('openspec-change');
  return found;
}

/** What is looked for, for the caller who gave something else. */
export const LOOKED_FOR = [
  'a YAML file with `phases` that have `required_artifacts`, `allowed_tools` or `gates` (workflow-orchestrator contract)',
  'a YAML file with `phases` that have `items` (workflow-orchestrator item list)',
  'a YAML file with `workflow` and `phases` with typed gates (workflow-orchestrator 4)',
  'a YAML file with `workflow` and `steps` (spec-kit workflow)',
  'a folder with `tasks.md` beside `spec.md` or `plan.md` (spec-kit), `requirements.md` (Kiro) or `proposal.md` (OpenSpec)',
  'a folder with `metadata.json` and `phases/` (praxis-os)',
].join('; ');
