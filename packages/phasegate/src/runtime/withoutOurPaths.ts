import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';

/**
 * What something unexpected says of itself, for an agent: paths of the workspace become relative, and those of the home,
 * of Phasegate itself and of what it leaves elsewhere are not told. An agent could make use of where the keys are.
 */
export function withoutOurPaths(text: string, workspace: string): string {
  const short = text.replaceAll(`${workspace}/`, '').replaceAll(workspace, 'the workspace');
  return OURS.reduce((told, place) => told.replace(place, 'a path of ours'), short);
}

const HERE = dirname(dirname(dirname(import.meta.dirname)));

const OURS: readonly RegExp[] = [
  homedir(),
  tmpdir(),
  HERE,
  dirname(process.execPath),
  process.env.XDG_STATE_HOME,
]
  .filter((place): place is string => place !== undefined && place.length > 1)
  // The longest first: a place inside of another is told as a whole.
  .sort((one, other) => other.length - one.length)
  .map((place) => new RegExp(`(?:file://)?${escaped(place)}(?:/[^\\s'"\`):,]*)?`, 'g'));

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
