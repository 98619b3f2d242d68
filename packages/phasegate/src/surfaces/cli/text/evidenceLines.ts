import { isJsonObject, type Json, own } from '@phasegate/core';

/**
 * What must be submitted, where the phase's own text does not list it already: a text the author wrote whole may name
 * none of it. Then the JSON Schemas, without which a shell alone has to guess.
 */
export function evidenceLines(required: Json | undefined, content: string): readonly string[] {
  const asked = Object.entries(isJsonObject(required) ? required : {});
  const written = new Set(content.split('\n').map((line) => /^- `([^`]+)`/.exec(line)?.[1]));
  const listed = asked.every(([name]) => written.has(name));
  const schemas = asked.flatMap(([name, rule]) => {
    const schema = own(rule, 'schema');
    return schema === undefined ? [] : [`- \`${name}\`: ${JSON.stringify(schema)}`];
  });
  return [
    ...(listed ? [] : ['', 'Evidence to submit:', ...asked.map(([name, rule]) => askedLine(name, rule))]),
    ...(schemas.length === 0 ? [] : ['', 'JSON Schemas:', ...schemas]),
  ];
}

function askedLine(name: string, rule: Json): string {
  const [type, validator, description] = ['type', 'validator', 'description'].map((key) => own(rule, key));
  const kind = type === 'artifact' ? '' : ` (${String(type)}${validator === 'optional' ? ', optional' : ''})`;
  const about = typeof description === 'string' && description !== '' ? `: ${description}` : '';
  return `- \`${name}\`${kind}${about}`;
}
