import type { Role } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { askNewPassphrase, passphraseFrom } from '../passphrase.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate humans`: who may decide. */
export const humans: CliCommand = {
  usage: [
    'humans list',
    'humans add NAME [--role viewer|approver|admin] [--passphrase-fd N]',
    'humans remove NAME [--as NAME]',
    'humans passphrase NAME',
    'humans reset NAME [--as NAME]',
  ],
  details:
    'The first human needs no credential and is an admin; a further one is added, and any is removed, by an admin who\n' +
    'is there already (`--as`). A viewer looks; an approver also starts runs, decides, answers, resumes, stops and\n' +
    'settles changed files; an admin also has a say over humans, agents, webhooks, what is trusted, keys and restoring.\n' +
    'The last admin cannot be removed. ' +
    "With file descriptors: `--passphrase-fd` is the acting human's, `--new-passphrase-fd` the\n" +
    "new one's; for the first human either will do. `passphrase` changes one: the old on `--passphrase-fd`, the new on\n" +
    '`--new-passphrase-fd`. The key stays the same, and every session of that human ends. `reset` is for one who forgot\n' +
    'theirs: another human acts (`--as`), and NAME gets a new key. Decisions that the old key signed stay valid; a vote at\n' +
    'a gate that is still open is void, and cast again, and what NAME accepted with `phasegate trust` is accepted again, as\n' +
    'after `remove`. With one human alone nobody can: have two.',
  examples: [
    'phasegate humans add maria',
    'phasegate humans add joe --as maria --passphrase-fd 3 --new-passphrase-fd 4 3<~/maria.key 4<~/joe.key',
    'phasegate humans add ann --role viewer',
    'phasegate humans remove joe',
    'phasegate humans passphrase maria',
    'phasegate humans reset maria --as joe',
  ],
  options: {
    ...HUMAN_OPTIONS,
    role: {
      type: 'text',
      value: 'ROLE',
      summary: 'what a new human may do: viewer, approver or admin (default admin)',
    },
    'new-passphrase-fd': {
      type: 'text',
      value: 'N',
      summary: 'read the new passphrase from this file descriptor',
    },
  },
  setsUp: true,
  positionals: ['list|add|remove|passphrase|reset', '[NAME]'],
  async run(invocation) {
    const [action, name] = invocation.args.positionals as [string, string?];
    switch (action) {
      case 'list':
        return listHumans(invocation);
      case 'add':
        return addHuman(invocation, nameFor(action, name));
      case 'remove':
        return removeHuman(invocation, nameFor(action, name));
      case 'passphrase':
        return changePassphrase(invocation, nameFor(action, name));
      case 'reset':
        return resetHuman(invocation, nameFor(action, name));
      default:
        throw usageError(
          `\`phasegate humans\` has no \`${action}\``,
          'it has `list`, `add`, `remove`, `passphrase` and `reset`',
        );
    }
  },
};

async function listHumans({ out, open }: Invocation): Promise<ExitCode> {
  const found = await (await open()).humans.list();
  await out.result(
    { humans: found.map(({ name, role, addedAt }) => ({ name, role, added_at: addedAt })) },
    () =>
      found.length === 0
        ? 'no human is set up; add one with `phasegate humans add NAME`'
        : table(found.map(({ name, role, addedAt }) => [name, role, `since ${addedAt}`])),
  );
  return 0;
}

async function addHuman(invocation: Invocation, name: string): Promise<ExitCode> {
  const { args, out } = invocation;
  const role = roleFrom(args.text('role'));
  const credential = passphraseFrom(args, 'passphrase-fd');
  const given = passphraseFrom(args, 'new-passphrase-fd');
  const first = (await (await invocation.open()).humans.list()).length === 0;
  const by = first ? null : await unlockHuman(invocation, { read: credential });
  const own = given ?? (first ? credential : undefined);
  const passphrase = own ?? (await newPassphrase(invocation, name, first));
  await (await invocation.open()).humans.add({ name, role }, passphrase, by);
  await out.result({ name, role, added: true }, () =>
    [
      MAY_NOW[role](name),
      ...(first ? ['from now on only workflows accepted with `phasegate trust` start'] : []),
    ].join('\n'),
  );
  return 0;
}

