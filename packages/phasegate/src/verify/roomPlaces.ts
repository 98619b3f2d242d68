import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type FileLock, lockFile } from '../workspace/lockFile.ts';

/** Where rooms are made: a few places, one room in each at a time, whichever process makes it. */
export interface RoomPlaces {
  /** Waits for a place. Where several names wait, the one with the fewest rooms is next, and nobody gets all places. */
  take(name: string): Promise<RoomPlace>;
}

/** A place of one's own until it is left. */
export interface RoomPlace {
  /** Does not exist yet. */
  readonly folder: string;
  /** Removes what is there, and gives the place back. */
  leave(): Promise<void>;
}

/** What places are made in. */
export interface PlacesSettings {
  readonly folder: string;
  /** How many rooms there may be at a time. */
  readonly atOnce?: number;
}

/**
 * Places in a folder. Each is locked by the operating system while there is a room in it: a process that was killed
 * leaves its room behind and its lock not, by which the next one knows that it may be removed.
 */
export function createRoomPlaces({ folder, atOnce = usual() }: PlacesSettings): RoomPlaces {
  const inside = new Map<string, number>();
  const waiting: { readonly name: string; readonly begin: () => void }[] = [];
  const perName = Math.max(1, atOnce - 1);
  const countOf = (name: string) => inside.get(name) ?? 0;

  function next(): void {
    const all = [...inside.values()].reduce((sum, count) => sum + count, 0);
    const free = all < atOnce ? waiting.filter(({ name }) => countOf(name) < perName) : [];
    const [first] = free.toSorted((one, other) => countOf(one.name) - countOf(other.name));
    if (first === undefined) return;
    waiting.splice(waiting.indexOf(first), 1);
    inside.set(first.name, countOf(first.name) + 1);
    first.begin();
    next();
  }

  function end(name: string): void {
    const left = countOf(name) - 1;
    if (left === 0) inside.delete(name);
    else inside.set(name, left);
    next();
  }

  return {
    async take(name) {
      await new Promise<void>((begin) => {
        waiting.push({ name, begin });
        next();
      });
      try {
        const { place, lock } = await lockedIn(folder, atOnce);
        return {
          folder: place,
          async leave() {
            try {
              await remove(place);
            } finally {
              lock.release();
              end(name);
            }
          },
        };
      } catch (error) {
        end(name);
        throw error;
      }
    },
  };
}

/** Half of the processors, so that those who verify leave something to those who work; two at least, or one agent had all. */
function usual(): number {
  return Math.max(2, Math.floor(availableParallelism() / 2));
}

const RETRY_MS = 50;

/** A place that no other process has either, and nothing in it; what others left behind is removed with it. */
async function lockedIn(
  folder: string,
  most: number,
): Promise<{ readonly place: string; readonly lock: FileLock }> {
  const locks = `${folder}.locks`;
  for (const one of [folder, locks]) mkdirSync(one, { recursive: true, mode: 0o700 });
  for (;;) {
    for (let number = 1; number <= most; number++) {
      const place = join(folder, String(number));
      const lock = lockFile(join(locks, String(number)));
      if (lock === null) continue;
      try {
        await removeLeft(folder, locks);
        await remove(place);
        return { place, lock };
      } catch (error) {
        lock.release();
        throw error;
      }
    }
    await pause(RETRY_MS);
  }
}

/** What a process left behind that was killed: nobody has its lock. Other names are of a version that had none. */
async function removeLeft(folder: string, locks: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const lock = /^\d+$/.test(name) ? lockFile(join(locks, name)) : null;
    const [, pid] = /^(\d+)-/.exec(name) ?? [];
    try {
      if (lock !== null || (pid !== undefined && !existsSync(`/proc/${pid}`)))
        await remove(join(folder, name));
    } finally {
      lock?.release();
    }
  }
}

function remove(place: string): Promise<void> {
  return rm(place, { recursive: true, force: true, maxRetries: 3 });
}
