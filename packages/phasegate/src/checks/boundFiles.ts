import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Watches how much a program writes into a folder. */
export interface FileBound {
  /** Aborted when there is more than may be. */
  readonly signal: AbortSignal;
  /** Ends the watch with a last look: whether there is more than may be. */
  end(): Promise<boolean>;
}

/** How much more a folder of the engine's own may hold after a program ran in it. */
export const MOST_WRITTEN = 512 * 1024 * 1024;

/** Begins to watch, from what the folders hold now. */
export async function boundFiles(folders: readonly string[], most = MOST_WRITTEN): Promise<FileBound> {
  const bytes = async () => {
    let sum = 0;
    for (const folder of folders) sum += await bytesIn(folder);
    return sum;
  };
  const limit = (await bytes()) + most;
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const look = async () => {
    if ((await bytes()) > limit) over.abort();
    if (!ended && !over.signal.aborted) timer = setTimeout(look, PAUSE_MS);
  };
  timer = setTimeout(look, PAUSE_MS);
  return {
    signal: over.signal,
    async end() {
      ended = true;
      clearTimeout(timer);
      return over.signal.aborted || (await bytes()) > limit;
    },
  };
}

const PAUSE_MS = 250;

/** What the files really take: one that is long and empty takes nothing. What goes away meanwhile is not there. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const place = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesIn(place);
    else bytes += ((await lstat(place).catch(() => null))?.blocks ?? 0) * BLOCK;
  }
  return bytes;
}

const BLOCK = 512;
