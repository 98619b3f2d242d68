import { writeSync } from 'node:fs';
import { VERSION, VERSION_WORDS } from './version.ts';

/**
 * Answers `phasegate --version`, alone on its line, without making a stream: that takes longer than all the rest. False
 * where something else is asked, or where it could not be written whole; then nothing is said yet that a second answer
 * would repeat.
 */
export function sayVersion(argv: readonly string[]): boolean {
  const [word, ...more] = argv;
  if (more.length > 0 || !VERSION_WORDS.includes(word ?? '')) return false;
  try {
    // A few bytes are taken whole or not at all.
    return writeSync(1, `${VERSION}\n`) > 0;
  } catch {
    return false;
  }
}
