import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { CHECKS } from '../../packages/phasegate/src/checks/index.ts';
import type { CheckImplementation } from '../../packages/phasegate/src/runtime/ports.ts';
import { table } from './table.ts';

/** `docs/reference/checks.md`, made from the shelf of checks itself. */
export function checksPage(): string {
  const lines = [
    '<!-- Made by `npx node test/docs/writeChecks.ts`. Change the checks, not this file. -->',
    '',
    '# Checks',
    '',
    'A check is a question with yes or no and a reason. It may stand under `preconditions`, `postconditions` and the',
    '`blockers` of a gate; [Writing workflows](../guide/workflows.md) shows how. `with` holds its parameters.',
    '',
    'The class says what an answer is worth at best. `claimed`: it rests on what the agent submitted. `observed`: the engine',
    'saw or ran it where the agent works. `verified`: the engine looked itself, or ran something in',
    '[a room of its own](../guide/verified.md). A check with `needs: verified` refuses less.',
    '',
    'A function of a TypeScript workflow is a check too. It has no parameters, and its answer is `claimed`.',
    '',
    ...table(
      ['check', 'class', 'holds when'],
      CHECKS.map(({ name, class: evidence, summary }) => [`[\`${name}\`](#${name})`, evidence, summary]),
    ),
    ...CHECKS.flatMap((check) => ['', ...checkSection(check)]),
  ];
  return `${lines.join('\n')}\n`;
}

function checkSection({
  name,
  summary,
  class: evidence,
  parameters,
}: CheckImplementation): readonly string[] {
  const properties = isJsonObject(parameters.properties) ? parameters.properties : {};
  const required = strings(parameters.required);
  const rows = Object.entries(properties).map(([key, schema]) => {
    const about = isJsonObject(schema) && typeof schema.description === 'string' ? schema.description : '';
    return [`\`${key}\``, kindOf(schema), required.includes(key) ? 'yes' : '', about];
  });
  return [
    `## ${name}`,
    '',
    `Holds when ${summary}. Class: \`${evidence}\`.`,
    '',
    ...choiceLines(parameters),
    ...table(['parameter', 'type', 'required', 'meaning'], rows),
  ];
}

function choiceLines(parameters: JsonObject): readonly string[] {
  const lines: string[] = [];
  const named = (choices: Json | undefined) =>
    (Array.isArray(choices) ? choices : []).flatMap((choice: Json) =>
      isJsonObject(choice) ? strings(choice.required).map((key) => `\`${key}\``) : [],
    );
  if (parameters.oneOf !== undefined)
    lines.push(`Needs exactly one of ${named(parameters.oneOf).join(', ')}.`, '');
  if (parameters.anyOf !== undefined)
    lines.push(`Needs at least one of ${named(parameters.anyOf).join(', ')}.`, '');
  return lines;
}

/** The values a schema takes, in words; one this page has no words for stops the build rather than being left out. */
function kindOf(schema: Json | undefined, many = ''): string {
  if (!isJsonObject(schema)) throw new TypeError('a parameter has no schema');
  if (Array.isArray(schema.oneOf)) return schema.oneOf.map((choice: Json) => kindOf(choice)).join(', or ');
  if (Array.isArray(schema.enum))
    return schema.enum.map((value: Json) => `\`${String(value)}\``).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.map((type: Json) => kindOf({ type })).join(' or ');
  switch (schema.type) {
    case 'string':
      return `text${many}`;
    case 'boolean':
      return `boolean${many}`;
    case 'integer':
      return `whole number${many}${rangeOf(schema)}`;
    case 'number':
      return `number${many}${rangeOf(schema)}`;
    case 'array':
      return `list of ${kindOf(schema.items, 's')}`;
    case 'object': {
      const keys = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
      if (keys.length > 0) return `object${many} with ${keys.map((key) => `\`${key}\``).join(' and ')}`;
      const { additionalProperties: values } = schema;
      return isJsonObject(values) ? `map${many} of ${kindOf(values, 's')}` : `object${many}`;
    }
    default:
      throw new TypeError(`there are no words for the schema ${JSON.stringify(schema)}`);
  }
}

function rangeOf({ minimum, exclusiveMinimum, maximum }: JsonObject): string {
  if (minimum !== undefined) return ` from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`;
  const low = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`;
  return `${low}${maximum === undefined ? '' : `${low === '' ? ' of' : ','} at most ${maximum}`}`;
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
