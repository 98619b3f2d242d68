import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Phrases nobody writes who speaks English from childhood, and what to write instead. */
export const BANNED_PHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!\b[Tt]here )(?<!\b[Hh]ere )\bis no (?:agent|file|folder|name|number|phase|run|text|tool|workflow)\b/,
    'is not a …',
  ],
  [/\bgone around\b/, 'bypassed'],
  [/\bgone on with\b/, 'resumed'],
  [/\bwhoever\b/i, 'the caller, anyone who …, the one who …'],
  [/\bmended\b/i, 'fixed, corrected'],
  [/\bnot to be had\b/, 'not available'],
  [/\bshown out\b/, 'closed, disconnected'],
  [/\bin vain\b/, 'without success'],
  // A description of a tool that 0.1.0 had stays as it was.
  [
    /\b(?:can|cannot|can never) be had\b(?! honestly, use report_blocked)/,
    'is (not) available, can(not) be provided',
  ],
];

/** Names what is banned, or keeps what others wrote. */
const EXEMPT =
  /^(?:CONTRIBUTING\.md|test\/phrases|test\/requirements\/ledger|test\/compatibility\/|package-lock\.json)|\/fixtures\//;

/** The files of a repository whose words are ours, relative to it. */
export function writtenFiles(root: string): readonly string[] {
  const walk = (folder: string): readonly string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (['node_modules', 'dist', '.git'].includes(entry.name)) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() ? [relative(root, path)] : [];
    });
  return walk(root).filter((file) => /\.(?:tsx?|md|yaml|html)$/.test(file) && !EXEMPT.test(file));
}

/** Where banned phrases are, and what to write instead. */
export function bannedIn(root: string, files: readonly string[]): readonly string[] {
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        BANNED_PHRASES.filter(([phrase]) => phrase.test(line)).map(
          ([phrase, instead]) => `${file}:${index + 1}: ${phrase.source}: write \`${instead}\``,
        ),
      ),
  );
}
