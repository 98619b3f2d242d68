import { readFileSync } from 'node:fs';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { camelCase } from '../../packages/phasegate/src/loaders/yaml/spelling.ts';
import { workflowJsonSchema } from '../../packages/phasegate/src/loaders/yaml/workflowSchema.ts';
import { table } from './table.ts';
import { WORKFLOW_EXAMPLES } from './workflowExamples.ts';

/** `docs/reference/workflow-yaml.md`, made from the schema that definitions are read with. */
export function workflowPage(): string {
  const schema = JSON.parse(JSON.stringify(workflowJsonSchema())) as JsonObject;
  const definitions = own(schema, 'definitions');
  if (!isJsonObject(definitions)) throw new TypeError('the schema has no definitions');
  const sections = Object.keys(definitions).filter((name) => !ALSO.has(name));
  const lines = [
    '<!-- Made by `npx node test/docs/writeWorkflow.ts`. Change the schema, not this file. -->',
    '',
    '# Workflows in YAML',
    '',
    'Every key of `agent_workflow.yaml` and `*.workflow.yaml`. [Writing workflows](../guide/workflows.md) explains them in',
    'the order one meets them. `phasegate validate` checks a file and names file, line and column of every problem; editors',
    'complete and check with the JSON Schema in the package, `schemas/workflow.schema.json`:',
    '',
    '```yaml',
    '# yaml-language-server: $schema=./node_modules/phasegate/schemas/workflow.schema.json',
    '```',
    '',
    'A key that is not listed is an error. Keys with `_` may be written in camel case (`allowedTools`), but not both ways at',
    'once. A target is the id of a phase, or `null` for the end.',
    '',
    '## workflow',
    '',
    ...shapeLines(schema),
    ...sections.flatMap((name) => ['', `## ${name}`, '', ...definitionLines(definitions, name)]),
    '',
    '## Kinds of phases',
    ...WORKFLOW_EXAMPLES.flatMap(({ title, text, yaml }) => [
      ...['', `### ${title}`, '', text, ''],
      ...['```yaml', yaml.trimEnd(), '```'],
    ]),
    '',
    '## Five phases of a real workflow',
    '',
    'From [examples/tdd](../../examples/tdd/agent_workflow.yaml), where the gates and schemas they name are. They start no',
    'run by themselves.',
    ...phasesOfExample().flatMap(([id, text]) => ['', `### ${id}`, '', '```yaml', text, '```']),
  ];
  return `${lines.join('\n')}\n`;
}

/** Definitions that are another one with an `id` or `name` more; they are told of there. */
const ALSO: ReadonlyMap<string, { readonly of: string; readonly text: string }> = new Map([
  ['phase_in_list', { of: 'phase', text: 'In a list, a phase also has its `id`.' }],
  ['gate_in_list', { of: 'gate', text: 'In a list, a gate also has its `id`.' }],
  ['gate_in_place', { of: 'gate', text: 'Inside of a phase it may have an `id`.' }],
  ['evidence_in_list', { of: 'evidence', text: 'In a list, it also has its `name`.' }],
]);

function definitionLines(definitions: JsonObject, name: string): readonly string[] {
  const also = [...ALSO].filter(([, { of }]) => of === name).map(([, { text }]) => text);
  const definition = own(definitions, name) ?? null;
  return [...shapeLines(definition), ...(also.length === 0 ? [] : ['', also.join(' ')])];
}

function shapeLines(definition: Json): readonly string[] {
  const about = textAt(definition, 'description');
  const properties = own(definition, 'properties');
  if (!isJsonObject(properties)) return [`${about} Written as ${kindOf(definition)}.`];
  const rules = listAt(definition, 'allOf').map(ruleOf);
  const required = [...listAt(definition, 'required'), ...rules.flatMap(({ needed = [] }) => needed)];
  const camel = new Set(
    Object.keys(properties).flatMap((key) => (camelCase(key) === key ? [] : [camelCase(key)])),
  );
  const rows = Object.entries(properties)
    .filter(([key]) => !camel.has(key))
    .map(([key, schema]) => [
      `\`${key}\``,
      kindOf(schema),
      required.includes(key) ? 'required' : presetOf(schema),
      textAt(schema, 'description'),
    ]);
  const said = rules.flatMap(({ text }) => (text === undefined ? [] : [text]));
  return [
    ...(about === '' ? [] : [about, '']),
    ...table(['key', 'type', 'default', 'meaning'], rows),
    ...(said.length === 0 ? [] : ['', [...new Set(said)].join(' ')]),
  ];
}

