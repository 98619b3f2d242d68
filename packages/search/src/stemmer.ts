import type { DatabaseSync } from 'node:sqlite';
import { TOKENIZER } from './indexDatabase.ts';

/** Gives words the stem the index has for them. Asks the index's own tokenizer, so that the two can never differ. */
export function createStemmer(database: DatabaseSync): (words: readonly string[]) => readonly string[] {
  database.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem USING fts5(word, tokenize='${TOKENIZER}');
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem_term USING fts5vocab('temp', 'stem', 'instance')`);
  const add = database.prepare('INSERT INTO temp.stem (rowid, word) VALUES (?, ?)');
  const read = database.prepare('SELECT doc, term FROM temp.stem_term');
  const known = new Map<string, string>();

  return (words) => {
    const fresh = [...new Set(words)].filter((word) => !known.has(word));
    if (fresh.length > 0) {
      if (known.size > MOST_KNOWN) known.clear();
      database.exec('BEGIN');
      try {
        fresh.forEach((word, index) => {
          known.set(word, word);
          add.run(index + 1, word);
        });
        for (const { doc, term } of read.all()) known.set(fresh[Number(doc) - 1] as string, String(term));
      } finally {
        database.exec('ROLLBACK');
      }
    }
    return words.map((word) => known.get(word) ?? word);
  };
}

const MOST_KNOWN = 20_000;
