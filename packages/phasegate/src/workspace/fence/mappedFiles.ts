import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Inodes of files that some process has in its memory to write to. The system dates such a file when a page of it is first
 * written, and what is written to the same page later leaves no trace in its dates. Empty where there is no `/proc`.
 * All who ask before a look at the processes begins share it.
 */
export function mappedFiles(): Promise<ReadonlySet<string>> {
  if (next !== null) return next;
  const asked = nextTurn().then(() => {
    if (next === asked) next = null;
    return lookAtProcesses();
  });
  next = asked;
  return asked;
}

let next: Promise<ReadonlySet<string>> | null = null;

/** So many processes are looked at before others get their turn. */
const STRIDE = 16;

async function lookAtProcesses(): Promise<ReadonlySet<string>> {
  const inodes = new Set<string>();
  let looked = 0;
  for (const pid of namesIn('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    if (++looked % STRIDE === 0) await nextTurn();
    for (const inode of writtenIn(mapsOf(pid))) inodes.add(inode);
  }
  return inodes;
}

/** Addresses, rights with `w` and shared, offset, device, inode; not what stands for memory alone. */
const WRITTEN = /^[0-9a-f]+-[0-9a-f]+ .w.s [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ ([1-9]\d*) /;

/** The ends of such rights. Few lines have one, so bytes are searched before any line is made a text. */
const RIGHTS = ['w-s ', 'wxs '];
const LINE_END = 10;

function writtenIn(maps: Buffer): readonly string[] {
  const inodes: string[] = [];
  for (const rights of RIGHTS) {
    for (let at = maps.indexOf(rights); at !== -1; at = maps.indexOf(rights, at + 1)) {
      const end = maps.indexOf(LINE_END, at);
      const line = maps.toString(
        'latin1',
        maps.lastIndexOf(LINE_END, at) + 1,
        end === -1 ? maps.length : end,
      );
      const inode = WRITTEN.exec(line)?.[1];
      if (inode !== undefined) inodes.push(inode);
    }
  }
  return inodes;
}

/** The system gives a page of text at a time, and `readFileSync` takes room for 64 KB whenever it asks for one. */
const PIECE = Buffer.allocUnsafeSlow(256 * 1024);

/** Good until the next call. Empty for another user's process. Of one that ends meanwhile, what was read by then. */
function mapsOf(pid: string): Buffer {
  const full: Buffer[] = [];
  let filled = 0;
  let file: number | null = null;
  try {
    file = openSync(`/proc/${pid}/maps`, 'r');
    for (let read = -1; read !== 0; filled += read) {
      if (filled === PIECE.length) {
        full.push(Buffer.from(PIECE));
        filled = 0;
      }
      read = readSync(file, PIECE, filled, PIECE.length - filled, null);
    }
  } catch {
    // Said above.
  } finally {
    if (file !== null) closeSync(file);
  }
  const last = PIECE.subarray(0, filled);
  return full.length === 0 ? last : Buffer.concat([...full, last]);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
