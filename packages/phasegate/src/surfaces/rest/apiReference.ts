import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';

/** One route of the document, as a reader wants it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Field[];
  /** Name of the body's schema, or null. */
  readonly body: Shape | null;
  readonly answers: readonly {
    readonly status: string;
    readonly description: string;
    /** Names of the bodies it may have. */
    readonly shapes: readonly string[];
  }[];
}

/** A group of routes. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** A named schema. */
export interface Shape {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly example: Json | null;
}

/** One field or parameter. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** The routes of a document by their tags, in the order of the document. */
export function groupsOf(document: JsonObject): readonly Group[] {
  const operations = operationsOf(document);
  return listAt(document, 'tags')
    .map((tag) => ({ name: textAt(tag, 'name'), description: textAt(tag, 'description') }))
    .map((tag) => ({ ...tag, operations: operations.filter((operation) => operation.tag === tag.name) }))
    .filter((group) => group.operations.length > 0);
}

/** The named schemas of a document, in the order of their names. */
export function shapesOf(document: JsonObject): readonly Shape[] {
  const schemas = own(own(document, 'components'), 'schemas');
  if (!isJsonObject(schemas)) return [];
  return Object.keys(schemas)
    .sort()
    .map((name) => shapeOf(name, schemas[name] ?? null));
}

