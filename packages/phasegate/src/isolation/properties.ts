import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { IsolationFinding } from '../runtime/ports.ts';
import type { Account, Accounts } from './accounts.ts';
import { type IsolationPlan, type Named, placesOf } from './plan.ts';
import { closedTo, writableBy } from './writableBy.ts';

/** What is looked at: the plan, who there is, and where the program lies. */
export interface Looked {
  readonly plan: IsolationPlan;
  readonly accounts: Accounts;
  /** Files of the program: Node and the script it runs. */
  readonly program: readonly string[];
}

/**
 * Every property that the ring `isolated` stands on, each with what is wrong. Only what can be looked up is looked at
 * here, so that it can be asked again at any time; `tryOut` tries it.
 */
export function propertiesOf(looked: Looked): readonly IsolationFinding[] {
  const users = usersIn(looked);
  if ('problem' in users) return [finding('users', users.problem)];
  return [
    finding('users', null, 'engine, checks and agents are different users, and none is root'),
    ...[groupsFinding, subordinateFinding, planFinding, programFinding, stateFinding, workspaceFinding].map(
      (look) => look(looked, users),
    ),
    ...looked.plan.agents.map((agent) => socketFinding(looked, users, agent)),
  ];
}

/** What is wrong first, with what to do; null where nothing is. */
export function firstProblem(findings: readonly IsolationFinding[]): string | null {
  const wrong = findings.find(({ holds }) => !holds);
  return wrong === undefined ? null : `${wrong.name}: ${wrong.message}`;
}

interface Users {
  readonly engine: Account;
  readonly check: Account;
  readonly agents: readonly Account[];
  /** Those who must not get at the engine. */
  readonly kept: readonly Account[];
}

function usersIn({ plan, accounts }: Looked): Users | { readonly problem: string } {
  const named: readonly Named[] = [plan.engine, plan.check, ...plan.agents];
  const found: Account[] = [];
  for (const { name, id } of named) {
    const account = accounts.user(name);
    if (account?.uid !== id) return { problem: `there is no user \`${name}\` with the number ${id}` };
    found.push(account);
  }
  if (new Set(found.map(({ uid }) => uid)).size < found.length)
    return { problem: 'two of the users are the same' };
  if (accounts.gidOf(plan.group.name) !== plan.group.id)
    return { problem: `there is no group \`${plan.group.name}\` with the number ${plan.group.id}` };
  const [engine, check, ...agents] = found as [Account, Account, ...Account[]];
  // As it runs: of all groups it has that of the workspace, and no other.
  const held = { ...check, gid: plan.group.id, groups: new Set([...check.groups, plan.group.id]) };
  return { engine, check: held, agents, kept: [...agents, held] };
}

/** Anyone in one of these is root, or as good as. */
const MIGHTY = [
  'root',
  'sudo',
  'wheel',
  'admin',
  'docker',
  'podman',
  'lxd',
  'incus',
  'libvirt',
  'disk',
  'kmem',
  'shadow',
];

function groupsFinding({ accounts }: Looked, { engine, check, kept }: Users): IsolationFinding {
  const mighty = MIGHTY.map((name) => [name, accounts.gidOf(name)] as const);
  for (const user of kept) {
    const [name] = mighty.find(([, gid]) => gid !== undefined && user.groups.has(gid)) ?? [];
    if (name !== undefined)
      return finding(
        'groups',
        `\`${user.name}\` is in the group \`${name}\`, and so can become root`,
        '',
        `gpasswd -d ${user.name} ${name}`,
      );
    if (user.groups.has(engine.gid))
      return finding(
        'groups',
        `\`${user.name}\` is in the engine's own group`,
        '',
        `gpasswd -d ${user.name} ${engine.name}`,
      );
  }
  return finding(
    'groups',
    null,
    `neither \`${check.name}\` nor an agent is in a group of root's or the engine's`,
  );
}

/** A user who was given the number of another in /etc/subuid can become that one. */
function subordinateFinding(_: Looked, { engine, check }: Users): IsolationFinding {
  for (const [user, from, count] of subordinates()) {
    const has = (uid: number) => uid >= from && uid < from + count;
    const isEngine = user === engine.name || user === String(engine.uid);
    if (isEngine ? has(0) : has(engine.uid) || has(check.uid) || has(0))
      return finding(
        'subordinate users',
        `/etc/subuid lets \`${user}\` become another user`,
        '',
        'correct /etc/subuid',
      );
  }
  return finding('subordinate users', null, 'nobody but the engine may become the user of checks');
}

