import { hash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListingIndex } from './runtime/listing/listingIndex.ts';
import type { Seal } from './runtime/ports.ts';
import { VERSION } from './surfaces/cli/version.ts';

/** Where the index of a project is kept. */
export interface ListingPlace {
  /** Real path of the project: worktrees share a state directory, and have files of their own. */
  readonly root: string;
  /** Null where the project has no state: none is made for an index. */
  stateDir(): string | null;
  /** Seals what is written, so that nobody else's is read. */
  seal(stateDir: string): Promise<Pick<Seal, 'sign' | 'verifySignature'>>;
}

/**
 * Keeps the index in the state directory. INVARIANT: it saves time and nothing else. Where it cannot be read, or is not
 * what this project and this version wrote, there is none; where it cannot be written, the next process reads all files.
 */
export function listingFile({ root, stateDir, seal }: ListingPlace): ListingIndex {
  const fileIn = (folder: string) => join(folder, `${hash('sha256', root).slice(0, 32)}.json`);
  return {
    async read() {
      try {
        const state = stateDir();
        if (state === null) return null;
        const [signature, ...rest] = (await readSmall(fileIn(join(state, 'listing')))).split('\n');
        const text = rest.join('\n');
        const { verifySignature } = await seal(state);
        return verifySignature(sealedText(root, text), signature ?? '') ? text : null;
      } catch {
        return null;
      }
    },
    async write(text) {
      try {
        const state = stateDir();
        if (state === null) return;
        const folder = join(state, 'listing');
        const { sign } = await seal(state);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const draft = join(folder, `${randomBytes(8).toString('hex')}.draft`);
        try {
          const sealed = `${sign(sealedText(root, text))}\n${text}`;
          await writeFile(draft, sealed, { mode: 0o600, flag: 'wx' });
          await rename(draft, fileIn(folder));
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
      } catch {
        // The next process reads all files, as this one did.
      }
    },
  };
}

/** No other text that is signed with the same key begins like this. */
function sealedText(root: string, text: string): string {
  return `listing ${JSON.stringify([VERSION, root])}\n${text}`;
}

async function readSmall(file: string): Promise<string> {
  // Not blocking: something else may have been put in its place.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > LARGEST) throw new RangeError('not an index');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const LARGEST = 8_000_000;
