import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** One route of a document. */
export interface Operation {
  readonly method: string;
  /** With `{name}` for its parts. */
  readonly template: string;
  /** The kinds of credential that open it, as it says in words. */
  readonly who: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body: Json | undefined;
  /** The schema of each status; null where it has no body. */
  readonly answers: ReadonlyMap<number, { readonly type: string; readonly schema: Json } | null>;
}

/** Something in a path or a query. */
export interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly schema: Json;
}

/** The routes of a document. */
export function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([template, methods]) =>
    Object.entries(methods as JsonObject).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      who: whoOf(String(own(operation, 'description'))),
      parameters: ((own(operation, 'parameters') ?? []) as readonly JsonObject[]).map(parameterOf),
      body: contentOf(own(operation, 'requestBody') ?? null)?.schema,
      answers: new Map(
        Object.entries(objectAt(operation, 'responses')).map(([status, answer]) => [
          Number(status),
          contentOf(answer),
        ]),
      ),
    })),
  );
}

/** Validators of the schemas of a document, made when they are first asked for. */
export function validatorsOf(document: JsonObject): (schema: Json) => ValidateFunction {
  // Members of OpenAPI beside those of JSON Schema, such as `example`, say nothing about validity.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'openapi.json');
  const made = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
    const validate = made.get(text) ?? ajv.compile(JSON.parse(text) as JsonObject);
    made.set(text, validate);
    return validate;
  };
}

/** What a reference stands for; anything else is itself. */
export function resolved(document: JsonObject, schema: Json): Json {
  const reference = own(schema, '$ref');
  if (typeof reference !== 'string') return schema;
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<Json>((at, key) => own(at, key) ?? null, document);
}

/** An object in a document. */
export function objectAt(value: Json, key: string): JsonObject {
  const found = own(value, key);
  if (!isJsonObject(found)) throw new Error(`there is no object \`${key}\``);
  return found;
}

function whoOf(description: string): readonly string[] {
  const [, told = ''] = /May be called (.*)\.$/.exec(description) ?? [];
  const kinds = [
    ['an agent key', 'agent'],
    ['a phase token', 'token'],
    ["a human's session", 'human'],
    ['by anyone', 'none'],
  ] as const;
  return kinds.filter(([words]) => told.includes(words)).map(([, kind]) => kind);
}

function parameterOf(parameter: JsonObject): Parameter {
  return {
    name: String(parameter.name),
    place: String(parameter.in),
    required: parameter.required === true,
    schema: parameter.schema ?? null,
  };
}

function contentOf(holder: Json): { readonly type: string; readonly schema: Json } | null {
  const content = own(holder, 'content');
  const [first] = isJsonObject(content) ? Object.entries(content) : [];
  return first === undefined ? null : { type: first[0], schema: own(first[1], 'schema') ?? null };
}
