import { isJsonObject, type Json, own } from '@phasegate/core';
import type { ImportKind } from '../../runtime/ports.ts';

/** The formats a YAML document looks like. */
export function kindsOfYaml(value: Json | undefined): readonly ImportKind[] {
  const inner = own(value, 'workflow');
  const found = new Set<ImportKind>();
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

/** What is looked for, for whoever gave something else. */
export const LOOKED_FOR = [
  'a YAML file with `phases` that have `required_artifacts`, `allowed_tools` or `gates` (workflow-orchestrator contract)',
  'a YAML file with `phases` that have `items` (workflow-orchestrator item list)',
  'a YAML file with `workflow` and `phases` with typed gates (workflow-orchestrator 4)',
].join('; ');
