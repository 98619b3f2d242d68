import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
        const [signature, ...rest] = readSmall(fileIn(join(state, 'listing'))).split('\n');
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
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const draft = join(folder, `${randomBytes(8).toString('hex')}.draft`);
        try {
          const sealed = `${sign(sealedText(root, text))}\n${text}`;
          writeFileSync(draft, sealed, { mode: 0o600, flag: 'wx' });
          renameSync(draft, fileIn(folder));
        } catch (error) {
          rmSync(draft, { force: true });
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

function readSmall(file: string): string {
  // Not blocking: something else may have been put in its place.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > LARGEST) throw new RangeError('not an index');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const LARGEST = 8_000_000;
