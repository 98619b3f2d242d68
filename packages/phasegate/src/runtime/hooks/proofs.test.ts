import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../stores/memory.ts';
import { PROOF } from '../fixtures/clientProof.ts';
import { openKeys } from '../keys.ts';
import { createSeal } from '../seal.ts';
import { createProofRecords, createProofs, type LookAgain } from './proofs.ts';

const seal = createSeal(openKeys(mkdtempSync(join(tmpdir(), 'phasegate-proofs-'))));
const PLACE = { session: 's1', cwd: '/project' };

test.each<[string, LookAgain, string]>([
  ['nothing changed', async () => PROOF, 'hooked'],
  ['the client is another', async () => ({ ...PROOF, identity: 'd' }), 'served'],
  ['its settings are others', async () => ({ ...PROOF, settings: [] }), 'served'],
  ['the kernel is another', async () => ({ ...PROOF, kernel: 'linux 7' }), 'served'],
  ['the client is gone', async () => null, 'served'],
  ['it cannot be looked at', () => Promise.reject(new Error('gone')), 'served'],
])('where %s since the proof, sessions are as it says', async (_, look, ring) => {
  const parts = { store: createMemoryStore({ seal }), now: () => 0 };
  const records = createProofRecords(parts, look);
  const proofs = createProofs(parts, look);
  expect(await proofs.ringOf('claude', PLACE)).toBe('served');

  await records.keep(PROOF);

  expect(await proofs.ringOf('claude', PLACE)).toBe(ring);
  expect(await proofs.ringOf('codex', PLACE)).toBe('served');
  expect(await records.all()).toEqual([{ proof: PROOF, stands: ring === 'hooked' }]);
});
