import { hash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isInHome } from '@phasegate/core/model';
import type { Materialised } from '@phasegate/core/ports';
import type { Contents } from './contents.ts';
import type { Manifest } from './manifest.ts';
import { stateSum } from './stateOf.ts';

/**
 * Writes what a measure holds into an empty folder. INVARIANT: nothing of it comes from the workspace, which may have
 * changed since; every content is known by its hash. Files are made anew, so that none has a second name. A large tree
 * is written bit by bit: others have their turn in between.
 */
export async function materialise(
  manifest: Manifest,
  contents: Contents,
  into: string,
): Promise<Materialised> {
  const paths = new Set<string>();
  const made = new Set<string>();
  const links = new Set<string>();
  let begun = performance.now();
  for (const [path, { type, mode, content }] of manifest.entries) {
    if (performance.now() - begun > TURN_MS) {
      await nextTurn();
      begun = performance.now();
    }
    if (isInHome(path)) continue;
    // Nobody can tell what a pipe or a device holds, and what could not be read was not kept.
    if (type === 'other') continue;
    const bytes = type === 'file' ? contentOf(contents, content) : null;
    if (type === 'closed' || (type === 'file' && bytes === null))
      return { ok: false, reason: `\`${path}\` is too large to be kept, or could not be read` };
    const place = join(into, path);
    const folder = dirname(place);
    // What was a folder and a link while it was measured would lead out of here.
    if (!made.has(folder) && isBeyond(path, links))
      return { ok: false, reason: `\`${path}\` was behind a link while it was measured` };
    if (!made.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o755 });
    made.add(folder);
    if (bytes === null) links.add(path);
    if (bytes === null) symlinkSync(content, place);
    else writeFileSync(place, bytes, { flag: 'wx', mode: (mode & 0o777) | 0o600 });
    paths.add(path);
  }
  return { ok: true, state: stateSum(manifest), paths };
}

function isBeyond(path: string, links: ReadonlySet<string>): boolean {
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
    if (links.has(path.slice(0, end))) return true;
  return false;
}

/** About as long as one transition takes. */
const TURN_MS = 5;

function contentOf(contents: Contents, content: string): Buffer | null {
  return content === EMPTY ? Buffer.alloc(0) : contents.read(content);
}

const EMPTY = hash('sha256', '', 'hex');