/** The reference as Markdown, for `docs/reference/api.md`. */
export function apiReferenceMarkdown(document: JsonObject): string {
  const info = own(document, 'info') ?? null;
  const groups = groupsOf(document);
  const usual = usualErrors(groups);
  const parts = [
    `# API reference`,
    `Generated from the OpenAPI document of version ${textAt(info, 'version')}, which the server has at \`/openapi.json\` and as a page at \`/docs\`. Do not edit.`,
    textAt(info, 'description'),
    `A route's table has its answers, and an error where it means more there than here:`,
    answerTable(usual),
    ...groups.flatMap((group) => [
      `## ${group.name}`,
      `${group.description}.`,
      ...group.operations.flatMap((operation) => operationLines(operation, usual)),
    ]),
    '## Schemas',
    ...shapesOf(document).flatMap(shapeLines),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The type of a schema in a few words, with its bounds. */
export function typeOf(schema: Json): string {
  const reference = textAt(schema, '$ref');
  if (reference !== '') return nameOf(reference);
  for (const key of ['anyOf', 'oneOf']) {
    const choices = listAt(schema, key);
    if (choices.length > 0 && own(schema, 'type') === undefined) return choices.map(typeOf).join(' or ');
  }
  const values =
    own(schema, 'enum') ?? (own(schema, 'const') === undefined ? [] : [own(schema, 'const') ?? null]);
  if (Array.isArray(values) && values.length > 0)
    return values.map((value) => JSON.stringify(value)).join(' or ');
  const type = own(schema, 'type');
  if (type === 'array') return `list of ${typeOf(own(schema, 'items') ?? null)}${boundsOf(schema)}`;
  if (Array.isArray(type)) return type.length > 4 ? 'any JSON' : type.map(String).join(' or ');
  const properties = own(schema, 'properties');
  if (isJsonObject(properties)) return `{ ${Object.keys(properties).join(', ')} }`;
  return `${typeof type === 'string' ? type : 'any JSON'}${boundsOf(schema)}`;
}

type Answers = Operation['answers'];

/** What most routes say of an error, told once: a table of the same lines for every route would hide the others. */
function usualErrors(groups: readonly Group[]): Answers {
  const errors = groups.flatMap(({ operations }) =>
    operations.flatMap(({ answers }) => answers.filter(({ status }) => Number(status) >= 400)),
  );
  return [...Map.groupBy(errors, ({ status }) => status)]
    .map(([, same]) => [...Map.groupBy(same, ({ description }) => description).values()])
    .flatMap((meanings) => meanings.toSorted((one, other) => other.length - one.length)[0]?.[0] ?? [])
    .toSorted((one, other) => Number(one.status) - Number(other.status));
}

function operationLines(operation: Operation, usual: Answers): readonly string[] {
  const { method, path, summary, description, parameters, body, answers } = operation;
  return [
    `### \`${method} ${path}\``,
    `**${summary}${summary.endsWith('?') ? '' : '.'}** ${description}`,
    ...(parameters.length === 0 ? [] : [fieldTable('parameter', parameters)]),
    ...(body === null ? [] : [`Body: [${body.name}](#${body.name.toLowerCase()})`, ...exampleLines(body)]),
    answerTable(
      answers.filter(
        (answer) =>
          !usual.some(
            ({ status, description: when }) => status === answer.status && when === answer.description,
          ),
      ),
    ),
  ];
}

function answerTable(answers: Answers): string {
  return table(
    ['status', 'when', 'body'],
    answers.map(({ status, description, shapes }) => [
      status,
      description,
      shapes.map((shape) => `[${shape}](#${shape.toLowerCase()})`).join(' or '),
    ]),
  );
}

function shapeLines(shape: Shape): readonly string[] {
  return [
    `### ${shape.name}`,
    ...(shape.fields.length === 0 ? [] : [fieldTable('field', shape.fields)]),
    ...exampleLines(shape),
  ];
}

function exampleLines({ example }: Shape): readonly string[] {
  return example === null ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``];
}

function fieldTable(title: string, fields: readonly Field[]): string {
  return table(
    [title, 'type', 'required', 'meaning'],
    fields.map(({ name, type, required, description }) => [
      `\`${name}\``,
      type,
      required ? 'yes' : 'no',
      description,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(inCell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function inCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function operationsOf(document: JsonObject): readonly Operation[] {
  const paths = own(document, 'paths');
  if (!isJsonObject(paths)) return [];
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isJsonObject(methods) ? methods : {}).map(([method, operation]) =>
      operationOf(document, operation, { method: method.toUpperCase(), path }),
    ),
  );
}

function operationOf(
  document: JsonObject,
  operation: Json,
  { method, path }: { readonly method: string; readonly path: string },
): Operation {
  const responses = own(operation, 'responses');
  const body = schemaIn(own(operation, 'requestBody') ?? null);
  const name = nameOf(textAt(body, '$ref'));
  return {
    id: textAt(operation, 'operationId'),
    method,
    path,
    tag: String(listAt(operation, 'tags')[0] ?? ''),
    summary: textAt(operation, 'summary'),
    description: textAt(operation, 'description'),
    parameters: listAt(operation, 'parameters').map((parameter) => ({
      name: textAt(parameter, 'name'),
      type: typeOf(own(parameter, 'schema') ?? null),
      required: own(parameter, 'required') === true,
      description:
        textAt(parameter, 'description') || textAt(own(parameter, 'schema') ?? null, 'description'),
    })),
    body: name === '' ? null : shapeOf(name, own(own(own(document, 'components'), 'schemas'), name) ?? null),
    answers: Object.entries(isJsonObject(responses) ? responses : {}).map(([status, answer]) => ({
      status,
      description: textAt(answer, 'description'),
      shapes: namesOf(schemaIn(answer)),
    })),
  };
}

/** The shape that is referred to, or each of those to choose from. */
function namesOf(schema: Json): readonly string[] {
  const choices = listAt(schema, 'anyOf');
  const found = (choices.length === 0 ? [schema] : choices).map((one) => nameOf(textAt(one, '$ref')));
  return found.filter((name) => name !== '');
}

function shapeOf(name: string, schema: Json): Shape {
  const properties = own(schema, 'properties');
  const required = listAt(schema, 'required');
  const choices = [...listAt(schema, 'anyOf'), ...(isJsonObject(properties) ? [] : listAt(schema, 'oneOf'))];
  const fields = isJsonObject(properties)
    ? Object.entries(properties).map(([field, of]) => ({
        name: field,
        type: typeOf(of),
        required: required.includes(field),
        description: textAt(of, 'description'),
      }))
    : choices.map((choice) => ({
        name: 'one of',
        type: describeChoice(choice),
        required: false,
        description: '',
      }));
  return { name, fields, example: own(schema, 'example') ?? null };
}

function describeChoice(choice: Json): string {
  const properties = own(choice, 'properties');
  if (!isJsonObject(properties)) return typeOf(choice);
  return Object.entries(properties)
    .map(([name, schema]) => `${name}: ${typeOf(schema)}`)
    .join(', ');
}

function schemaIn(holder: Json): Json {
  const content = own(holder, 'content');
  const [first] = isJsonObject(content) ? Object.values(content) : [];
  return own(first, 'schema') ?? null;
}

/** Keyword, the word before its number, and what is counted. */
const BOUNDS: readonly (readonly [string, string, string])[] = [
  ['minLength', 'at least', ' characters'],
  ['maxLength', 'at most', ' characters'],
  ['minimum', 'from', ''],
  ['maximum', 'to', ''],
  ['minItems', 'at least', ' entries'],
  ['maxItems', 'at most', ' entries'],
];

function boundsOf(schema: Json): string {
  const bounds = BOUNDS.flatMap(([key, word, unit]) => {
    const bound = own(schema, key);
    if (typeof bound !== 'number' || Math.abs(bound) === Number.MAX_SAFE_INTEGER) return [];
    // That text is not empty goes without saying.
    return key === 'minLength' && bound === 1 ? [] : [`${word} ${bound}${unit}`];
  });
  return bounds.length === 0 ? '' : ` (${bounds.join(', ')})`;
}

function nameOf(reference: string): string {
  return reference.replace('#/components/schemas/', '');
}

function textAt(value: Json | undefined, key: string): string {
  const text = own(value, key);
  return typeof text === 'string' ? text : '';
}

function listAt(value: Json, key: string): readonly Json[] {
  const list = own(value, key);
  return Array.isArray(list) ? list : [];
}
