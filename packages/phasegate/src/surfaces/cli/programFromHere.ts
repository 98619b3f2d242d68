import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { oneLine, shellWord } from '@phasegate/core/model';
import { usageError } from './usage.ts';

/**
 * The words of a program that starts in an empty folder, where a relative path leads nowhere: the program, and the script
 * of an interpreter that is known, are meant from the folder the command was called in.
 */
export function programFromHere(
  [program, ...words]: readonly [string, ...string[]],
  here: string,
): readonly [string, ...string[]] {
  const own = program.includes('/') ? resolve(here, program) : program;
  const [script, ...rest] = words;
  if (script === undefined || !INTERPRETERS.test(basename(program)) || !mayBeFile(script))
    return [own, ...words];
  const found = resolve(here, script);
  if (statSync(found, { throwIfNoEntry: false })?.isFile() === true) return [own, found, ...rest];
  // Without a dot or a slash it may be a word of the interpreter's own.
  if (!/[./]/.test(script)) return [own, ...words];
  throw usageError(
    `\`${oneLine(script)}\` is not a file in this folder, and agents start in an empty folder of their own`,
    `name it by its whole path: \`-- ${[program, `/path/to/${basename(script)}`, ...rest].map(spelled).join(' ')}\``,
  );
}

/** Neither an option, nor where the prompt is put, nor what is found from anywhere. */
function mayBeFile(word: string): boolean {
  return word !== '' && !word.startsWith('-') && !word.includes('{prompt') && !isAbsolute(word);
}

function spelled(word: string): string {
  return /^\{prompt(?:_file)?\}$/.test(word) ? word : shellWord(word);
}

const INTERPRETERS = /^(?:node|nodejs|bun|tsx|python[\d.]*|ruby|perl|php|sh|bash|dash|zsh)$/;
