/** The part of `npm run lint` that biome cannot do: banned phrases, and equal lines in two files. */
import { fileURLToPath } from 'node:url';
import { comparedSources, equalLines, MOST_EQUAL } from './equalLines.ts';
import { bannedIn, writtenFiles } from './phrases.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const found = [
  ...bannedIn(root, writtenFiles(root)),
  ...equalLines(comparedSources(root)).map((places) => `${places}: ${MOST_EQUAL} equal lines`),
];
for (const finding of found) console.error(finding);
if (found.length > 0) process.exitCode = 1;
