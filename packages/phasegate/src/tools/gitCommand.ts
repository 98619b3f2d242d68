import { parseCommandLine } from '@phasegate/core/model';
import { ToolFailure } from './defineTool.ts';

/**
 * The words behind `git` of a line that is one git command and nothing else. It is a list of what may pass: commands
 * that start other programs, write elsewhere or change the configuration are not in it.
 */
export function readGitCommand(line: string): readonly [string, ...string[]] {
  const parsed = parseCommandLine(line);
  if (!parsed.ok) throw refused(`the command cannot be read with certainty: ${parsed.reason}`);
  const [words, ...others] = parsed.commands;
  if (words === undefined || others.length > 0) throw refused('one git command at a time');
  const [program, ...rest] = words;
  if (program !== 'git') throw refused(`\`${program}\` is not git`);
  const at = rest.findIndex((word) => !HARMLESS_GLOBALS.has(word));
  const command = rest[at];
  if (command === undefined) throw refused('there is no git command');
  if (command.startsWith('-'))
    throw refused(`the option \`${command}\` before the command is not taken here`);
  if (!COMMANDS.has(command)) throw refused(`\`git ${command}\` is not carried out here`);
  const given = rest.slice(at + 1);
  refuseOptions(command, given);
  refuseStrategies(command, given);
  refusePaths(command, given);
  return [command, ...(DIFFS.has(command) ? ['--no-ext-diff'] : []), ...given];
}

const HARMLESS_GLOBALS: ReadonlySet<string> = new Set([
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--literal-pathspecs',
]);

/** These start a program that shows differences where the user has one. */
const DIFFS: ReadonlySet<string> = new Set(['diff', 'diff-files', 'diff-index', 'diff-tree']);

const COMMANDS: ReadonlySet<string> = new Set(
  (
    'add apply blame branch cat-file check-ignore checkout cherry cherry-pick clean commit count-objects describe ' +
    'diff diff-files diff-index diff-tree fetch for-each-ref grep log ls-files ls-tree merge merge-base mv name-rev ' +
    'notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show ' +
    'show-branch show-ref stash status switch symbolic-ref tag version whatchanged'
  ).split(' '),
);

/**
 * Long options that name a program, a file to write, or a file to read through whatever link it is. Git takes any
 * beginning of them that is not ambiguous.
 */
const REFUSED_OPTIONS = [
  '--contents',
  '--exec',
  '--ext-diff',
  '--file',
  '--help',
  '--ignore-revs-file',
  '--no-index',
  '--open-files-in-pager',
  '--output',
  '--pathspec-from-file',
  '--receive-pack',
  '--template',
  '--unsafe-paths',
  '--upload-pack',
] as const;

/** The same as letters, by command; what follows `textAfter` in a word is text. */
const REFUSED_LETTERS: Readonly<Record<string, { readonly letters: RegExp; readonly textAfter: string }>> = {
  blame: { letters: /S/, textAfter: 'L' },
  commit: { letters: /[Ft]/, textAfter: 'm' },
  diff: { letters: /O/, textAfter: 'S' },
  grep: { letters: /[Of]/, textAfter: 'e' },
  merge: { letters: /F/, textAfter: 'm' },
  notes: { letters: /F/, textAfter: 'm' },
  rebase: { letters: /x/, textAfter: 'X' },
  tag: { letters: /F/, textAfter: 'm' },
};

/** INVARIANT: also behind a `--`, which ends the options only where it is not the value of one (`-X --`). */
function refuseOptions(command: string, words: readonly string[]): void {
  const rule = REFUSED_LETTERS[command];
  for (const word of words) {
    const [name = ''] = word.split('=');
    const long =
      name.startsWith('--') && name.length > 2 && REFUSED_OPTIONS.some((option) => option.startsWith(name));
    const cluster = /^-[^-]/.test(word) ? (word.slice(1).split(rule?.textAfter ?? '\0')[0] ?? '') : '';
    if (long || rule?.letters.test(cluster) === true) {
      throw refused(`the option \`${word}\` is not taken here`);
    }
  }
}

/** Git's own ways to merge. Any other name is that of a program, and with a slash in it that of a file of the workspace. */
const STRATEGIES: ReadonlySet<string> = new Set([
  'octopus',
  'ort',
  'ours',
  'recursive',
  'resolve',
  'subtree',
]);

/** Commands that take one, and whether `-s` is it. */
const MERGING: ReadonlyMap<string, boolean> = new Map([
  ['cherry-pick', false],
  ['merge', true],
  ['pull', true],
  ['rebase', true],
  ['revert', false],
]);

function refuseStrategies(command: string, words: readonly string[]): void {
  const byLetter = MERGING.get(command);
  if (byLetter === undefined) return;
  for (const [index, word] of words.entries()) {
    const given = strategyIn(word, byLetter);
    if (given === null) continue;
    const strategy = given === '' ? (words[index + 1] ?? '') : given;
    if (!STRATEGIES.has(strategy)) throw refused(`\`${strategy}\` is not a merge strategy of git's own`);
  }
}

/** The strategy that a word names; empty where it is the next word, and null where it names none. */
function strategyIn(word: string, byLetter: boolean): string | null {
  const [name = '', value = ''] = word.split(/=(.*)/s, 2);
  if (name.length > 2 && '--strategy'.startsWith(name)) return value;
  // What follows these letters in a word is their value.
  const cluster = byLetter && /^-[^-]/.test(word) ? (word.slice(1).split(/[FSXm]/)[0] ?? '') : '';
  const at = cluster.indexOf('s');
  return at === -1 ? null : word.slice(at + 2);
}

/** Everything in a word that git could take for a path: itself, what is behind `=`, what is joined to a short option. */
export function pathsIn(word: string): readonly string[] {
  const equals = word.indexOf('=');
  const joined = /^-[A-Za-z]./.test(word) ? word.slice(2) : '';
  return [word, equals === -1 ? '' : word.slice(equals + 1), joined].filter((path) => path !== '');
}

/** These read a file by any name, wherever it is: what looks like a path is one to them. */
const READS_ANY_FILE: ReadonlySet<string> = new Set(['apply', 'diff']);

/** Options whose value is text and no path. */
const TEXTS: ReadonlySet<string> = new Set([
  '-m',
  '--message',
  '--grep',
  '--author',
  '--date',
  '-S',
  '-G',
  '-e',
  '--format',
]);

/**
 * A path that leaves the workspace, wherever it stands: as a word, behind `=`, or joined to a short option. A range
 * of revisions such as `main..topic` has no `..` between slashes.
 */
function refusePaths(command: string, words: readonly string[]): void {
  for (const [index, word] of words.entries()) {
    const isValue = TEXTS.has(words[index - 1] ?? '') || isText(word);
    if (isValue && !READS_ANY_FILE.has(command)) continue;
    if (!pathsIn(word).some(leaves)) continue;
    throw new ToolFailure('path_outside', `\`${word}\` is not a path inside the workspace`);
  }
}

function isText(word: string): boolean {
  const equals = word.indexOf('=');
  return (equals !== -1 && TEXTS.has(word.slice(0, equals))) || /^-[mSG]./.test(word);
}

function leaves(path: string): boolean {
  if (path.startsWith('/') || path.startsWith('~') || path.includes('\\')) return true;
  return path.split('/').includes('..');
}

function refused(message: string): ToolFailure {
  return new ToolFailure('git_refused', message);
}
