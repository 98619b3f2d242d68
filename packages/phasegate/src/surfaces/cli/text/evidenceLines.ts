import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';

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

/** What must be submitted, with its types and whether it may be left out; empty where nothing is asked for. */
export function askedEvidence(required: JsonObject): readonly string[] {
  return Object.entries(required).map(([name, rule]) => {
    const about = own(rule, 'description');
    const kind = own(rule, 'type') === 'artifact' ? kindOf(own(rule, 'schema')) : String(own(rule, 'type'));
    const needed = own(rule, 'validator') === 'optional' ? 'optional' : 'required';
    const said = typeof about === 'string' && about !== '' ? `: ${oneLine(about)}` : '';
    return `- ${oneLine(name)} (${needed}, ${kind})${said}`;
  });
}

/** What a schema wants, in a few words. */
function kindOf(schema: Json | undefined): string {
  const type = own(schema, 'type');
  const names = own(schema, 'required');
  const kind = typeof type === 'string' ? type : 'any value';
  if (!Array.isArray(names) || names.length === 0) return kind;
  return `${typeof type === 'string' ? type : 'object'} with ${names.map((name) => oneLine(String(name))).join(', ')}`;
}

function askedLine(name: string, rule: Json): string {
  const [type, validator, description] = ['type', 'validator', 'description'].map((key) => own(rule, key));
  const kind = type === 'artifact' ? '' : ` (${String(type)}${validator === 'optional' ? ', optional' : ''})`;
  const about = typeof description === 'string' && description !== '' ? `: ${description}` : '';
  return `- \`${name}\`${kind}${about}`;
}
