import { oneLine } from '@phasegate/core/model';
import type { DependencySet } from '../../../runtime/ports.ts';

type Locked = Pick<DependencySet, 'lockfile' | 'local'>;

/** Which packages a lockfile takes from files of the project, for the human who is asked; null where it takes none. */
export function localPackagesLine({ lockfile, local }: Locked): string | null {
  if (local.length === 0) return null;
  const shown = local.slice(0, MOST).map(({ name, file }) => `${short(name)} from ${short(file)}`);
  const more = local.length - shown.length;
  const rest = more === 0 ? '' : `, and ${more} more (\`phasegate deps --json\` names all)`;
  return `${oneLine(lockfile)} takes packages from files of the project, which an agent can write: ${shown.join(', ')}${rest}`;
}

/** The same as part of a question: how many files there are. */
export function andFiles(set: Locked): string {
  const { length } = localFilesOf(set);
  return length === 0 ? '' : ` and ${length === 1 ? '1 file' : `${length} files`} of the project`;
}

/** The files that packages are taken from, each once. */
export function localFilesOf({ local }: Pick<Locked, 'local'>): readonly string[] {
  return [...new Set(local.map(({ file }) => file))];
}

const MOST = 10;
const LONGEST = 80;

/** Its end stays: a file is known by it. */
function short(text: string): string {
  const line = oneLine(text);
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST / 2)}…${line.slice(-LONGEST / 2)}`;
}
