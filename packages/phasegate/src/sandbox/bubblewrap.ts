import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { isOwnVariable } from '@phasegate/core/contract';
import type { EnclosedProgram, FreeProgram, Sandbox, SandboxScope } from '@phasegate/core/ports';
import { leftOpen } from '../workspace/leftOpen.ts';
import { PathRefused } from '../workspace/pathRefused.ts';
import { SandboxUnavailable } from '../workspace/sandboxUnavailable.ts';
import { APART, type Found, findBubblewrap } from './bubblewrapState.ts';
import { type HeldText, holdText } from './heldText.ts';
import { openScope, type ScopeMounts } from './scopeMounts.ts';
import { severalLinks } from './severalLinks.ts';
import { socketFilter } from './socketFilter.ts';
import { pathFolders, programFolders, readable, systemMounts } from './systemMounts.ts';

/** What sandboxes of a project have beside the scope of their phase. */
export interface SandboxSettings {
  /** Absolute paths that no sandbox shows: where state and keys are. */
  readonly hidden: readonly string[];
  /** Absolute paths that programs may read too. */
  readonly read: readonly string[];
  /** Absolute paths that programs may write too. */
  readonly write: readonly string[];
  /** The real home, of which nothing is shown. */
  readonly home: string | undefined;
}

/** Sandboxes by bubblewrap: everything that is not named here is not there for the program. */
export function createBubblewrap(
  settings: () => Promise<SandboxSettings>,
  find: () => Promise<Found> = findBubblewrap,
): Sandbox {
  let found: Promise<Found> | undefined;
  const look = () => {
    found ??= find();
    return found;
  };
  return {
    state: async () => (await look()).state,
    async enclose(program, scope) {
      const { state, program: wrapper } = await look();
      if (!state.works || wrapper === null) {
        const { reason, nextStep } = state.works ? { reason: 'it is gone', nextStep: '' } : state;
        throw new SandboxUnavailable(`programs of this run need a sandbox, and ${reason}; ${nextStep}`);
      }
      const mounts = await openScope(scope);
      try {
        await refuseLinked(mounts, scope);
        return enclosed(wrapper, { program, scope, mounts, settings: await settings() });
      } catch (error) {
        await mounts.close();
        throw error;
      }
    },
  };
}

/** A file with a second name somewhere would be written there too. */
async function refuseLinked({ writable }: ScopeMounts, scope: SandboxScope): Promise<void> {
  const linked = await severalLinks(writable);
  if (linked === null) {
    throw new SandboxUnavailable('the files of the scope could not be looked through for hard links');
  }
  const path = linked.find((candidate) => scope.mayWrite(candidate));
  if (path === undefined) return;
  const message = `\`${path}\` has more than one name (hard links), so writing it would write elsewhere too; replace it by a copy`;
  throw new PathRefused('path_is_link', message);
}

interface Order {
  readonly program: FreeProgram;
  readonly scope: SandboxScope;
  readonly mounts: ScopeMounts;
  readonly settings: SandboxSettings;
}

function enclosed(wrapper: string, { program, scope, mounts, settings }: Order): EnclosedProgram {
  const first = FIRST_DESCRIPTOR + (program.given ?? 0);
  const held: HeldText[] = [];
  const hold = (content: string | Buffer) => {
    const text = holdText(content);
    held.push(text);
    return text;
  };
  const filter = socketFilter(process.arch);
  const begun = hold('');
  const descriptors: (number | null)[] = [begun.descriptor];
  const inherit = (descriptor: number) => String(first + descriptors.push(descriptor) - 1);
  const words = [
    ...APART,
    ...(filter === null ? [] : ['--seccomp', inherit(hold(filter).descriptor)]),
    ...viewOf(program, settings),
    ...mounts.mounts.flatMap(({ descriptor, place, writable }) => [
      writable ? '--bind-fd' : '--ro-bind-fd',
      inherit(descriptor),
      place,
    ]),
    ...settings.hidden.filter((place) => isShown(place, program, { scope, settings })).flatMap(covered),
    ...environmentWords(program.environment),
    ...['--chdir', program.cwd],
  ];
  const orders = inherit(hold(`${words.join('\0')}\0`).descriptor);
  const blank = coverInherited(first, descriptors);
  return {
    argv: [wrapper, '--args', orders, '--', '/bin/sh', '-c', LIMITED, String(first), ...program.argv],
    cwd: '/',
    environment: Object.fromEntries(
      Object.entries(program.environment).filter(([name]) => isOwnVariable(name)),
    ),
    descriptors,
    loose: mounts.loose,
    begun: () => begun.size() > 0,
    async close() {
      for (const text of held) text.close();
      if (blank !== null) closeSync(blank);
      await mounts.close();
    },
  };
}

const FIRST_DESCRIPTOR = 3;

/**
 * Runs in the sandbox before the program: sets its limits, says that it began, and closes what it said so with. No core
 * files, 4096 processes, files of at most 8 GB.
 */
const LIMITED = [
  'ulimit -c 0',
  'ulimit -f 16777216',
  'ulimit -u 4096 2>/dev/null',
  'eval "echo begun >&$0; exec $0>&-"',
  'exec "$@"',
].join('; ');

/** What every sandbox shows: the system, programs of the search path, and empty places to write. */
function viewOf(program: FreeProgram, settings: SandboxSettings): readonly string[] {
  const path = program.environment.PATH ?? '';
  const folders = [
    ...pathFolders(path, settings),
    ...programFolders(program.argv[0], path),
    ...programFolders(process.execPath, path),
    ...settings.read,
  ];
  return [
    ...systemMounts(),
    ...['--proc', '/proc'],
    ...['--dev', '/dev'],
    ...['--perms', '1777', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ...['--dir', HOME],
    ...[...new Set(folders)].flatMap(readable),
    ...settings.write.flatMap((place) => ['--bind-try', place, place]),
  ];
}

const TMP_BYTES = 2 * 1024 ** 3;
const HOME = '/tmp/home';

function environmentWords(environment: Readonly<Record<string, string>>): readonly string[] {
  const { TMPDIR: _, ...kept } = environment;
  const inside = { ...kept, HOME };
  return ['--clearenv', ...Object.entries(inside).flatMap(([name, value]) => ['--setenv', name, value])];
}

/** Whether something that is to be hidden would be seen: it lies in, or around, what is shown. */
function isShown(
  hidden: string,
  program: FreeProgram,
  { scope, settings }: Pick<Order, 'scope' | 'settings'>,
): boolean {
  const path = program.environment.PATH ?? '';
  const shown = [
    scope.workspace,
    ...settings.read,
    ...settings.write,
    ...pathFolders(path, settings),
    ...programFolders(program.argv[0], path),
  ];
  const real = realpathOf(hidden);
  return real !== null && shown.some((place) => `${real}/`.startsWith(`${realpathOf(place) ?? place}/`));
}

function covered(place: string): readonly string[] {
  return ['--tmpfs', place, '--remount-ro', place];
}

function realpathOf(place: string): string | null {
  try {
    return realpathSync(place);
  } catch {
    return null;
  }
}

/** Puts an empty file in the place of every descriptor that the program would inherit and nobody gave it. */
function coverInherited(first: number, descriptors: (number | null)[]): number | null {
  const left = leftOpen(first + descriptors.length);
  const last = left.at(-1);
  if (last === undefined) return null;
  const blank = openSync('/dev/null', constants.O_RDONLY);
  while (first + descriptors.length <= last) {
    descriptors.push(left.includes(first + descriptors.length) ? blank : null);
  }
  return blank;
}
