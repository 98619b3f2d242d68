import { expect, test } from 'vitest';
import { createHumanKey, unlockHumanKey, unsealHumanKey, verifyHumanSignature } from './humanKeys.ts';
import { openSealed, sealFor } from './sealedKey.ts';

const BY = { secret: 'pgs_one', bound: 'row 1' };

test('what is sealed for a secret is opened by it alone, for what it was bound to, and as it was', () => {
  const sealed = sealFor(Buffer.from('a key'), BY);
  const bytes = Buffer.from(sealed, 'base64url');

  expect(openSealed(sealed, BY)?.toString()).toBe('a key');
  expect(openSealed(sealed, { ...BY, secret: 'pgs_two' })).toBe(null);
  expect(openSealed(sealed, { ...BY, bound: 'row 2' })).toBe(null);
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openSealed(changed.toString('base64url'), BY)).toBe(null);
    expect(openSealed(bytes.subarray(0, at).toString('base64url'), BY)).toBe(null);
  }
  expect(sealFor(Buffer.from('a key'), BY)).not.toBe(sealed);
});

test("a human's key that was sealed signs as before", async () => {
  const record = await createHumanKey('open sesame');
  const signer = await unlockHumanKey(record, 'open sesame');
  const sealed = signer?.sealedKey(BY) ?? '';

  const again = unsealHumanKey(sealed, BY);

  expect(verifyHumanSignature(record.publicKey, 'yes', again?.sign('yes') ?? '')).toBe(true);
  expect(unsealHumanKey(sealed, { ...BY, secret: 'pgs_two' })).toBe(null);
});
