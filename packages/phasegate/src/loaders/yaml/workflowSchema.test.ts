import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json } from '@phasegate/core';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { shapeProblems } from './shapeProblems.ts';
import { workflowJsonSchema } from './workflowSchema.ts';
import { YamlTree } from './yamlTree.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
const PUBLISHED = fileURLToPath(new URL('../../../schemas/workflow.schema.json', import.meta.url));
const matches = new Ajv({ strict: false, allErrors: true }).compile(workflowJsonSchema());

test('the published JSON Schema is the one the loader reads with [S2.84]', () => {
  const published = JSON.parse(readFileSync(PUBLISHED, 'utf8'));

  expect(published, 'run: node packages/phasegate/src/loaders/yaml/writeSchema.ts').toEqual(
    workflowJsonSchema(),
  );
});

test('every field says what it is [S2.85]', () => {
  const silent: string[] = [];
  const schema = workflowJsonSchema() as { readonly definitions: Record<string, { description?: string }> };
  visit(schema as unknown as Json, '#', silent);

  expect(silent).toEqual([]);
  expect(Object.values(schema.definitions).every((definition) => definition.description)).toBe(true);
});

describe('schema and loader agree', () => {
  test.each([...files('five-phases'), ...files('good')])('%s has the right shape', (file) => {
    expect(matches(contractIn(file)), JSON.stringify(matches.errors)).toBe(true);
    expect(shapeProblems(contractIn(file)).problems).toEqual([]);
  });

  test.each(files('broken'))('%s has not', (file) => {
    expect(matches(contractIn(file))).toBe(false);
    expect(shapeProblems(contractIn(file)).problems).not.toEqual([]);
  });
});

function files(folder: string): readonly string[] {
  return readdirSync(`${FIXTURES}/${folder}`)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `${folder}/${name}`);
}

function contractIn(file: string): Json {
  return new YamlTree(file, readFileSync(`${FIXTURES}/${file}`, 'utf8')).value ?? null;
}

function visit(schema: Json, path: string, silent: string[]): void {
  if (typeof schema !== 'object' || schema === null) return;
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property) || !property.description) silent.push(`${path}/${name}`);
  }
  for (const [key, member] of Object.entries(schema)) {
    // A field may be called `properties`, so what holds fields is told from a field by where it stands.
    if (key === 'properties' && member === properties) {
      for (const [name, field] of Object.entries(properties)) visit(field, `${path}/${name}`, silent);
      continue;
    }
    // `allOf` holds rules about fields, not the fields themselves.
    if (key !== 'allOf') visit(member as Json, `${path}/${key}`, silent);
  }
}
