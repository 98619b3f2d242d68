import { writeFileSync } from 'node:fs';
import { workflowJsonSchema } from './workflowSchema.ts';

// Run by hand after a change of the YAML format: node packages/phasegate/src/loaders/yaml/writeSchema.ts
const file = new URL('../../../schemas/workflow.schema.json', import.meta.url);
writeFileSync(file, `${print(workflowJsonSchema(), '')}\n`);

/** Prints as the formatter would, so that the committed file needs no second step. */
function print(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    const flat = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    if (value.every((item) => typeof item !== 'object') && indent.length + flat.length < 90) return flat;
    return `[\n${value.map((item) => `${indent}  ${print(item, `${indent}  `)}`).join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${indent}  ${JSON.stringify(key)}: ${print(member, `${indent}  `)}`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}
