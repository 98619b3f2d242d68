import { type JsonObject, PhasegateError } from '@phasegate/core';
import { passkeyText } from '@phasegate/core/contract';
import type {
  Assertion,
  AuditStore,
  HumanRecord,
  HumanStore,
  NewPasskey,
  Passkey,
  Passkeys,
  UnlockedHuman,
} from '../ports.ts';
import { demandPresent } from '../presentHuman.ts';
import { demandRole } from '../roles.ts';
import { untilKept } from '../untilKept.ts';
import { assertionFault, challengeFor, counterOf, passkeyKey, writeAssertion } from './assertion.ts';
import { goodPasskey } from './humanSigned.ts';

/** The passkeys of a project's humans. Each is part of its human's sealed record, and signed by the human's own key. */
export function createPasskeys(store: AuditStore & HumanStore, now: () => string): Passkeys {
  const draft = (who: string, event: 'passkey_added' | 'passkey_removed', data: JsonObject) => [
    { time: now(), principal: `human:${who}`, event, data },
  ];

  async function refuse(human: string, reason: string): Promise<PhasegateError> {
    const data = { human, credential: 'passkey', reason };
    await store.note(null, [{ time: now(), principal: 'unknown', event: 'credential_failed', data }]);
    return new PhasegateError('credential_invalid', `the passkey proves nothing here: ${reason}`, {
      hint: 'try again, or give the passphrase',
    });
  }

  return {
    async list() {
      const humans = await store.humans();
      return humans.flatMap((human) =>
        (human.passkeys ?? [])
          .filter(({ id }) => goodPasskey(human, id) !== undefined)
          .map((passkey) => ({ ...passkey, human: human.name })),
      );
    },

    async add(added, by) {
      const { name } = by.principal;
      if (by.passkey !== undefined) {
        throw new PhasegateError(
          'not_permitted',
          'a new passkey is signed by the key that the passphrase opens',
          {
            hint: 'give the passphrase: a passkey that is borrowed for a moment must not make another',
          },
        );
      }
      await untilKept(async () => {
        const humans = await store.humans();
        const human = demandPresent(humans, by);
        demandFit(added, human, humans);
        const passkey = signedPasskey(added, by, now());
        const { id, publicKey, origin, label, signature } = passkey;
        const told = { human: name, passkey: id, publicKey, origin, label, signature };
        const changed = { ...human, passkeys: [...(human.passkeys ?? []), passkey] };
        return store.putHuman(changed, draft(name, 'passkey_added', told), humans);
      });
    },

    async remove(id, by) {
      await untilKept(async () => {
        const humans = await store.humans();
        demandPresent(humans, by);
        const owner = humans.find((human) => human.passkeys?.some((one) => isGood(one) && one.id === id));
        if (owner === undefined) throw new PhasegateError('usage', 'there is no such passkey');
        const { name } = by.principal;
        if (owner.name !== name) {
          await demandRole(store, by.principal, { least: 'admin', what: "removing another's passkey" });
        }
        const removedAt = now();
        const changed = {
          ...owner,
          passkeys: (owner.passkeys ?? []).map((one) => (one.id === id ? { ...one, removedAt } : one)),
        };
        const told = { human: owner.name, passkey: id };
        return store.putHuman(changed, draft(name, 'passkey_removed', told), humans);
      });
    },

    challenge: async (text, nonce) => challengeFor(text, nonce),

    async prove(name, { text, origin }, assertion) {
      await untilKept(async () => {
        const humans = await store.humans();
        const human = humans.find((record) => record.name === name);
        const passkey = human && goodPasskey(human, assertion.id);
        if (human === undefined || passkey === undefined) {
          throw await refuse(name, 'it is not one of this human');
        }
        const fault =
          passkey.origin === origin
            ? assertionFault(passkey, text, assertion)
            : `it is for pages of \`${passkey.origin}\``;
        if (fault !== null) throw await refuse(name, fault);
        const [before, counter] = [passkey.counter ?? 0, counterOf(assertion)];
        if (before === 0 && counter === 0) return true;
        // An authenticator that counts never goes back: this is a copy of it, or an assertion from before.
        if (counter <= before) throw await refuse(name, 'its count went back, so there may be a copy of it');
        const passkeys = (human.passkeys ?? []).map((one) => (one === passkey ? { ...one, counter } : one));
        return store.putHuman({ ...human, passkeys }, [], humans);
      });
      return provenHuman(name, text, assertion);
    },
  };
}

const MOST = 20;
/** With those that were removed, which every reader of the humans reads along. */
const MOST_EVER = 200;
const LONGEST_LABEL = 64;
const LONGEST_ID = 1366;

function isGood({ removedAt }: Passkey): boolean {
  return removedAt === undefined;
}

function signedPasskey(added: NewPasskey, by: UnlockedHuman, at: string): Passkey {
  const { id, publicKey, origin, label, transports, counter = 0 } = added;
  const signature = by.sign(passkeyText({ id, publicKey, origin, label, by: by.principal.name, at }));
  return {
    id,
    publicKey,
    origin,
    label,
    addedAt: at,
    signature,
    ...(transports === undefined ? {} : { transports }),
    ...(counter === 0 ? {} : { counter }),
  };
}

function demandFit(added: NewPasskey, human: HumanRecord, humans: readonly HumanRecord[]): void {
  const problem = problemOf(added, human, humans);
  if (problem !== null) throw new PhasegateError('usage', problem);
}

function problemOf(added: NewPasskey, human: HumanRecord, humans: readonly HumanRecord[]): string | null {
  const { id, publicKey, label } = added;
  if (label.trim() === '' || [...label].length > LONGEST_LABEL) {
    return `a passkey has a name of 1 to ${LONGEST_LABEL} characters`;
  }
  if (/\p{C}/u.test(label)) return 'the name of a passkey holds characters that cannot be seen';
  if (!/^[\w-]+$/.test(id) || id.length > LONGEST_ID || passkeyKey(publicKey) === null) {
    return 'this passkey cannot be used: its key is of a kind that is not known here';
  }
  // One that was removed is gone for good: what it signed before must not count again.
  if (humans.some(({ passkeys = [] }) => passkeys.some((one) => one.id === id))) {
    return 'this passkey is registered already, or was removed';
  }
  const all = human.passkeys ?? [];
  if (all.length >= MOST_EVER) {
    return `\`${human.name}\` has had ${MOST_EVER} passkeys, and their records stay; another admin begins anew with \`phasegate humans reset ${human.name}\``;
  }
  const good = all.filter(isGood);
  if (good.length >= MOST) return `\`${human.name}\` has ${MOST} passkeys; remove one first`;
  return good.some((one) => one.label === label) ? `there is a passkey called \`${label}\` already` : null;
}

/** Signs the one text that was asserted, and nothing else. */
function provenHuman(name: string, text: string, assertion: Assertion): UnlockedHuman {
  return {
    principal: { kind: 'human', name },
    passkey: assertion.id,
    sign(asked) {
      if (asked === text) return writeAssertion(assertion);
      throw new PhasegateError('not_permitted', 'this is signed by the key that the passphrase opens', {
        hint: 'give the passphrase: a passkey proves an act and cannot open that key',
      });
    },
  };
}
