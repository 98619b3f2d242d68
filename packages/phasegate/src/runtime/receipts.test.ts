import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openKeys } from './keys.ts';
import type { Receipt } from './ports.ts';
import { makeReceipt, verifyReceipt } from './receipts.ts';
import { createSeal } from './seal.ts';

describe('a receipt', () => {
  test('is verified with the public key alone', () => {
    const { receipt, publicKey } = signed();

    expect(verifyReceipt(receipt, publicKey)).toBe(true);
  });

  test.each(Object.keys(record()))('whose `%s` was changed is not verified', (field) => {
    const { receipt, publicKey } = signed();
    const value = receipt[field as keyof Receipt];
    const other = typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : 'other';

    expect(verifyReceipt({ ...receipt, [field]: other } as Receipt, publicKey)).toBe(false);
  });

  test('with a field more, one less, another signature or under another key is not verified', () => {
    const { receipt, publicKey } = signed();
    const { tree: _tree, ...less } = receipt;

    expect(verifyReceipt({ ...receipt, extra: 1 } as Receipt, publicKey)).toBe(false);
    expect(verifyReceipt(less as Receipt, publicKey)).toBe(false);
    expect(verifyReceipt({ ...receipt, signature: signed().receipt.signature }, publicKey)).toBe(false);
    expect(verifyReceipt({ ...receipt, signature: '' }, publicKey)).toBe(false);
    expect(verifyReceipt(receipt, signed().publicKey)).toBe(false);
    expect(verifyReceipt(receipt, 'no key')).toBe(false);
    expect(verifyReceipt(null as unknown as Receipt, publicKey)).toBe(false);
  });
});

function signed(): { readonly receipt: Receipt; readonly publicKey: string } {
  const keys = openKeys(mkdtempSync(join(tmpdir(), 'phasegate-receipts-')));
  return { receipt: makeReceipt(record(), createSeal(keys)), publicKey: keys.audit.publicKey };
}

function record(): Omit<Receipt, 'signature'> {
  return {
    id: 'receipt-1',
    run: 'run-1',
    phase: 'PLAN',
    epoch: 1,
    agent: 'ada',
    tool: 'bash',
    input_hash: 'a',
    output_hash: 'b',
    ok: true,
    exit_code: 0,
    tree: null,
    started_at: '2026-11-15T12:00:00.000Z',
    ended_at: '2026-11-15T12:00:01.000Z',
  };
}
