import { STOP_WORDS } from './stopWords.ts';

/** The words of a text in lower case, as the index cuts them: letters, digits and the marks on them. */
export function wordsOf(text: string): readonly string[] {
  return text.normalize('NFC').toLowerCase().match(WORD) ?? [];
}

/** The words that say what is looked for; all of them where nothing else would remain. */
export function contentWordsOf(text: string): readonly string[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
