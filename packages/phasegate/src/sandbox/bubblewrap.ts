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
import { type DefinitionPlaces, definitionPlaces, MOST_DEFINITIONS } from './definitionPlaces.ts';
import { identityIn } from './gitIdentity.ts';
import { type HeldText, holdFile, holdText } from './heldText.ts';
import { HOSTS, PORTS } from './ports.ts';
import { openScope, type ScopeMounts } from './scopeMounts.ts';
import { serveChannel } from './serveChannel.ts';
import { severalLinks } from './severalLinks.ts';
import { socketFilter } from './socketFilter.ts';
import {
  copiedSettings,
  isSystem,
  pathFolders,
  programFolders,
  readable,
  systemMounts,
} from './systemMounts.ts';

/** What sandboxes of a project have beside the scope of their phase. */
export interface SandboxSettings {
  /** Absolute paths that no sandbox shows: where state and keys are. */
  readonly hidden: readonly string[];
  /** Absolute paths that programs may read too. */
  readonly read: readonly string[];
  /** Absolute paths that programs may write too. */
  readonly write: readonly string[];
  /** Globs of workflows beside those that every project has. */
  readonly definitions?: readonly string[];
  /** The most memory of each process, in MB; absent: as much as there is. */
  readonly memory?: number;
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
  const { engine } = program;
  const hosts = [...(engine === undefined ? [] : settings.hosts), ...(scope.hosts ?? [])];
  const isLed = engine !== undefined || hosts.length > 0;
  const definitions = isBlind(program, scope)
    ? definitionPlaces(scope, settings.definitions ?? [])
    : NO_DEFINITIONS;
  const filter = socketFilter(process.arch);
  const begun = hold('');
  const descriptors: (number | null)[] = [begun.descriptor];
  const nextFree = () => first + descriptors.push(null) - 1;
  const own =
    program.ownOutput === true ? { output: nextFree(), ending: nextFree(), errors: nextFree() } : undefined;
  const inherit = (descriptor: number) => String(first + descriptors.push(descriptor) - 1);
  // One empty file stands for all: it is given several times, and read by the one who mounts.
  let empty: HeldText | undefined;
  const nothing = () => {
    empty ??= hold('');
    return empty.descriptor;
  };
  const viewed = { ...settings, ...(scope.alone === true ? { write: [] } : {}), ...temporaryOf(scope) };
  const words = [
    ...APART,
    ...(filter === null ? [] : ['--seccomp', inherit(hold(filter).descriptor)]),
    ...copiedSettings().flatMap((place) => {
      const file = holdFile(place);
      if (file === null) return [];
      held.push(file);
      // Nobody writes to it but by making it another one, in this sandbox alone.
      return ['--perms', '0444', '--file', inherit(file.descriptor), place];
    }),
    ...viewOf(program, viewed, isLed),
    ...mounts.mounts.flatMap(({ descriptor, place, writable }) => [
      writable ? '--bind-fd' : '--ro-bind-fd',
      inherit(descriptor),
      place,
    ]),
    ...shownOf(settings.hidden, program, { scope, settings }).flatMap(covered),
    ...definitions.folders.flatMap(covered),
    ...definitions.files.flatMap((place) => ['--ro-bind-data', inherit(nothing()), place]),
    ...(program.read ?? []).flatMap(readable),
    ...(program.write ?? []).flatMap(writable),
    ...(program.placed ?? []).flatMap(({ from, at }) =>
      from === null ? covered(at) : ['--ro-bind', from, at],
    ),
    // Last: until then something may have to be shown below.
    ...definitions.folders.flatMap((place) => ['--remount-ro', place]),
    ...(scope.commits ? identityWords(settings, (text) => inherit(hold(text).descriptor)) : []),
    ...environmentWords(program, settings, hosts.length > 0),
    ...['--chdir', program.cwd],
  ];
  const orders = inherit(hold(`${words.join('\0')}\0`).descriptor);
  const blank = coverInherited(first, descriptors);
  // It stands behind all others, whose number is known only now.
  const led = isLed ? [process.execPath, relayFile(), String(first + descriptors.length), '--'] : [];
  const inside = ['/bin/sh', '-c', limited(settings.memory, own), String(first), ...led, ...program.argv];
  return {
    argv: [wrapper, '--args', orders, '--', ...inside],
    cwd: '/',
    environment: Object.fromEntries(
      Object.entries(program.environment).filter(([name]) => isOwnVariable(name)),
    ),
    descriptors,
    ...(own === undefined ? {} : { output: own.output, ending: own.ending }),
    ...(isLed
      ? {
          channel: {
            serve: (pipe) =>
              serveChannel(pipe as Duplex, { ...(engine === undefined ? {} : { engine }), hosts }),
          },
        }
      : {}),
    loose: definitions.more
      ? [...mounts.loose, `definitions beyond the first ${MOST_DEFINITIONS} are shown`]
      : mounts.loose,
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
 * files, 4096 processes, files of at most 8 GB. Bubblewrap keeps its streams beside the program until both are gone, but
 * no other descriptor: an output of its own is held by the program and its children alone. One digit, or the shell
 * takes the number for a word.
 *
 * Bubblewrap ends everything with the program, in its own time. So the shell stays where somebody wants to know who else
 * has the output: it gives its own end of it up, says that the program has ended, and ends when it is answered. A program
 * that speaks in its place has the output looked at while it holds it; one that ends the shell has it looked at by nobody.
 */
function limited(memory: number | undefined, own: OwnOutput | undefined): string {
  return [
    'ulimit -c 0',
    'ulimit -f 16777216',
    'ulimit -u 4096 2>/dev/null',
    // What it really has, and not what it reserves: runtimes reserve far more addresses than they use.
    ...(memory === undefined ? [] : [`ulimit -d ${memory * 1024} || exit 125`]),
    'eval "echo begun >&$0; exec $0>&-"',
    ...(own === undefined ? ['exec "$@"'] : stayed(own)),
  ].join('; ');
}

/** Descriptors of a program with an output of its own: that, where its end is told, and its errors, which are not the shell's. */
interface OwnOutput {
  readonly output: number;
  readonly ending: number;
  readonly errors: number;
}

function stayed({ output, ending, errors }: OwnOutput): readonly string[] {
  return [
    `exec ${errors}>&2 2>/dev/null`,
    // `exec`, or the shell would take `test` and `kill` for its own.
    `(exec "$@" >&${output} 2>&${errors} ${output}>&- ${ending}>&- ${errors}>&-)`,
    `code=$?; exec ${output}>&- ${errors}>&-`,
    `echo ended >&${ending}; read -r answer <&${ending}`,
    'exit $code',
  ];
}

/** What every sandbox shows: the system, programs of the search path, and empty places to write. */
function viewOf(
  program: FreeProgram,
  settings: SandboxSettings & Pick<SandboxScope, 'temporary'>,
  isLed: boolean,
): readonly string[] {
  const path = program.environment.PATH ?? '';
  const folders = [
    ...pathFolders(path, settings),
    ...programFolders(program.argv[0], path),
    ...programFolders(process.execPath, path),
    ...(isLed ? relayPlaces() : []),
    ...settings.read,
  ];
  return [
    ...systemMounts(),
    ...['--proc', '/proc'],
    ...['--dev', '/dev'],
    ...['--perms', '1777', '--size', String(settings.temporary ?? TMP_BYTES), '--tmpfs', '/tmp'],
    ...['--dir', homeOf(settings)],
    ...[...new Set(folders)].flatMap(readable),
    ...settings.write.flatMap(writable),
  ];
}

const TMP_BYTES = 2 * 1024 ** 3;

function temporaryOf({ temporary }: SandboxScope): Pick<SandboxScope, 'temporary'> {
  return temporary === undefined ? {} : { temporary };
}

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
  { environment }: FreeProgram,
  settings: SandboxSettings,
  hasHosts: boolean,
): readonly string[] {
  const { TMPDIR: _, ...kept } = environment;
  const proxy = `http://127.0.0.1:${PORTS[HOSTS]}`;
  const inside = {
    ...kept,
    HOME: homeOf(settings),
    ...(hasHosts ? { HTTPS_PROXY: proxy, https_proxy: proxy, NODE_USE_ENV_PROXY: '1' } : {}),
  };
  return ['--clearenv', ...Object.entries(inside).flatMap(([name, value]) => ['--setenv', name, value])];
}

/** What is to be hidden and would be seen: it lies in what is shown. */
function shownOf(
  hidden: readonly string[],
  program: FreeProgram,
  { scope, settings }: Pick<Order, 'scope' | 'settings'>,
): readonly string[] {
  if (hidden.length === 0) return [];
  const path = program.environment.PATH ?? '';
  const shown = [
    scope.workspace,
    ...settings.read,
    ...settings.write,
    ...pathFolders(path, settings),
    ...programFolders(program.argv[0], path),
  ].map((place) => `${realpathOf(place) ?? place}/`);
  return hidden.filter((one) => {
    const real = realpathOf(one);
    return real !== null && shown.some((place) => `${real}/`.startsWith(place));
  });
}

/** INVARIANT: where git may commit, all files are shown as they are: it would take what is covered for changed. */
function isBlind({ engine, withoutDefinitions }: FreeProgram, { commits }: SandboxScope): boolean {
  return !commits && (engine !== undefined || withoutDefinitions === true);
}

const NO_DEFINITIONS: DefinitionPlaces = { files: [], folders: [], more: false };

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
