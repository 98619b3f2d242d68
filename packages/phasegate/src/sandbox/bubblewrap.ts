import { closeSync, constants, existsSync, openSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { PhasegateError } from '@phasegate/core';
import { isOwnVariable } from '@phasegate/core/contract';
import type { EnclosedProgram, FreeProgram, Sandbox, SandboxScope } from '@phasegate/core/ports';
import { leftOpen } from '../workspace/leftOpen.ts';
import { PathRefused } from '../workspace/pathRefused.ts';
import { SandboxUnavailable } from '../workspace/sandboxUnavailable.ts';
import { APART, type Found, findBubblewrap } from './bubblewrapState.ts';
import { identityIn } from './gitIdentity.ts';
import { type HeldText, holdText } from './heldText.ts';
import { HOSTS, PORTS } from './ports.ts';
import { openScope, type ScopeMounts } from './scopeMounts.ts';
import { serveChannel } from './serveChannel.ts';
import { severalLinks } from './severalLinks.ts';
import { socketFilter } from './socketFilter.ts';
import { isSystem, pathFolders, programFolders, readable, systemMounts } from './systemMounts.ts';

/** What sandboxes of a project have beside the scope of their phase. */
export interface SandboxSettings {
  /** Absolute paths that no sandbox shows: where state and keys are. */
  readonly hidden: readonly string[];
  /** Absolute paths that programs may read too. */
  readonly read: readonly string[];
  /** Absolute paths that programs may write too. */
  readonly write: readonly string[];
  /** Hosts that whole clients may reach. */
  readonly hosts: readonly string[];
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
    mcp: async () => [process.execPath, relayFile(), 'connect'],
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
  const linked = await severalLinks(writable, (path) => scope.mayWrite(path));
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
    ...(program.read ?? []).flatMap(readable),
    ...(program.write ?? []).flatMap(writable),
    ...(scope.commits ? identityWords(settings, (text) => inherit(hold(text).descriptor)) : []),
    ...environmentWords(program, settings),
    ...['--chdir', program.cwd],
  ];
  const orders = inherit(hold(`${words.join('\0')}\0`).descriptor);
  const blank = coverInherited(first, descriptors);
  const { engine } = program;
  // It stands behind all others, whose number is known only now.
  const led =
    engine === undefined ? [] : [process.execPath, relayFile(), String(first + descriptors.length), '--'];
  const inside = ['/bin/sh', '-c', LIMITED, String(first), ...led, ...program.argv];
  return {
    argv: [wrapper, '--args', orders, '--', ...inside],
    cwd: '/',
    environment: Object.fromEntries(
      Object.entries(program.environment).filter(([name]) => isOwnVariable(name)),
    ),
    descriptors,
    ...(engine === undefined
      ? {}
      : { channel: { serve: (pipe) => serveChannel(pipe as Duplex, { engine, hosts: settings.hosts }) } }),
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
    ...(program.engine === undefined ? [] : relayPlaces()),
    ...settings.read,
  ];
  return [
    ...systemMounts(),
    ...['--proc', '/proc'],
    ...['--dev', '/dev'],
    ...['--perms', '1777', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ...['--dir', homeOf(settings)],
    ...[...new Set(folders)].flatMap(readable),
    ...settings.write.flatMap(writable),
  ];
}

const TMP_BYTES = 2 * 1024 ** 3;

/** Where the home is too, and nothing of it: what a program finds by its home it finds if the project shows it. */
function homeOf({ home }: SandboxSettings): string {
  return home === undefined || !isAbsolute(home) || isSystem(home) || home === '/' ? '/tmp/home' : home;
}

/** Who commits, and nothing else of what the user told git: there may be credentials and programs in it. */
function identityWords(settings: SandboxSettings, inherit: (text: string) => string): readonly string[] {
  const identity = settings.home === undefined ? null : identityIn(settings.home);
  return identity === null ? [] : ['--file', inherit(identity), join(homeOf(settings), '.gitconfig')];
}

function writable(place: string): readonly string[] {
  return ['--bind-try', place, place];
}

function environmentWords(
  { environment, engine }: FreeProgram,
  settings: SandboxSettings,
): readonly string[] {
  const { TMPDIR: _, ...kept } = environment;
  const proxy = `http://127.0.0.1:${PORTS[HOSTS]}`;
  const inside = {
    ...kept,
    HOME: homeOf(settings),
    ...(engine === undefined || settings.hosts.length === 0
      ? {}
      : { HTTPS_PROXY: proxy, https_proxy: proxy, NODE_USE_ENV_PROXY: '1' }),
  };
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
  return ['--tmpfs', place];
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

/** With the file by which Node knows how its modules are written. */
function relayPlaces(): readonly string[] {
  const folder = dirname(relayFile());
  return [folder, join(dirname(dirname(folder)), 'package.json')];
}

/** The program that runs beside a whole client: beside this file, or where the build left it. */
function relayFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`./relay.${extension}`, '../sandbox/relay.js'];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new PhasegateError('internal', 'the program that leads out is missing');
  return found;
}
