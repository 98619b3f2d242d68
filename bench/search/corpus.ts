import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Documents in a made language, whose words are some common and most rare, as in any text. */
export interface Corpus {
  readonly queries: readonly string[];
  readonly files: number;
}

/**
 * Writes documents of ten sections each, and a question for each document: two to six words taken from it. The same
 * seed gives the same corpus.
 */
export function writeCorpus(root: string, chunks: number): Corpus {
  const random = generator(20_260_101);
  const words = Array.from({ length: 20_000 }, () => makeWord(random));
  // Zipf: the n-th word is about 1/n as common as the first.
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? 'word';
  const text = (count: number) => Array.from({ length: count }, word).join(' ');
  // The commonest are what stop words are in English: in every text, and in no question once they are taken out.
  const stopWords = new Set(words.slice(0, 100));
  const files = Math.ceil(chunks / SECTIONS);
  const queries: string[] = [];
  for (let file = 0; file < files; file++) {
    const folder = join(root, 'docs', `area-${file % 20}`);
    mkdirSync(folder, { recursive: true });
    const sections = Array.from({ length: SECTIONS }, () => ({ heading: text(3), body: text(120) }));
    const body = sections.map(({ heading, body: said }) => `## ${heading}\n\n${said}.\n`).join('\n');
    writeFileSync(join(folder, `document-${file}.md`), `# ${text(4)}\n\n${body}`);
    const picked = (sections[file % SECTIONS]?.body.split(' ') ?? []).filter((one) => !stopWords.has(one));
    const start = Math.floor(random() * (picked.length - 6));
    queries.push(picked.slice(start, start + 2 + (file % 5)).join(' '));
  }
  return { queries, files };
}

const SECTIONS = 10;
const CONSONANTS = 'bcdfghklmnprstvw';
const VOWELS = 'aeiou';

function makeWord(random: () => number): string {
  const pick = (letters: string) => letters[Math.floor(random() * letters.length)] ?? 'a';
  return Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(CONSONANTS) + pick(VOWELS)).join('');
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
