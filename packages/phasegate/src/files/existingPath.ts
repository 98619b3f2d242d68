import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, parse, resolve, sep } from 'node:path';

/** What there is of a path. */
export interface ExistingPath {
  /** The real path of what is there, with the rest as it is written. */
  readonly real: string;
  /** The real path of what is there alone. */
  readonly there: string;
}

/**
 * Follows a path from the root down and looks no further than the first part that is missing: its cost grows with what is
 * there, whatever somebody writes behind it. A link that leads to nothing is followed to where a file would be made.
 */
export function existingPath(path: string, links = 0): ExistingPath {
  const normal = resolve(path);
  const { root } = parse(normal);
  const names = normal.slice(root.length).split(sep).filter(Boolean);
  let there = root;
  for (const [place, name] of names.entries()) {
    const next = join(there, name);
    const kind = kindOf(next);
    if (kind === 'missing') return { real: [next, ...names.slice(place + 1)].join(sep), there };
    if (kind === 'plain') {
      there = next;
      continue;
    }
    const rest = names.slice(place + 1);
    try {
      there = realpathSync(next);
    } catch {
      if (links >= MOST_LINKS) return { real: [next, ...rest].join(sep), there };
      return existingPath([resolve(there, readlinkSync(next)), ...rest].join(sep), links + 1);
    }
  }
  return { real: there, there };
}

/** As many as the kernel follows. */
const MOST_LINKS = 40;

function kindOf(path: string): 'missing' | 'plain' | 'link' {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return found.isSymbolicLink() ? 'link' : 'plain';
  } catch {
    // Behind a file, too long, or not ours to look at.
    return 'missing';
  }
}
