import { type IsolationPlan, placesOf } from './plan.ts';

type Argv = readonly [string, ...string[]];

/**
 * A program as the user of checks. The engine's user may become that user and nobody else, as /etc/subuid says: the
 * program starts in a user namespace in which there is only that user and the group of the workspace. It has no
 * capabilities, and as no other user is there, programs that change the user (`sudo`) cannot.
 */
export function asCheckUser(plan: Pick<IsolationPlan, 'check' | 'group' | 'file'>): (argv: Argv) => Argv {
  const [uid, gid] = [String(plan.check.id), String(plan.group.id)];
  const { home } = placesOf(plan);
  return (argv) => [
    '/usr/bin/unshare',
    '--user',
    `--map-users=${uid},${uid},1`,
    `--map-groups=${gid},${gid},1`,
    ...['--setuid', uid, '--setgid', gid],
    '--',
    '/usr/bin/setpriv',
    '--no-new-privs',
    '--',
    '/usr/bin/env',
    `HOME=${home}`,
    '/bin/sh',
    '-c',
    // What it makes in the workspace is for the group.
    'umask 0007; exec "$@"',
    'sh',
    ...argv,
  ];
}
