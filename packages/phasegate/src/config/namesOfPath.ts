import { lstatSync, readlinkSync } from 'node:fs';
import { join, parse, resolve, sep } from 'node:path';

/**
 * Every absolute path that a path goes through while its links are followed, itself first. Each of them was the real
 * path of the same place if its link was once a folder.
 */
export function namesOfPath(path: string): readonly string[] {
  const names = [resolve(path)];
  for (const name of names) {
    const next = followFirstLink(name);
    if (next === null || names.includes(next) || names.length > MOST_LINKS) break;
    names.push(next);
  }
  return names;
}

/** As many as the operating system follows. */
const MOST_LINKS = 40;

/** The path with its first link replaced by what it names; null where there is none. */
function followFirstLink(path: string): string | null {
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  for (let count = 1; count <= parts.length; count++) {
    const place = join(root, ...parts.slice(0, count));
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    return join(resolve(place, '..', readlinkSync(place)), ...parts.slice(count));
  }
  return null;
}