const MAY_NOW: Readonly<Record<Role, (name: string) => string>> = {
  admin: (name) => `${name} may now decide at gates`,
  approver: (name) => `${name} may now decide at gates, as an approver`,
  viewer: (name) => `${name} may now look, and decides nothing`,
};

function roleFrom(given: string | undefined): Role {
  if (given === undefined) return 'admin';
  const roles = Object.keys(MAY_NOW) as Role[];
  const found = roles.find((role) => role === given);
  if (found !== undefined) return found;
  throw usageError(`\`${given}\` is not a role`, 'a human is a `viewer`, an `approver` or an `admin`');
}

async function newPassphrase(invocation: Invocation, name: string, first: boolean): Promise<string> {
  if (invocation.prompts === null && !first) {
    throw usageError(
      '`--new-passphrase-fd N` is missing: there is no terminal to ask on',
      'e.g. `--passphrase-fd 3 --new-passphrase-fd 4 3<OWN 4<NEW`, with files outside of the workspace that only you can read (mode 0600)',
    );
  }
  return askNewPassphrase(invocation, name);
}

async function removeHuman(invocation: Invocation, name: string): Promise<ExitCode> {
  const by = await unlockHuman(invocation);
  await (await invocation.open()).humans.remove(name, by);
  await invocation.out.result({ name, removed: true }, () => `${name} may no longer decide`);
  return 0;
}

async function changePassphrase(invocation: Invocation, name: string): Promise<ExitCode> {
  const { args, prompts, out } = invocation;
  const as = args.text('as');
  if (as !== undefined && as !== name) throw usageError(`only \`${name}\` can change that passphrase`);
  const { humans } = await invocation.open();
  // Asked before anything is typed.
  if (!(await humans.list()).some((human) => human.name === name)) {
    throw usageError(`there is no human \`${name}\``, '`phasegate humans list` names them');
  }
  const old = passphraseFrom(args, 'passphrase-fd') ?? (await prompts?.password(`Passphrase of ${name}`));
  if (old === undefined) {
    throw usageError(
      `the old and the new passphrase of \`${name}\` are needed, and there is no terminal to ask on`,
      'run it on a terminal, which asks for them; where there is none, `--passphrase-fd 3 --new-passphrase-fd 4 3<OLD 4<NEW` reads them from files outside of the workspace that only you can read (mode 0600)',
    );
  }
  const passphrase =
    passphraseFrom(args, 'new-passphrase-fd') ?? (await newPassphrase(invocation, name, false));
  await humans.changePassphrase(name, old, passphrase);
  await out.result({ name, changed: true }, () => `${name} has a new passphrase`);
  return 0;
}

async function resetHuman(invocation: Invocation, name: string): Promise<ExitCode> {
  const { args, out } = invocation;
  const { humans } = await invocation.open();
  const known = (await humans.list()).map((human) => human.name);
  // Asked before anything is typed.
  if (!known.includes(name)) {
    throw usageError(`there is no human \`${name}\``, '`phasegate humans list` names them');
  }
  const others = known.filter((other) => other !== name);
  const [other] = others;
  if (other === undefined) {
    throw usageError(
      `\`${name}\` is the only human, so nobody can vouch for a new passphrase`,
      'restore a backup from before the passphrase was changed, or begin with a new state directory; two humans can reset each other',
    );
  }
  const acting = args.text('as') ?? (others.length === 1 ? other : undefined);
  const given = passphraseFrom(args, 'passphrase-fd');
  const fresh = passphraseFrom(args, 'new-passphrase-fd');
  const by = await unlockHuman(invocation, { read: given, ...(acting === undefined ? {} : { as: acting }) });
  const passphrase = fresh ?? (await newPassphrase(invocation, name, false));
  await humans.reset(name, passphrase, by);
  await out.result(
    { name, reset: true, by: by.principal.name },
    () =>
      `${name} has a new key and a new passphrase; decisions that the old key signed stay valid, and what it accepted is to be accepted again: phasegate trust`,
  );
  return 0;
}

function nameFor(action: string, name: string | undefined): string {
  if (name === undefined || name.trim() === '')
    throw usageError(`\`phasegate humans ${action}\` needs \`NAME\``);
  return name;
}
