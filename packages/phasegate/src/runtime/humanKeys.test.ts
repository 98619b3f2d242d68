import { expect, test } from 'vitest';
import { createHumanKey, rememberingKeys, unlockHumanKey, verifyHumanSignature } from './humanKeys.ts';

test('the right passphrase opens a key whose signatures verify', async () => {
  const key = await createHumanKey('correct horse');
  const signer = await unlockHumanKey(key, 'correct horse');

  const signature = signer?.sign('{"gate":"ship#1"}') ?? '';
  expect(verifyHumanSignature(key.publicKey, '{"gate":"ship#1"}', signature)).toBe(true);
  expect(verifyHumanSignature(key.publicKey, '{"gate":"ship#2"}', signature)).toBe(false);
});

test('a wrong passphrase opens nothing', async () => {
  const key = await createHumanKey('correct horse');
  expect(await unlockHumanKey(key, 'correct hors')).toBe(null);
  expect(await unlockHumanKey(key, '')).toBe(null);
});

test('the same words in another Unicode form are the same passphrase', async () => {
  const key = await createHumanKey('grüße-ﬁn'.normalize('NFC'));
  expect(await unlockHumanKey(key, 'grüße-ﬁn'.normalize('NFD'))).not.toBe(null);
});

test.each(['', 'short', 'seven77', '🙂🙂🙂🙂'])(
  'a passphrase as short as `%s` is refused',
  async (passphrase) => {
    await expect(createHumanKey(passphrase)).rejects.toMatchObject({ code: 'usage' });
  },
);

test('nothing of the private key or the passphrase stands in the record, and no two records are alike', async () => {
  const [one, two] = [await createHumanKey('correct horse'), await createHumanKey('correct horse')];
  expect(JSON.stringify(one)).not.toContain('correct');
  expect(one.publicKey).not.toBe(two.publicKey);
  expect(one.wrappedKey.salt).not.toBe(two.wrappedKey.salt);
  expect(one.wrappedKey).toMatchObject({ kdf: 'scrypt', n: 32768, r: 8, p: 1 });
});

test("a wrapped key moved to another human's record opens nothing", async () => {
  const [ada, eve] = [await createHumanKey('passphrase of ada'), await createHumanKey('passphrase of eve')];
  const forged = { publicKey: ada.publicKey, wrappedKey: eve.wrappedKey };
  expect(await unlockHumanKey(forged, 'passphrase of eve')).toBe(null);
});

test.each([{ n: 2 }, { n: 2 ** 30 }, { r: 1 }, { p: 0 }])(
  'a record with other costs (%o) is refused without deriving anything',
  async (costs) => {
    const key = await createHumanKey('correct horse');
    const doctored = { ...key, wrappedKey: { ...key.wrappedKey, ...costs } };
    await expect(unlockHumanKey(doctored, 'correct horse')).rejects.toMatchObject({ code: 'state_tampered' });
  },
);

test.each([{ iv: '' }, { tag: 'AAAA' }, { ciphertext: '' }, { salt: 'AAAA' }])(
  'a damaged record (%o) opens nothing',
  async (damage) => {
    const key = await createHumanKey('correct horse');
    const damaged = { ...key, wrappedKey: { ...key.wrappedKey, ...damage } };
    expect(await unlockHumanKey(damaged, 'correct horse')).toBe(null);
  },
);

test('a malformed key or signature verifies nothing', async () => {
  const { publicKey } = await createHumanKey('correct horse');
  expect(verifyHumanSignature('', 'text', 'AAAA')).toBe(false);
  expect(verifyHumanSignature('not a key', 'text', 'AAAA')).toBe(false);
  expect(verifyHumanSignature(publicKey, 'text', '')).toBe(false);
  expect(verifyHumanSignature(publicKey, 'text', '!')).toBe(false);
});

test('keys of humans in tests are as costly as others, open as others do, and are derived once', async () => {
  const keys = rememberingKeys();
  const made = await createHumanKey('correct horse', keys);
  const salt = Buffer.from(made.wrappedKey.salt, 'base64url');

  expect(made.wrappedKey).toMatchObject({ kdf: 'scrypt', n: 32768, r: 8, p: 1 });
  expect(await unlockHumanKey(made, 'correct horse')).not.toBe(null);
  expect(await unlockHumanKey(await createHumanKey('correct horse'), 'correct horse', keys)).not.toBe(null);
  expect(await unlockHumanKey(made, 'correct hors', keys)).toBe(null);
  expect(keys.derive('correct horse', salt)).toBe(keys.derive('correct horse', salt));
  expect(rememberingKeys().salt()).not.toEqual(keys.salt());
});
