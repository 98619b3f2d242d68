import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@phasegate/core';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { openKeys } from './keys.ts';
import type { AuditDraft, SealedRow } from './ports.ts';
import { createSeal } from './seal.ts';

const folders: string[] = [];
const seal = newSeal();

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe('a chain', () => {
  test('hashes the canonical JSON of every other field, whatever the data', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.option(fc.string({ unit: 'binary' })),
        (data, principal, run) => {
          const [record] = seal.chain(run, { seq: 6, hash: 'before' }, [
            draft({ data: data as Json, principal }),
          ]);

          const { hash, dataText, ...rest } = { ...record };
          expect(dataText).toBe(plainCanonical(data as Json));
          expect(rest).toEqual({ ...draft({ data: data as Json, principal }), run, seq: 7, prev: 'before' });
          expect(hash).toBe(
            createHash('sha256')
              .update(plainCanonical(rest as Json))
              .digest('hex'),
          );
        },
      ),
      { numRuns: cases({ quick: 100, full: 2000 }) },
    );
  });

  test('is the same for equal data, in whatever order its members were written', () => {
    const one = seal.chain('r', { seq: 0, hash: '' }, [draft({ data: { b: 1, a: { d: 2, c: 3 } } })]);
    const two = seal.chain('r', { seq: 0, hash: '' }, [draft({ data: { a: { c: 3, d: 2 }, b: 1 } })]);
    expect(two[0]?.hash).toBe(one[0]?.hash);
  });

  test('links each record to the one before it', () => {
    const records = seal.chain('r', { seq: 2, hash: 'h2' }, [draft({}), draft({}), draft({})]);
    expect(records.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(records.map(({ prev }) => prev)).toEqual(['h2', records[0]?.hash, records[1]?.hash]);
    expect(new Set(records.map(({ hash }) => hash)).size).toBe(3);
  });
});

describe('a row', () => {
  const row: SealedRow = { runId: 'r1', version: 3, seq: 12, hash: 'ab', state: '{"a":1}' };

  test('has another MAC when any of its parts differs', () => {
    const changes: Partial<SealedRow>[] = [
      {},
      { runId: 'r2' },
      { version: 4 },
      { seq: 13 },
      { hash: 'ac' },
      { state: '{"a":2}' },
      { version: 31, seq: 2 },
      { runId: 'r1",3', version: 1 },
      { hash: 'ab"]\n', state: '{"a":1}' },
    ];
    const macs = changes.map((change) => seal.mac({ ...row, ...change }));
    expect(new Set(macs).size).toBe(changes.length);
    expect(seal.mac(row)).toBe(macs[0]);
  });

  test('cannot be sealed without the key', () => {
    expect(newSeal().mac(row)).not.toBe(seal.mac(row));
  });
});

test('a fingerprint is a keyed number of 256 bits that differs by run and head', () => {
  const heads = [
    seal.fingerprint('r1', { seq: 1, hash: 'a' }),
    seal.fingerprint('r1', { seq: 2, hash: 'a' }),
    seal.fingerprint('r1', { seq: 1, hash: 'b' }),
    seal.fingerprint('r2', { seq: 1, hash: 'a' }),
    newSeal().fingerprint('r1', { seq: 1, hash: 'a' }),
  ];
  expect(new Set(heads).size).toBe(5);
  expect(heads.every((value) => value >= 0n && value < 2n ** 256n)).toBe(true);
});

test('a signature holds for its text and its key only', () => {
  const signature = seal.sign('the head');
  expect(seal.verifySignature('the head', signature)).toBe(true);
  expect(seal.verifySignature('the heaD', signature)).toBe(false);
  expect(seal.verifySignature('the head', `${signature.slice(0, -4)}AAAA`)).toBe(false);
  expect(seal.verifySignature('the head', '')).toBe(false);
  expect(newSeal().verifySignature('the head', signature)).toBe(false);
});

function newSeal() {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-seal-'));
  folders.push(folder);
  return createSeal(openKeys(folder));
}

function draft(change: Partial<AuditDraft>): AuditDraft {
  return {
    time: '2026-01-01T00:00:00.000Z',
    principal: 'agent:local',
    event: 'tool_judged',
    data: {},
    ...change,
  };
}

/** RFC 8785 once more, in the plainest words, to compare with. */
function plainCanonical(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => plainCanonical(item)).join()}]`;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([key, member]) => `${plainCanonical(key)}:${plainCanonical(member)}`).join()}}`;
}
