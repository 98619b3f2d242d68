import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A larger file is compared, and its content is not kept. */
export const LARGEST = 10 * 1024 * 1024;
/** So much is kept of one measure. */
const MOST_BYTES = 512 * 1024 * 1024;
/** So much is written at a time. */
const BATCH = 4 * 1024 * 1024;

/** The contents of files as they were measured, by their SHA-256. */
export interface Contents {
  /** Takes contents until `end`, which puts them on disk; nothing is there before. */
  begin(): Keeping;
  /** The content, or null where it was not kept or is not what it was. */
  read(content: string): Buffer | null;
  /** Bytes on disk. */
  size(): number;
  /** Removes the files in which nothing is used any more, and which are older than that. */
  dropUnused(used: ReadonlySet<string>, ageMs: number): void;
}

/** Contents on their way to disk. */
export interface Keeping {
  keep(content: string, bytes: Buffer): void;
  end(): void;
  abandon(): void;
}

interface Place {
  readonly file: string;
  readonly at: number;
  readonly length: number;
}

/**
 * Keeps contents in files of their own making: one for each measure, with an index beside it. No program is run for it,
 * and no filter, attribute or config of anybody's has a say in what is kept.
 */
export function createContents(folder: string): Contents {
  let known: Map<string, Place> | null = null;

  /** Other processes add files of their own; a file never changes. */
  function places(): Map<string, Place> {
    if (known !== null) return known;
    known = new Map();
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names.filter((one) => one.endsWith('.index')).sort()) {
      const file = join(folder, `${name.slice(0, -6)}.data`);
      for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
        const [content, at, length] = line.split(' ');
        if (content !== undefined && length !== undefined)
          known.set(content, { file, at: Number(at), length: Number(length) });
      }
    }
    return known;
  }

  function begin(): Keeping {
    // Most looks read nothing: a name is made when there is something to keep.
    let id = '';
    let data = '';
    const name = () => {
      if (id !== '') return;
      id = `${Date.now().toString(36)}-${randomBytes(6).toString('hex')}`;
      data = join(folder, `${id}.data`);
    };
    const fresh: [string, Place][] = [];
    const added = new Set<string>();
    const there = new Map<string, boolean>();
    /** Another process may have dropped the file that this one remembers. */
    const isThere = (content: string): boolean => {
      const file = places().get(content)?.file;
      if (file === undefined) return false;
      const found = there.get(file) ?? existsSync(file);
      there.set(file, found);
      return found;
    };
    let waiting: Buffer[] = [];
    let [written, held] = [0, 0];
    let file: number | null = null;
    const flush = () => {
      if (waiting.length === 0) return;
      if (file === null) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        file = openSync(data, 'wx', 0o600);
      }
      const all = Buffer.concat(waiting);
      let at = 0;
      while (at < all.length) at += writeSync(file, all, at);
      waiting = [];
      held = 0;
    };
    const abandon = () => {
      if (file === null) return;
      closeSync(file);
      file = null;
      rmSync(data, { force: true });
    };
    return {
      keep(content, bytes) {
        if (bytes.length > LARGEST || written + bytes.length > MOST_BYTES) return;
        if (added.has(content) || isThere(content)) return;
        name();
        added.add(content);
        fresh.push([content, { file: data, at: written, length: bytes.length }]);
        waiting.push(bytes);
        written += bytes.length;
        held += bytes.length;
        if (held >= BATCH) flush();
      },
      end() {
        if (fresh.length === 0) return;
        const index = join(folder, `${id}.index`);
        try {
          flush();
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          if (file === null) file = openSync(data, 'wx', 0o600);
          const lines = fresh.map(([content, { at, length }]) => `${content} ${at} ${length}`).join('\n');
          writeFileSync(`${index}.part`, `${lines}\n`, { mode: 0o600 });
          renameSync(`${index}.part`, index);
        } catch (error) {
          rmSync(`${index}.part`, { force: true });
          abandon();
          throw error;
        }
        closeSync(file);
        file = null;
        for (const [content, place] of fresh) places().set(content, place);
      },
      abandon,
    };
  }

  return {
    begin,
    read(content) {
      let place = places().get(content);
      if (place === undefined) {
        // Another process may have kept it since.
        known = null;
        place = places().get(content);
      }
      if (place === undefined) return null;
      const bytes = Buffer.alloc(place.length);
      try {
        const file = openSync(place.file, 'r');
        try {
          readSync(file, bytes, 0, place.length, place.at);
        } finally {
          closeSync(file);
        }
      } catch {
        return null;
      }
      return hash('sha256', bytes, 'hex') === content ? bytes : null;
    },
    size() {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    },
    dropUnused(used, ageMs) {
      const inUse = new Set<string>();
      for (const [content, { file }] of places()) if (used.has(content)) inUse.add(file);
      for (const file of new Set([...places().values()].map((place) => place.file))) {
        const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
        if (inUse.has(file) || age < ageMs) continue;
        // The index goes first: one without its contents would name what is not there.
        rmSync(file.replace(/\.data$/, '.index'), { force: true });
        rmSync(file, { force: true });
      }
      known = null;
    },
  };
}
