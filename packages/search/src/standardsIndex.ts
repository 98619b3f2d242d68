import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import type { StandardsQuery } from '@phasegate/core/ports';
import { discardIndex, indexFault, inTransaction, isDamage, openIndex, resetIndex } from './indexDatabase.ts';
import { type Question, questionOf } from './questionOf.ts';
import { createStemmer } from './stemmer.ts';
import { type Synced, syncIndex } from './syncIndex.ts';

/** What an index is of, and where it lies. */
export interface IndexOptions {
  readonly root: string;
  readonly stateDir: string;
  readonly docs: readonly string[];
  readonly now: () => number;
}

/** The database of an index: opened when first asked, made anew when it turns out to be broken. */
export class StandardsIndex {
  readonly #file: string;
  readonly #options: IndexOptions;
  #database: DatabaseSync | undefined;
  #stems: ReturnType<typeof createStemmer> | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: IndexOptions) {
    this.#options = options;
    this.#file = join(options.stateDir, 'standards.db');
  }

  /** Brings the index up to date; one at a time, so that two searches do not read the same files twice. */
  sync(rebuild: boolean): Promise<Synced> {
    const synced = this.#queue.then(() =>
      this.use((database) => {
        if (rebuild) inTransaction(database, () => resetIndex(database));
        const { docs, now } = this.#options;
        return syncIndex({ database, root: realRoot(this.#options.root), docs, now });
      }),
    );
    this.#queue = synced.catch(() => undefined);
    return synced;
  }

  question({ query, terms = [] }: StandardsQuery): Question {
    const question = questionOf(query, terms, (words) => {
      this.#stems ??= createStemmer(this.#open());
      return this.#stems(words);
    });
    if (question !== null) return question;
    throw new PhasegateError('usage', 'the query has no word to look for');
  }

  /** INVARIANT: an index that cannot be used is a fault; it is never an answer without results. */
  async use<Result>(work: (database: DatabaseSync) => Result | Promise<Result>): Promise<Result> {
    try {
      return await work(this.#open());
    } catch (error) {
      if (!isDamage(error)) throw indexFault(error, this.#file);
    }
    try {
      this.#close();
      discardIndex(this.#file);
      const database = this.#open();
      const { root, docs, now } = this.#options;
      await syncIndex({ database, root: realRoot(root), docs, now });
      return await work(database);
    } catch (error) {
      throw indexFault(error, this.#file);
    }
  }

  async close(): Promise<void> {
    await this.#queue;
    this.#close();
  }

  #open(): DatabaseSync {
    this.#database ??= openIndex(this.#file);
    return this.#database;
  }

  #close(): void {
    this.#stems = undefined;
    this.#database?.close();
    this.#database = undefined;
  }
}

function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (cause) {
    throw new PhasegateError('file_unreadable', `\`${root}\` cannot be read`, { cause });
  }
}
