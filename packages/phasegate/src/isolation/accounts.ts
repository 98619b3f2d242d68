import { execFileSync } from 'node:child_process';

/** A user of this machine, and every group they are in. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly groups: ReadonlySet<number>;
}

/** The users and groups of this machine, as the system tells them. */
export interface Accounts {
  user(name: string): Account | undefined;
  gidOf(group: string): number | undefined;
  /** Names of everybody who is in a group. */
  membersOf(gid: number): readonly string[];
}

/** Reads them from all sources that the system is set to use. */
export function readAccounts(): Accounts {
  const groups = lines('group').map(([name = '', , gid = '', members = '']) => ({
    name,
    gid: Number(gid),
    members: members.split(',').filter((member) => member !== ''),
  }));
  const users = new Map(
    lines('passwd').map(([name = '', , uid = '', gid = '']): [string, Account] => {
      const more = groups.filter(({ members }) => members.includes(name)).map((group) => group.gid);
      return [name, { name, uid: Number(uid), gid: Number(gid), groups: new Set([Number(gid), ...more]) }];
    }),
  );
  return {
    user: (name) => users.get(name),
    gidOf: (wanted) => groups.find(({ name }) => name === wanted)?.gid,
    membersOf: (gid) => [...users.values()].filter((user) => user.groups.has(gid)).map((user) => user.name),
  };
}

function lines(database: 'passwd' | 'group'): readonly (readonly string[])[] {
  const text = execFileSync('/usr/bin/getent', [database], { encoding: 'utf8', env: { LC_ALL: 'C' } });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(':'));
}