interface Rule {
  /** Keys that must be there, in either spelling. */
  readonly needed?: readonly string[];
  readonly text?: string;
}

/** What a schema says of its keys together; the two spellings of one key are not worth a sentence each. */
function ruleOf(rule: Json): Rule {
  const [first, second] = listAt(own(rule, 'not') ?? null, 'required').map(String);
  if (first !== undefined && second !== undefined) {
    if (camelCase(first) === second) return {};
    return { text: `\`${first}\` and \`${second}\` are not given together.` };
  }
  const choices = listAt(rule, 'anyOf').map((choice) => listAt(choice, 'required').map(String));
  const keys = choices.flat();
  if (choices.some((choice) => choice.length !== 1)) return { text: WITH_PARALLEL };
  const [key = '', twin] = keys;
  if (keys.length === 2 && camelCase(key) === twin) return { needed: [key] };
  return { text: `At least one of ${keys.map((name) => `\`${name}\``).join(' and ')} is needed.` };
}

const WITH_PARALLEL = '`parallel: true` and `parallel_key` belong together.';

function presetOf(schema: Json): string {
  const preset = own(schema, 'default');
  return preset === undefined ? '' : `\`${JSON.stringify(preset).replaceAll('"', '')}\``;
}

/** The values a schema takes, in words; one this page has no words for stops the build rather than being left out. */
function kindOf(schema: Json): string {
  const reference = textAt(schema, '$ref') || textAt(listAt(schema, 'allOf')[0] ?? null, '$ref');
  if (reference !== '') return linkTo(reference.slice(reference.lastIndexOf('/') + 1));
  const choices = listAt(schema, 'anyOf');
  if (choices.length > 0) return [...new Set(choices.map(kindOf))].join(' or ');
  const values = listAt(schema, 'enum');
  if (values.length > 0) return values.map((value) => `\`${value}\``).join(', ');
  const type = own(schema, 'type');
  if (Array.isArray(type)) return type.map((one) => kindOf({ type: one })).join(' or ');
  switch (type) {
    case 'string':
      return 'text';
    case 'boolean':
      return '`true` or `false`';
    case 'integer':
      return `whole number${rangeOf(schema)}`;
    case 'number':
      return 'number';
    case 'null':
      return '`null`';
    case 'array':
      return `list of ${kindOf(own(schema, 'items') ?? null)}`;
    case 'object':
      return mapKind(schema);
    case undefined:
      return 'any value';
    default:
      throw new TypeError(`there are no words for the schema ${JSON.stringify(schema)}`);
  }
}

function mapKind(schema: Json): string {
  const values = own(schema, 'additionalProperties');
  return isJsonObject(values) && Object.keys(values).length > 0 ? `map of names to ${kindOf(values)}` : 'map';
}

function linkTo(name: string): string {
  const shown = ALSO.get(name)?.of ?? name;
  return `[${shown}](#${shown})`;
}

function rangeOf(schema: Json): string {
  const [least, most] = [own(schema, 'minimum'), own(schema, 'maximum')];
  const top = typeof most === 'number' && most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : '';
  return typeof least === 'number' && least > Number.MIN_SAFE_INTEGER ? ` from ${least}${top}` : '';
}

/** Id and text of every phase of the example, as it is written there. */
function phasesOfExample(): readonly (readonly [string, string])[] {
  const file = new URL('../../examples/tdd/agent_workflow.yaml', import.meta.url);
  const [, phases = ''] = readFileSync(file, 'utf8').split(/^phases:\n/m);
  return phases
    .split(/^(?= {2}\w)/m)
    .filter((text) => text.trim() !== '')
    .map((text) => [text.slice(2, text.indexOf(':')), text.trimEnd().replaceAll(/^ {2}/gm, '')]);
}

function textAt(value: Json, key: string): string {
  const found = own(value, key);
  return typeof found === 'string' ? found : '';
}

function listAt(value: Json, key: string): readonly Json[] {
  const found = own(value, key);
  return Array.isArray(found) ? found : [];
}
