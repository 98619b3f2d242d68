import type { HumanRecord } from '../ports/humans.ts';
import type { Clause } from './clause.ts';
import { SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with humans. */
export const HUMAN_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps humans by name, replaces and removes them, and records each',
    async body(store, expect) {
      expect(await store.humans()).toEqual([]);
      await store.putHuman(sampleHuman('eve', 'key-1'), [sampleDraft('human_added')]);
      await store.putHuman(sampleHuman('ada', 'key-2'), [sampleDraft('human_added')]);
      await store.putHuman(sampleHuman('eve', 'key-3'), [sampleDraft('human_added')]);
      expect(await store.humans()).toEqual([sampleHuman('ada', 'key-2'), sampleHuman('eve', 'key-3')]);
      expect(await store.removeHuman('ada', [sampleDraft('human_removed')])).toBe(true);
      expect(await store.removeHuman('ada', [sampleDraft('human_removed')])).toBe(false);
      expect(await store.humans()).toEqual([sampleHuman('eve', 'key-3')]);
      await store.putHuman(sampleHuman('ada', 'key-2'), [sampleDraft('human_added')]);
      expect((await store.humans()).length).toBe(2);
      const records = await store.history(null, { after: 0, limit: 10 });
      expect(records.map(({ event }) => event)).toEqual([
        'human_added',
        'human_added',
        'human_added',
        'human_removed',
        'human_added',
      ]);
      expect(records[0]?.data).toEqual({ name: 'eve', publicKey: 'key-1' });
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'changes humans only among those the caller has seen, no matter who comes first',
    async body(store, expect) {
      const first = [sampleHuman('ada', 'key-1'), sampleHuman('eve', 'key-2')];
      const added = await Promise.all(
        first.map((human) => store.putHuman(human, [sampleDraft('human_added')], [])),
      );
      expect([...added].sort()).toEqual([false, true]);
      const [there] = await store.humans();
      if (there === undefined) throw new TypeError('nobody was added');
      const other = sampleHuman('joe', 'key-3');
      expect(await store.putHuman(other, [sampleDraft('human_added')], [])).toBe(false);
      expect(await store.putHuman(other, [sampleDraft('human_added')], [there])).toBe(true);
      const both = await store.humans();
      const removed = await Promise.all(
        both.map(({ name }) => store.removeHuman(name, [sampleDraft('human_removed')], both)),
      );
      expect([...removed].sort()).toEqual([false, true]);
      expect((await store.humans()).length).toBe(1);
      const records = await store.history(null, { after: 0, limit: 10 });
      expect(records.map(({ event }) => event)).toEqual(['human_added', 'human_added', 'human_removed']);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'keeps a human under another passphrase, with the same key',
    async body(store, expect) {
      const ada = sampleHuman('ada', 'key-1');
      await store.putHuman(ada, [sampleDraft('human_added')]);
      const changed = { ...ada, wrappedKey: { ...ada.wrappedKey, tag: 'new' }, changedAt: SAMPLE_TIME };
      expect(await store.putHuman(changed, [sampleDraft('passphrase_changed')], [ada])).toBe(true);
      expect(await store.humans()).toEqual([changed]);
      expect(await store.putHuman(changed, [sampleDraft('passphrase_changed')], [ada])).toBe(false);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'keeps the passkeys of a human, and changes them only among those the caller has seen',
    async body(store, expect) {
      const ada = sampleHuman('ada', 'key-1');
      await store.putHuman(ada, [sampleDraft('human_added')]);
      const passkey = {
        id: 'p',
        publicKey: 'k',
        origin: 'o',
        label: 'l',
        addedAt: SAMPLE_TIME,
        signature: 's',
      };
      const told = { human: 'ada', passkey: 'p', publicKey: 'k' };
      const added = { ...ada, passkeys: [passkey] };
      expect(await store.putHuman(added, [sampleDraft('passkey_added', told)], [ada])).toBe(true);
      expect(await store.humans()).toEqual([added]);
      const used = { ...ada, passkeys: [{ ...passkey, counter: 1 }] };
      expect(await store.putHuman(used, [], [ada])).toBe(false);
      expect(await store.putHuman(used, [], [added])).toBe(true);
      expect(await store.putHuman(used, [], [added])).toBe(false);
      expect((await store.verify()).findings).toEqual([]);
      const removed = { ...ada, passkeys: [{ ...passkey, counter: 1, removedAt: SAMPLE_TIME }] };
      expect(await store.putHuman(removed, [sampleDraft('passkey_removed', told)], [used])).toBe(true);
      expect((await store.verify()).findings).toEqual([]);
      // One that counts again without a record on the chain is found.
      expect(await store.putHuman(used, [], [removed])).toBe(true);
      expect((await store.verify()).findings.length).toBe(1);
    },
  },
];

function sampleHuman(name: string, publicKey: string): HumanRecord {
  const wrappedKey = {
    kdf: 'scrypt',
    n: 32768,
    r: 8,
    p: 1,
    salt: 's',
    iv: 'i',
    tag: 't',
    ciphertext: 'c',
  } as const;
  return { name, publicKey, wrappedKey, addedAt: SAMPLE_TIME };
}
