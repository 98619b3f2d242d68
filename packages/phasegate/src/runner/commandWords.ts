import { canonicalJson, type Json } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';

/** A command as words, or why it cannot be split. */
export type Words =
  | { readonly ok: true; readonly words: readonly [string, ...string[]] }
  | { readonly ok: false; readonly reason: string };

/**
 * Splits a command at white space. Quotes and backslashes keep words together as in a shell; nothing else of a
 * shell's is known, so `$`, `*`, `|` and `>` are letters like any other.
 */
export function splitCommand(command: string): Words {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let index = 0; index < command.length; index++) {
    const letter = command[index] as string;
    if (quote === null && /\s/.test(letter)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (letter === '\\' && quote !== "'" && index + 1 < command.length) {
      index++;
      word = (word ?? '') + (command[index] as string);
    } else if (letter === quote) {
      quote = null;
    } else if (quote === null && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== null) return { ok: false, reason: `the command has a ${quote} that is never closed` };
  if (word !== null) words.push(word);
  const [program, ...rest] = words;
  if (program === undefined || program === '') return { ok: false, reason: 'the command names no program' };
  return { ok: true, words: [program, ...rest] };
}

/**
 * Why an item cannot be put into these words, or null: items come from evidence, and one that begins with `-` where a
 * word begins would be an option to the program. Behind `--`, or inside of a word, it is what it looks like.
 */
export function itemProblem([, ...rest]: readonly [string, ...string[]], item: Json): string | null {
  const text = itemText(item);
  if (!text.startsWith('-')) return null;
  const end = rest.indexOf('--');
  const options = end === -1 ? rest : rest.slice(0, end);
  if (!options.some((word) => word.startsWith('{item}'))) return null;
  return `the item \`${oneLine(text.slice(0, 100))}\` begins with \`-\`, and the program would take it for an option; put \`--\` before \`{item}\` in the command, or read it from StepInput`;
}

/** The words with `{run}` and `{item}` replaced inside of them: a value never becomes two words. */
export function fillWords(
  [program, ...rest]: readonly [string, ...string[]],
  values: { readonly run: string; readonly item?: Json },
): readonly [string, ...string[]] {
  const { run, item } = values;
  const text = item === undefined ? undefined : itemText(item);
  const fill = (word: string) =>
    word.replaceAll(/\{(run|item)\}/g, (placeholder, name) => (name === 'run' ? run : (text ?? placeholder)));
  return [fill(program), ...rest.map(fill)];
}

/** An item as one word: a text as it is, anything else as JSON. */
export function itemText(item: Json): string {
  return typeof item === 'string' ? item : canonicalJson(item);
}