function subordinates(): readonly (readonly [string, number, number])[] {
  let text = '';
  try {
    text = readFileSync('/etc/subuid', 'utf8');
  } catch {
    // Without the file nobody may.
  }
  return text.split('\n').flatMap((line) => {
    const [user = '', from, count] = line.split(':');
    return user === '' ? [] : [[user, Number(from), Number(count)] as const];
  });
}

function planFinding({ plan }: Looked, { kept, engine }: Users): IsolationFinding {
  const { command } = placesOf(plan);
  const problem = [plan.file, command]
    .map((file) => writableBy(file, [...kept, engine]))
    .find((one) => one !== null);
  return finding('plan', problem ?? null, `only root can change \`${plan.file}\``);
}

function programFinding({ program }: Looked, { kept }: Users): IsolationFinding {
  for (const file of program) {
    // A link is followed as Node does, and both ends count.
    for (const path of new Set([realpathSync(dirname(file)), realpathSync(file)])) {
      const problem = writableBy(path, kept);
      if (problem !== null)
        return finding('program', problem, '', 'install Node and Phasegate where only root can write');
    }
  }
  return finding('program', null, 'neither an agent nor a check can change Node or Phasegate');
}

function stateFinding({ plan }: Looked, { engine, kept }: Users): IsolationFinding {
  const { state } = placesOf(plan);
  const fix = `chown -R ${engine.name}: ${state} && chmod 700 ${state}`;
  const stats = lstatSync(state, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return finding('state', `\`${state}\` is not a folder`, '', fix);
  if (stats.uid !== engine.uid)
    return finding('state', `\`${state}\` does not belong to \`${engine.name}\``, '', fix);
  if ((stats.mode & 0o077) !== 0) return finding('state', `others can enter \`${state}\``, '', fix);
  const problem = writableBy(dirname(state), kept);
  return finding('state', problem, `state, keys and audit are in \`${state}\`, for \`${engine.name}\` alone`);
}

function workspaceFinding({ plan }: Looked, { engine, check, agents }: Users): IsolationFinding {
  const { workspace, group } = plan;
  const stats = statSync(workspace, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return finding('workspace', `\`${workspace}\` is not a folder`);
  const fix = `chgrp ${group.name} ${workspace} && chmod g+rwxs ${workspace}`;
  if (stats.gid !== group.id || (stats.mode & 0o2070) !== 0o2070)
    return finding('workspace', `\`${workspace}\` is not the group \`${group.name}\`'s to write`, '', fix);
  const [closed, user] =
    [engine, check, ...agents]
      .map((one) => [closedTo(workspace, one), one] as const)
      .find(([at]) => at !== null) ?? [];
  if (closed != null)
    return finding(
      'workspace',
      `\`${user?.name}\` cannot enter \`${closed}\``,
      '',
      `chmod o+x ${closed}, or log in anew after joining \`${group.name}\``,
    );
  return finding('workspace', null, `\`${workspace}\` is shared by the group \`${group.name}\``);
}

function socketFinding({ plan, accounts }: Looked, { engine, kept }: Users, agent: Named): IsolationFinding {
  const name = `socket of ${agent.name}`;
  const folder = placesOf(plan).socketFolder(agent.name);
  const account = accounts.user(agent.name) as Account;
  const fix = `install -d -o ${engine.name} -g ${account.gid} -m 2710 ${folder}`;
  const others = accounts.membersOf(account.gid).filter((member) => member !== agent.name);
  if (others.length > 0)
    return finding(
      name,
      `the group of \`${agent.name}\` has others in it: ${others.join(', ')}`,
      '',
      'give the user a group of its own',
    );
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return finding(name, `\`${folder}\` is not a folder`, '', fix);
  if (stats.uid !== engine.uid || stats.gid !== account.gid || (stats.mode & 0o7777) !== 0o2710)
    return finding(name, `others than \`${agent.name}\` could use \`${folder}\``, '', fix);
  const problem = writableBy(join(folder, '..'), [...kept, engine]);
  return finding(
    name,
    problem,
    `only \`${agent.name}\` can connect to \`${placesOf(plan).socket(agent.name)}\``,
  );
}

function finding(name: string, problem: string | null, well = '', nextStep?: string): IsolationFinding {
  if (problem === null) return { name, holds: true, message: well };
  return { name, holds: false, message: problem, ...(nextStep === undefined ? {} : { nextStep }) };
}
