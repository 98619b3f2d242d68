import { PhasegateError } from '@phasegate/core';
import { createHumanKey, unlockHumanKey } from './humanKeys.ts';
import type { HumanRecord, Humans, Store, UnlockedHuman } from './ports.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** The humans of a project: who they are, and that a passphrase is theirs. */
export function createHumans(store: Store, now: () => string): Humans {
  const record = (
    principal: string,
    event: 'human_added' | 'human_removed' | 'credential_failed',
    human: string,
  ) => [{ time: now(), principal, event, data: { human } }];

  return {
    async list() {
      return (await store.humans()).map(({ name, addedAt }) => ({ name, addedAt }));
    },

    async add(name, passphrase, by) {
      if (!NAME.test(name)) {
        throw new PhasegateError(
          'usage',
          `\`${name}\` is no name: use letters, digits, \`.\`, \`_\`, \`@\` and \`-\``,
        );
      }
      const humans = await store.humans();
      if (humans.some((human) => human.name === name)) {
        throw new PhasegateError('usage', `\`${name}\` is set up already`, {
          hint: `phasegate humans remove ${name}`,
        });
      }
      // Once there is a human, only a human makes another: else an agent would make its own approver.
      if (humans.length > 0 && by === null) {
        throw new PhasegateError('not_permitted', 'a human is set up, so adding another needs that human', {
          hint: `phasegate humans add ${name} --as ${humans[0]?.name}`,
        });
      }
      const key = await createHumanKey(passphrase);
      const principal = by === null ? 'setup' : `human:${by.principal.name}`;
      await store.putHuman({ name, ...key, addedAt: now() }, record(principal, 'human_added', name));
    },

    async remove(name, by) {
      const humans = await store.humans();
      if (!humans.some((human) => human.name === name)) throw unknownHuman(name, humans);
      if (humans.length === 1) {
        throw new PhasegateError(
          'not_permitted',
          `\`${name}\` is the only human; without one nobody can decide`,
        );
      }
      await store.removeHuman(name, record(`human:${by.principal.name}`, 'human_removed', name));
    },

    async unlock(name, passphrase) {
      const human = choose(await store.humans(), name);
      const signer = await unlockHumanKey(human, passphrase);
      if (signer === null) {
        await store.note(null, record('unknown', 'credential_failed', human.name));
        throw new PhasegateError('credential_invalid', `the passphrase of \`${human.name}\` is wrong`);
      }
      const unlocked: UnlockedHuman = { principal: { kind: 'human', name: human.name }, sign: signer.sign };
      return unlocked;
    },
  };
}

function choose(humans: readonly HumanRecord[], name: string | undefined): HumanRecord {
  const [first, second] = humans;
  if (first === undefined) {
    throw new PhasegateError('no_human', 'a human must act and none is set up', { hint: 'phasegate init' });
  }
  if (name === undefined) {
    if (second === undefined) return first;
    const names = humans.map((human) => human.name).join(', ');
    throw new PhasegateError('usage', `several humans are set up (${names}); say which`, {
      hint: '--as NAME',
    });
  }
  const found = humans.find((human) => human.name === name);
  if (found === undefined) throw unknownHuman(name, humans);
  return found;
}

function unknownHuman(name: string, humans: readonly HumanRecord[]): PhasegateError {
  const names = humans.map((human) => human.name).join(', ') || 'nobody';
  return new PhasegateError('usage', `there is no human \`${name}\`; set up: ${names}`);
}
