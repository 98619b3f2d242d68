import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import type { IsolateRequest, IsolationStep } from '../runtime/ports.ts';
import { type Accounts, readAccounts } from './accounts.ts';
import { type IsolationPlan, type Named, placesOf, planText, readPlan } from './plan.ts';
import { commandText, unitText } from './texts.ts';

/** What is to be done, in order; a step that needs nothing is told as done. */
export interface Setup {
  readonly file: string;
  readonly steps: readonly IsolationStep[];
  /** Does them. Throws at the first that fails; doing all of it again is safe. */
  carryOut(told: (step: IsolationStep) => void): IsolationPlan;
}

/** Where the plan of a workspace is. */
export function planFileFor({ workspace, base, name }: IsolateRequest): string {
  return join(base, name ?? nameFor(workspace), 'plan.json');
}

/** Plans the setup of a workspace. Throws `usage` with what is in the way. */
export function planSetup(request: IsolateRequest, launcher: readonly [string, string]): Setup {
  demandRoot();
  for (const program of NEEDED) demandProgram(program);
  const workspace = folderOf(request.workspace);
  const file = planFileFor({ ...request, workspace });
  const before = existsSync(file) ? readPlan(file) : null;
  if (before !== null && before.workspace !== workspace)
    throw usage(`\`${file}\` is for \`${before.workspace}\``, 'name another with `--name`');
  const names = { engine: request.engineUser, check: request.checkUser, group: request.group };
  const agents = [...new Set([...(before?.agents ?? []).map(({ name }) => name), ...request.agentUsers])];
  demandUsers(readAccounts(), { ...names, agents });
  const places = placesOf({ file });
  const made = new Set(before?.made ?? []);
  const steps: Doing[] = [];

  const account = (kind: 'user' | 'group', name: string, argv: Argv) => {
    const there = kind === 'user' ? readAccounts().user(name) : readAccounts().gidOf(name);
    steps.push({
      text: `make the ${kind} \`${name}\``,
      done: there !== undefined,
      act: () => {
        run(argv);
        made.add(`${kind}:${name}`);
      },
    });
  };
  const does = (text: string, act: () => void, done = false) => steps.push({ text, done, act });
  const folder = (path: string, [owner, group, mode]: readonly [() => string, () => string, string]) =>
    does(`make the folder \`${path}\` (mode ${mode})`, () =>
      run(['/usr/bin/install', '-d', '-o', owner(), '-g', group(), '-m', mode, path]),
    );

  account('group', names.group, ['/usr/sbin/groupadd', '--system', names.group]);
  for (const user of [names.engine, names.check]) {
    account('user', user, [...USERADD, '--home-dir', '/nonexistent', user]);
  }
  for (const user of [names.engine, ...agents]) {
    const gid = readAccounts().gidOf(names.group);
    does(
      `put \`${user}\` into the group \`${names.group}\``,
      () => run(['/usr/sbin/usermod', '--append', '--groups', names.group, user]),
      gid !== undefined && readAccounts().user(user)?.groups.has(gid) === true,
    );
  }
  does(
    `let \`${names.engine}\` start programs as \`${names.check}\`, and as nobody else (/etc/subuid, /etc/subgid)`,
    () => {
      const now = identities(names);
      run([
        '/usr/sbin/usermod',
        ...['--add-subuids', `${now.check.id}-${now.check.id}`],
        ...['--add-subgids', `${now.group.id}-${now.group.id}`],
        names.engine,
      ]);
    },
  );
  const [root, engine, check] = [() => 'root', () => names.engine, () => names.check];
  for (const path of [request.base, places.folder, places.sockets]) folder(path, [root, root, '0755']);
  folder(places.state, [engine, engine, '0700']);
  folder(places.home, [check, check, '0700']);
  for (const agent of agents) {
    const own = () => String(readAccounts().user(agent)?.gid);
    folder(places.socketFolder(agent), [engine, own, '2710']);
  }
  const planNow = (): IsolationPlan => ({
    ...identities(names),
    name: basename(places.folder),
    file,
    workspace,
    agents: agents.map((name) => ({ name, id: readAccounts().user(name)?.uid ?? -1 })),
    made: [...made],
  });
  const write = (path: string, { text, mode }: { text: () => string; mode: number }) =>
    does(`write \`${path}\``, () => writeFileSync(path, text(), { mode }));
  does(
    `give what \`${agents.join('`, `')}\` owns in \`${workspace}\` to the group \`${names.group}\``,
    () => {
      for (const agent of agents) shareAs(agent, workspace, names.group);
    },
  );
  write(places.command, { text: () => commandText(planNow(), launcher), mode: 0o755 });
  write(places.unit, { text: () => unitText(planNow(), launcher), mode: 0o644 });
  // Last: a plan that is there was carried out.
  write(file, { text: () => planText(planNow()), mode: 0o644 });

  return {
    file,
    steps: steps.map(({ text, done }) => ({ text, done })),
    carryOut(told) {
      for (const { act, ...step } of steps) {
        if (!step.done) act();
        told(step);
      }
      run(['/bin/chmod', '0755', places.command]);
      return readPlan(file);
    },
  };
}

