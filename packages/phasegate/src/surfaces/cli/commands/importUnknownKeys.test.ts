import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';

const FIXTURES = join(import.meta.dirname, '../../../loaders/import/fixtures');

test.each(['agent_workflow.yaml', 'items.yaml', 'gates.yaml', 'spec-kit-workflow.yml'])(
  'a key of %s that is not known is never passed over, wherever it stands',
  async (name) => {
    const shell = makeShell(EMPTY_PROJECT);
    const source = parse(readFileSync(join(FIXTURES, name), 'utf8')) as Json;
    const usual = await unsettled(shell, source);

    const swallowed: string[] = [];
    for (const path of mapsIn(source, [])) {
      if ((await unsettled(shell, withUnknown(source, path))) === usual) swallowed.push(path.join('/'));
    }

    expect(swallowed).toEqual([]);
  },
);

/** What was not simply mapped, and the contract; or that the source was refused. */
async function unsettled(shell: Shell, source: Json): Promise<string> {
  shell.write('source.yaml', stringify(source));
  const { code, json } = await shell.call(['import', join(shell.root, 'source.yaml'), '--force', '--json']);
  if (code !== 0) return `refused ${code}`;
  const keys = ['human', 'left_out'].flatMap((list) => own(json(), list) as readonly JsonObject[]);
  const contract = readFileSync(join(shell.root, String(own(json(), 'file'))), 'utf8');
  return JSON.stringify([contract, keys.map(({ key, text }) => [key, text])]);
}

function mapsIn(value: Json | undefined, path: readonly string[]): readonly (readonly string[])[] {
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const below = parts.flatMap(([key, part]) => mapsIn(part as Json, [...path, key]));
  return isJsonObject(value) ? [path, ...below] : below;
}

function withUnknown(value: Json, path: readonly string[]): Json {
  const copy = structuredClone(value) as Json;
  let at: Json | undefined = copy;
  for (const step of path) at = Array.isArray(at) ? (at[Number(step)] as Json) : own(at, step);
  Object.assign(at as object, { not_a_key: 'of this format' });
  return copy;
}
