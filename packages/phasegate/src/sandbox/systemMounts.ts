import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, sep } from 'node:path';

/** Words for bubblewrap that give a program its system: programs and libraries, and no more of `/etc` than they need. */
export function systemMounts(): readonly string[] {
  return [
    ...SYSTEM.flatMap(systemFolder),
    ...ETC_FOLDERS.map((name) => `/etc/${name}`)
      .filter((place) => existsSync(place))
      .flatMap(readable),
    ...javaSettings(),
  ];
}

/** Files of `/etc` that a sandbox has copies of: a copy is there ten times as fast as a mount. */
export function copiedSettings(): readonly string[] {
  return ETC_FILES.map((name) => `/etc/${name}`).filter((place) => existsSync(place));
}

/** Folders of the search path that lie outside the system, with the libraries beside them. */
export function pathFolders(
  path: string,
  { home }: { readonly home: string | undefined },
): readonly string[] {
  const entries = path.split(delimiter).filter((entry) => isAbsolute(entry) && !isSystem(entry));
  return entries.filter((entry) => isFolder(entry) && !holds(entry, home)).flatMap(withLibraries);
}

/** Where a program's own files are: the folder it really lies in, or the packages it is one of. */
export function programFolders(program: string, path: string): readonly string[] {
  const candidates = program.includes('/')
    ? [program]
    : path.split(delimiter).map((entry) => join(entry, program));
  for (const candidate of candidates) {
    const real = realpathOf(candidate);
    if (real === null || !statSync(real).isFile()) continue;
    if (isSystem(real)) return [];
    const packages = real.indexOf(`${sep}node_modules${sep}`);
    return packages < 0 ? withLibraries(dirname(real)) : [real.slice(0, packages + '/node_modules'.length)];
  }
  return [];
}

/** Words that show a folder or a file where it is, if it is there. */
export function readable(place: string): readonly string[] {
  return ['--ro-bind-try', place, place];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'] as const;

/** What programs read to find libraries, names, times and certificates. No keys, no passwords, no services. */
const ETC_FOLDERS = ['alternatives', 'pki/tls/certs', 'ssl/certs'] as const;
const ETC_FILES = [
  'group',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'passwd',
  'services',
  'ssl/openssl.cnf',
] as const;

/** Debian keeps settings there without which Java does not start; those of `management` may name passwords. */
function javaSettings(): readonly string[] {
  const versions = namesIn('/etc').filter((name) => /^java-\d+-openjdk$/.test(name));
  // One mount and a cover: one for each name would take longer than all else.
  return versions.flatMap((version) => {
    const folder = `/etc/${version}`;
    const isThere = namesIn(folder).includes('management');
    return [...readable(folder), ...(isThere ? ['--tmpfs', `${folder}/management`] : [])];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function systemFolder(place: string): readonly string[] {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(place), place] : readable(place);
}

/** Whether a path is one of the system's own, which every sandbox shows. */
export function isSystem(place: string): boolean {
  return SYSTEM.some((folder) => place === folder || place.startsWith(`${folder}/`));
}

/** A folder around the home is not a place for programs, whatever the search path says. */
function holds(entry: string, home: string | undefined): boolean {
  const real = realpathOf(entry) ?? entry;
  return real === '/' || (home !== undefined && `${realpathOf(home) ?? home}/`.startsWith(`${real}/`));
}

function withLibraries(folder: string): readonly string[] {
  const name = basename(folder);
  if (name !== 'bin' && name !== 'sbin') return [folder];
  const around = dirname(folder);
  return [folder, ...LIBRARIES.map((library) => join(around, library)).filter(isFolder)];
}

const LIBRARIES = ['lib', 'lib64', 'libexec'] as const;

function isFolder(place: string): boolean {
  try {
    accessSync(place, constants.R_OK);
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

function realpathOf(place: string): string | null {
  try {
    return realpathSync(place);
  } catch {
    return null;
  }
}
