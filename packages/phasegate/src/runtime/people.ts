import { type JsonObject, PhasegateError } from '@phasegate/core';
import { isPrincipalName } from '@phasegate/core/contract';
import { createHumanKey, type KeyDerivation, rewrapHumanKey, unlockHumanKey } from './humanKeys.ts';
import type {
  AgentStore,
  AuditStore,
  HumanRecord,
  HumanStore,
  Humans,
  Role,
  UnlockedHuman,
} from './ports.ts';
import { demandPresent } from './presentHuman.ts';
import { demandRole, roleOf } from './roles.ts';
import { untilKept } from './untilKept.ts';

/** The humans of a project: who they are, and that a passphrase is theirs. */
export function createHumans(
  store: AgentStore & AuditStore & HumanStore,
  now: () => string,
  keys?: KeyDerivation,
): Humans {
  const record = (
    principal: string,
    event: 'human_added' | 'human_removed' | 'passphrase_changed' | 'credential_failed',
    human: string,
    more: JsonObject = {},
  ) => [{ time: now(), principal, event, data: { human, ...more } }];

  async function wrongPassphrase(name: string): Promise<PhasegateError> {
    await store.note(null, record('unknown', 'credential_failed', name));
    return new PhasegateError('credential_invalid', `the passphrase of \`${name}\` is wrong`, {
      hint: `call it again; where it is forgotten, another human gives a new one with \`phasegate humans reset ${name} --as OTHER\``,
    });
  }

  /** Anyone who deletes humans, and what the chain says of them, must not become the first one. */
  async function demandWholeChain(): Promise<void> {
    const { ok, findings } = await store.verify();
    if (ok) return;
    throw new PhasegateError('audit_broken', `no human can be set up first: ${findings[0]?.message ?? ''}`, {
      hint: '`phasegate audit verify` says what is wrong; put a backup back with `phasegate restore FILE`',
    });
  }

  /** Anyone who reads the audit must not take an agent that was there first for the human. */
  async function demandNoAgent(name: string): Promise<void> {
    const plain = name.toLowerCase();
    const agent = (await store.agents()).find((found) => found.name.toLowerCase() === plain);
    if (agent === undefined) return;
    throw new PhasegateError('usage', `\`${agent.name}\` is the name of an agent; take another name`, {
      hint: `or remove the agent: phasegate agents remove ${agent.name}`,
    });
  }

  return {
    async list() {
      return (await store.humans()).map(({ name, role, addedAt, changedAt }) => ({
        name,
        role: roleOf({ ...(role === undefined ? {} : { role }) }),
        addedAt,
        ...(changedAt === undefined ? {} : { changedAt }),
      }));
    },

    async add(added, passphrase, by) {
      const { name, role } = typeof added === 'string' ? { name: added, role: 'admin' as const } : added;
      if (!isPrincipalName(name)) {
        throw new PhasegateError(
          'usage',
          `\`${name}\` is not a name: use letters, digits, \`.\`, \`_\`, \`@\` and \`-\``,
        );
      }
      await demandNoAgent(name);
      await untilKept(async () => {
        const humans = await store.humans();
        // Two names that differ in case alone would be taken for one human by everybody who reads them.
        const there = humans.find((human) => human.name.toLowerCase() === name.toLowerCase());
        if (there !== undefined) {
          throw new PhasegateError('usage', `\`${there.name}\` is set up already`, {
            hint: `phasegate humans passphrase ${there.name}`,
          });
        }
        // Once there is a human, only a human makes another: else an agent would make its own approver.
        if (humans.length > 0 && by === null) {
          throw new PhasegateError('not_permitted', 'a human is set up, so adding another needs that human', {
            hint: `phasegate humans add ${name} --as ${humans[0]?.name}`,
          });
        }
        if (by === null) {
          demandAdmin(name, role);
          await demandWholeChain();
        } else {
          demandPresent(humans, by);
          await demandRole(store, by.principal, { least: 'admin', what: 'adding a human' });
        }
        const key = await createHumanKey(passphrase, keys);
        const principal = by === null ? 'setup' : `human:${by.principal.name}`;
        const maker = by === null ? {} : { addedBy: by.principal.name };
        const human = { name, ...key, role, addedAt: now(), ...maker };
        return store.putHuman(human, record(principal, 'human_added', name, { role }), humans);
      });
    },

    async remove(name, by) {
      await untilKept(async () => {
        const humans = await store.humans();
        if (!humans.some((human) => human.name === name)) throw unknownHuman(name, humans);
        if (humans.length === 1) {
          throw new PhasegateError(
            'not_permitted',
            `\`${name}\` is the only human; without one nobody can decide`,
          );
        }
        demandPresent(humans, by);
        await demandRole(store, by.principal, { least: 'admin', what: 'removing a human' });
        if (!humans.some((human) => human.name !== name && roleOf(human) === 'admin')) {
          throw new PhasegateError(
            'not_permitted',
            `\`${name}\` is the last admin; without one nobody could add another`,
            {
              hint: `make another first: phasegate humans add NAME --role admin --as ${name}`,
            },
          );
        }
        return store.removeHuman(name, record(`human:${by.principal.name}`, 'human_removed', name), humans);
      });
    },

    async changePassphrase(name, old, passphrase) {
      await untilKept(async () => {
        const humans = await store.humans();
        const human = choose(humans, name);
        const changed = await rewrapHumanKey(human, { old, passphrase }, keys);
        if (changed === null) throw await wrongPassphrase(human.name);
        const draft = record(`human:${human.name}`, 'passphrase_changed', human.name);
        return store.putHuman({ ...human, ...changed, changedAt: now() }, draft, humans);
      });
    },

    async reset(name, passphrase, by) {
      await untilKept(async () => {
        const humans = await store.humans();
        const human = humans.find((record) => record.name === name);
        if (human === undefined) throw unknownHuman(name, humans);
        if (by.principal.name === name) {
          throw new PhasegateError('usage', `\`${name}\` has the passphrase, so there is nothing to reset`, {
            hint: `phasegate humans passphrase ${name}`,
          });
        }
        demandPresent(humans, by);
        await demandRole(store, by.principal, { least: 'admin', what: 'giving a human a new key' });
        // Nobody can open the old key any more, so there is a new one; what the old one signed stays signed by it.
        const key = await createHumanKey(passphrase, keys);
        const who = `human:${by.principal.name}`;
        const role = roleOf(human);
        const drafts = [...record(who, 'human_removed', name), ...record(who, 'human_added', name, { role })];
        const made = { name, role, ...key, addedAt: now(), addedBy: by.principal.name };
        return store.putHuman(made, drafts, humans);
      });
    },

    async unlock(name, passphrase) {
      const human = choose(await store.humans(), name);
      const signer = await unlockHumanKey(human, passphrase, keys);
      if (signer === null) throw await wrongPassphrase(human.name);
      const { addedAt, changedAt } = human;
      const asOf = { addedAt, ...(changedAt === undefined ? {} : { changedAt }) };
      const unlocked: UnlockedHuman = { principal: { kind: 'human', name: human.name }, ...signer, asOf };
      return unlocked;
    },

    demand: (human, least, what) => demandRole(store, human, { least, what }),
  };
}

/** Somebody must be able to add others. */
function demandAdmin(name: string, role: Role): void {
  if (role === 'admin') return;
  throw new PhasegateError('usage', `\`${name}\` is the first human, who is an admin`, {
    hint: `phasegate humans add ${name}`,
  });
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
  return new PhasegateError('usage', `there is no human \`${name}\`; set up: ${names}`, {
    hint: 'name one of them; `phasegate humans list` shows who may do what',
  });
}
