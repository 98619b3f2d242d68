import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../test/tier.ts';
import { type ApiBed, openApiBed } from './fixtures/apiBed.ts';
import { FIVE, PLAN } from './fixtures/workflows.ts';

// The bed holds every answer against the document, and fails the test for whatever is logged as a fault.
test('whatever is called in whatever order, made from the document, nothing is a fault of ours and the audit holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
      const bed = openApiBed(FIVE);
      const document = (await (await bed.app.request('/openapi.json')).json()) as JsonObject;
      const chance = (below: number) => Number(numbers.next().value) % below;
      const known = await knownThings(bed);

      for (let step = 0; step < 40; step++) {
        const { method, path, body } = callFrom(document, known, chance);
        const as = known.credentials[chance(known.credentials.length)];
        const got = await bed.call(method, path, {
          ...(as === undefined ? {} : { as }),
          ...(body === undefined ? {} : { body }),
        });

        expect(got.status, `${method} ${path} ${JSON.stringify(body)} ${got.text}`).toBeLessThan(500);
        known.learn(got.body);
      }
      expect(await bed.project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
    }),
    { numRuns: cases({ quick: 4, full: 60 }) },
  );
});

interface Known {
  readonly credentials: (string | undefined)[];
  /** Words that mean something here, for every text of a request. */
  readonly words: string[];
  learn(body: JsonObject): void;
}

async function knownThings(bed: ApiBed): Promise<Known> {
  const key = await bed.agent('a1');
  const { run, token } = await bed.claimed(key, 'a1');
  await bed.get(`/runs/${run}/tasks/PLAN/1`, token);
  const credentials: (string | undefined)[] = [key, token, await bed.human(), undefined];
  const words = [
    run,
    'a1',
    'tdd',
    'PLAN',
    'TDD',
    'read_files',
    'bash',
    'full',
    '',
    'x'.repeat(300),
    '../..',
    '\u0000',
  ];
  return {
    credentials,
    words,
    learn({ phase_token, key: made, run: id, gate, shown }) {
      for (const secret of [phase_token, made]) {
        if (typeof secret === 'string') credentials.push(secret);
      }
      for (const word of [id, gate, shown, own(gate, 'id')]) {
        if (typeof word === 'string') words.push(word);
      }
    },
  };
}

type Chance = (below: number) => number;

function callFrom(document: JsonObject, known: Known, chance: Chance) {
  const routes = Object.entries(own(document, 'paths') as JsonObject).flatMap(([path, methods]) =>
    Object.entries(methods as JsonObject).map(([method, operation]) => ({ path, method, operation })),
  );
  const served = routes.filter(({ path }) => path.startsWith('/api/v1/') && !UNUSUAL.has(path));
  const { path, method, operation } = served[chance(served.length)] as (typeof served)[number];
  const schema = own(own(own(own(operation, 'requestBody'), 'content'), 'application/json'), 'schema');
  const wordAt = () => encodeURIComponent(known.words[chance(known.words.length)] || 'x');
  return {
    method: method.toUpperCase(),
    path: path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, wordAt),
    body: schema === undefined ? undefined : valueFor(schema, { document, known, chance }, 0),
  };
}

/** A stream never ends, and signing in and out is another matter. */
const UNUSUAL = new Set(['/api/v1/events', '/api/v1/session', '/api/v1/audit/export']);

interface Making {
  readonly document: JsonObject;
  readonly known: Known;
  readonly chance: Chance;
}

/** Mostly what the schema asks for, at times anything. */
function valueFor(schema: Json, making: Making, depth: number): Json {
  const { document, known, chance } = making;
  if (chance(12) === 0) return ODD[chance(ODD.length)] ?? null;
  const reference = own(schema, '$ref');
  if (typeof reference === 'string') {
    const name = reference.replace('#/components/schemas/', '');
    return valueFor(own(own(own(document, 'components'), 'schemas'), name) ?? null, making, depth);
  }
  const choices = own(schema, 'anyOf');
  if (Array.isArray(choices)) return valueFor(choices[chance(choices.length)] ?? null, making, depth);
  const values = own(schema, 'enum');
  if (Array.isArray(values)) return values[chance(values.length)] ?? null;
  const properties = own(schema, 'properties');
  if (isJsonObject(properties)) {
    const required = own(schema, 'required');
    const kept = Object.entries(properties).filter(
      ([name]) => (Array.isArray(required) && required.includes(name)) || chance(3) === 0,
    );
    return Object.fromEntries(kept.map(([name, field]) => [name, valueFor(field, making, depth + 1)]));
  }
  switch (own(schema, 'type')) {
    case 'string':
      return known.words[chance(known.words.length)] ?? '';
    case 'integer':
    case 'number':
      return chance(4);
    case 'boolean':
      return chance(2) === 0;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: depth > 4 ? 0 : chance(4) }, () =>
        valueFor(own(schema, 'items') ?? null, making, depth + 1),
      );
    default:
      return chance(2) === 0 ? PLAN : { path: 'a.txt', test_run_result: { failed: 1 }, review: {} };
  }
}

const ODD: readonly Json[] = [null, -1, 1e21, 0.5, '', [], {}, true, '🙂', { constructor: 1, toString: 2 }];