interface Doing extends IsolationStep {
  act(): void;
}

type Argv = readonly [string, ...string[]];

const USERADD: Argv = [
  '/usr/sbin/useradd',
  '--system',
  '--no-create-home',
  '--user-group',
  '--shell',
  '/usr/sbin/nologin',
];
const NEEDED = [
  ['/usr/bin/unshare', 'util-linux'],
  ['/usr/bin/setpriv', 'util-linux'],
  ['/usr/bin/newuidmap', 'uidmap'],
  ['/usr/bin/bwrap', 'bubblewrap'],
  ['/usr/sbin/useradd', 'passwd'],
] as const;

/**
 * As the agent's user and not as root: that one may give its own files to a group it is in, and root, walking through
 * folders that an agent can change meanwhile, could be led elsewhere.
 */
function shareAs(user: string, workspace: string, group: string): void {
  const account = readAccounts().user(user);
  const gid = readAccounts().gidOf(group);
  if (account === undefined || gid === undefined) throw usage(`there is no user \`${user}\``, '');
  const script =
    'chgrp -hR "$1" "$2" 2>/dev/null; chmod -R g+rwX "$2" 2>/dev/null; find "$2" -xdev -type d -exec chmod g+s {} + 2>/dev/null; :';
  run([
    '/usr/bin/setpriv',
    ...[`--reuid=${account.uid}`, `--regid=${account.gid}`, `--groups=${[...account.groups, gid].join(',')}`],
    '/bin/sh',
    ...['-c', script, 'sh', group, workspace],
  ]);
}

function identities(names: { readonly engine: string; readonly check: string; readonly group: string }) {
  const accounts = readAccounts();
  const user = (name: string): Named => ({ name, id: accounts.user(name)?.uid ?? -1 });
  return {
    engine: user(names.engine),
    check: user(names.check),
    group: { name: names.group, id: accounts.gidOf(names.group) ?? -1 },
  };
}

function demandUsers(
  accounts: Accounts,
  {
    engine,
    check,
    agents,
  }: { readonly engine: string; readonly check: string; readonly agents: readonly string[] },
): void {
  if (agents.length === 0) throw usage('no agent is named', 'name its user with `--agent-user USER`');
  if (new Set([engine, check, ...agents]).size < agents.length + 2)
    throw usage('engine, checks and agents must be different users', 'name others');
  for (const name of agents) {
    const found = accounts.user(name);
    if (found === undefined)
      throw usage(
        `there is no user \`${name}\``,
        `make it with \`useradd --create-home ${shellWord(name)}\``,
      );
    if (found.uid === 0)
      throw usage('root cannot be an agent: nothing is out of its reach', 'name another user');
  }
}

/** Throws `usage` unless this is root. */
export function demandRoot(): void {
  if (process.platform !== 'linux')
    throw usage('isolating the engine works on Linux only', 'use a Linux machine');
  if (process.getuid?.() === 0) return;
  throw usage('only root can make users and give them folders', 'run it with `sudo`');
}

function demandProgram([path, from]: readonly [string, string]): void {
  if (existsSync(path)) return;
  throw usage(`\`${path}\` is missing`, `install it: \`apt install ${from}\``);
}

function folderOf(path: string): string {
  if (
    lstatSync(path, { throwIfNoEntry: false }) === undefined ||
    !lstatSync(realpathSync(path)).isDirectory()
  )
    throw usage(`\`${path}\` is not a folder`, 'name the folder of the project with `--workspace DIR`');
  return realpathSync(path);
}

function nameFor(workspace: string): string {
  return basename(workspace).replace(/[^\w-]/g, '-') || 'project';
}

function run([file, ...words]: Argv): void {
  try {
    execFileSync(file, words, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  } catch (cause) {
    const said =
      cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n').at(-1) : '';
    throw new PhasegateError('usage', `\`${[file, ...words].join(' ')}\` failed: ${said}`, {
      cause,
      hint: 'what was done so far stays; correct it and run the same command again',
    });
  }
}

function usage(message: string, hint: string): PhasegateError {
  return new PhasegateError('usage', message, hint === '' ? {} : { hint });
}
