import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IsolationFinding } from '../runtime/ports.ts';
import type { Account, Accounts } from './accounts.ts';
import { asCheckUser } from './asCheckUser.ts';
import { type IsolationPlan, placesOf } from './plan.ts';

/** Tries, as each user, what must not work, and what must. Only root can. */
export function tryOut(
  plan: IsolationPlan,
  accounts: Accounts,
  program: readonly string[],
): readonly IsolationFinding[] {
  const places = placesOf(plan);
  const server = serverOf(plan);
  const users = [...plan.agents, plan.check].flatMap(({ name }) => accounts.user(name) ?? []);
  return [
    ...users.map((user) => {
      const others = plan.agents
        .filter(({ name }) => name !== user.name)
        .map(({ name }) => places.socketFolder(name));
      const closed = [places.state, ...others].map((path) => [`ls ${path}`, ['/bin/ls', path]] as const);
      const fixed = [plan.file, places.command, ...program].map(
        (path) => [`write ${path}`, ['/usr/bin/test', '-w', path]] as const,
      );
      const process =
        server === null
          ? []
          : ([
              ['signal the server', ['/bin/sh', '-c', 'kill -0 "$1"', 'sh', server]],
              ['read its environment', ['/bin/cat', `/proc/${server}/environ`]],
              ['read its memory', ['/usr/bin/head', '-c1', `/proc/${server}/mem`]],
            ] as const);
      const worked = [...closed, ...fixed, ...process]
        .filter(([, argv]) => works(user, argv))
        .map(([what]) => what);
      const name = `tried as ${user.name}`;
      return worked.length === 0
        ? {
            name,
            holds: true,
            message: `cannot read the state, change the program${server === null ? '' : ', or touch the server'}`,
          }
        : { name, holds: false, message: `can ${worked.join(', ')}` };
    }),
    checksFinding(plan, accounts),
  ];
}

/** The program of a check really is that user's. */
function checksFinding(plan: IsolationPlan, accounts: Accounts): IsolationFinding {
  const engine = accounts.user(plan.engine.name);
  const name = 'checks';
  if (engine === undefined)
    return { name, holds: false, message: `there is no user \`${plan.engine.name}\`` };
  const wanted = `${plan.check.id} ${plan.group.id}`;
  const [file, ...words] = asCheckUser(plan)(['/bin/sh', '-c', 'echo $(id -u) $(id -g)']);
  const printed = output(engine, [file, ...words]);
  return printed === wanted
    ? { name, holds: true, message: `programs run as \`${plan.check.name}\`` }
    : {
        name,
        holds: false,
        message: `a program could not be started as \`${plan.check.name}\`${printed === null ? '' : `: it is ${printed}`}`,
        nextStep: 'install `uidmap`, allow user namespaces, and run `phasegate isolate setup` again',
      };
}

/** The process of the server, by the plan in its environment; null where none runs. */
function serverOf({ file, engine }: IsolationPlan): string | null {
  const isServer = (pid: string) => {
    try {
      const status = readFileSync(join('/proc', pid, 'status'), 'utf8');
      if (!new RegExp(`^Uid:\\t${engine.id}\\t`, 'm').test(status)) return false;
      return readFileSync(join('/proc', pid, 'environ'), 'utf8')
        .split('\0')
        .includes(`PHASEGATE_ISOLATED=${file}`);
    } catch {
      return false;
    }
  };
  return (
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .find(isServer) ?? null
  );
}

function works(user: Account, argv: readonly string[]): boolean {
  return output(user, argv) !== null;
}

/** What a program prints as a user; null where it fails. */
function output(user: Account, argv: readonly string[]): string | null {
  const words = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--init-groups', '--', ...argv];
  try {
    return execFileSync('/usr/bin/setpriv', words, {
      encoding: 'utf8',
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
