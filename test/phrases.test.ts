import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BANNED_PHRASES } from './phrases.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Names what is banned, or keeps what others wrote. */
const EXEMPT = /^(?:CONTRIBUTING\.md|test\/phrases|test\/compatibility\/|package-lock\.json)|\/fixtures\//;

test('nothing we write has a phrase from the list of those we do not use', () => {
  const files = filesUnder(root).filter((file) => /\.(?:ts|md|yaml)$/.test(file) && !EXEMPT.test(file));
  expect(files.length).toBeGreaterThan(1000);

  const found = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        BANNED_PHRASES.filter(([phrase]) => phrase.test(line)).map(
          ([phrase, instead]) => `${file}:${index + 1}: ${phrase.source}: write \`${instead}\``,
        ),
      ),
  );

  expect(found).toEqual([]);
});

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git'].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return entry.isFile() ? [relative(root, path)] : [];
  });
}
