import { parseCommandLine } from '../shell/shellWords.ts';
import { type GitOptions, gitOptionsOf } from './gitOptions.ts';

/** A line that is one git command of which every word is known, or why it is not. */
export type GitCommand = ({ readonly ok: true } & GitWords) | { readonly ok: false; readonly reason: string };

/** What a git command is made of. */
export interface GitWords {
  /** Behind `git`. */
  readonly words: readonly [string, ...string[]];
  /** All that git may take for the name of a file. */
  readonly places: readonly string[];
}

/**
 * Reads a line as one git command and nothing else. It goes by what may pass, command by command and option by option.
 * INVARIANT: a word that begins with `-` is an option that may pass wherever it stands, also as the value of another or
 * behind `--`: whatever git takes it for, nothing gets in by it.
 */
export function readGitCommand(line: string): GitCommand {
  const parsed = parseCommandLine(line);
  if (!parsed.ok) return no(`the command cannot be read with certainty: ${parsed.reason}`);
  const [words, ...others] = parsed.commands;
  if (words === undefined || others.length > 0) return no('one git command at a time');
  return readGitWords(words);
}

/** The same, of the words of one command. */
export function readGitWords(words: readonly string[]): GitCommand {
  const [program = '', ...rest] = words;
  if (program !== 'git') return no(`\`${program}\` is not git`);
  const at = rest.findIndex((word) => !HARMLESS_GLOBALS.has(word));
  const command = rest[at];
  if (command === undefined) return no('there is no git command');
  if (command.startsWith('-')) return no(`the option \`${command}\` before the command is not taken here`);
  const options = gitOptionsOf(command);
  if (options === undefined) return no(`\`git ${command}\` is not carried out here`);
  const given = rest.slice(at + 1);
  const read = readWords(given, options);
  if (typeof read === 'string') return no(read);
  const wrong = wrongWord(read.plain, options);
  if (wrong !== null) return no(wrong);
  return { ok: true, words: [command, ...given], places: [...read.plain, ...read.values] };
}

const HARMLESS_GLOBALS: ReadonlySet<string> = new Set(['--no-pager', '-P', '--no-optional-locks']);

type Kind = Exclude<keyof GitOptions, 'counts' | 'verbs' | 'remote' | 'index'>;

interface Read {
  /** Revisions, paths, names. */
  readonly plain: string[];
  /** Of options, but for texts. */
  readonly values: string[];
}

/** What stands in the words, or what is wrong with them. */
function readWords(words: readonly string[], options: GitOptions): Read | string {
  const read: Read = { plain: [], values: [] };
  const kinds = kindsOf(options);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--' || (options.counts === true && /^-\d+$/.test(word))) continue;
    if (!word.startsWith('-') || word === '-') {
      read.plain.push(word);
      continue;
    }
    const option = word.startsWith('--') ? longOption(word, kinds) : lettersOf(word, kinds);
    if (option === null) return `the option \`${word}\` is not taken here`;
    const next = option.value === null && WANTS.has(option.kind) ? words[++at] : option.value;
    if (next === undefined) return `the option \`${word}\` has no value`;
    if (option.value === null && next?.startsWith('-') === true)
      return `the value of \`${word}\` begins with \`-\`; join it to the option, as in \`--name=-value\``;
    if (next !== null && !TEXTS.has(option.kind)) read.values.push(next);
  }
  return read;
}

/** Their value may be in the next word. */
const WANTS: ReadonlySet<Kind> = new Set(['valued', 'text']);
const TEXTS: ReadonlySet<Kind> = new Set(['text', 'optionalText']);

interface Option {
  readonly kind: Kind;
  /** Joined to it; null where there is none. */
  readonly value: string | null;
}

function longOption(word: string, kinds: ReadonlyMap<string, Kind>): Option | null {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word.slice(2) : word.slice(2, equals);
  const kind = name.length < 2 ? undefined : kinds.get(name);
  if (kind === undefined || (kind === 'flags' && equals !== -1)) return null;
  return { kind, value: equals === -1 ? null : word.slice(equals + 1) };
}

/** One letter after another, until one has a value. */
function lettersOf(word: string, kinds: ReadonlyMap<string, Kind>): Option | null {
  const letters = [...word.slice(1)];
  for (const [index, letter] of letters.entries()) {
    const kind = kinds.get(letter);
    if (kind === undefined) return null;
    if (kind === 'flags') continue;
    const rest = letters.slice(index + 1).join('');
    return { kind, value: rest === '' ? null : rest };
  }
  return { kind: 'flags', value: null };
}

/** Why the words that are no options will not do; null where they will. */
function wrongWord(plain: readonly string[], { verbs, remote, index }: GitOptions): string | null {
  const first = plain[0] ?? '';
  if (verbs !== undefined && !verbs.split(' ').includes(first)) return `\`${first}\` is not carried out here`;
  // An address would bring in anything from anywhere, links and programs among it.
  if (remote === true && first !== '' && !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(first))
    return `\`${first}\` is not the name of a remote, and addresses are not taken here`;
  const magic = index === true ? undefined : plain.find((word) => word.startsWith(':'));
  return magic === undefined ? null : `\`${magic}\` begins with \`:\`; name the path itself`;
}

const known = new WeakMap<GitOptions, ReadonlyMap<string, Kind>>();

function kindsOf(options: GitOptions): ReadonlyMap<string, Kind> {
  const found = known.get(options);
  if (found !== undefined) return found;
  const kinds = new Map<string, Kind>();
  for (const kind of ['flags', 'optional', 'optionalText', 'valued', 'text'] as const)
    for (const name of (options[kind] ?? '').split(' ')) if (name !== '') kinds.set(name, kind);
  known.set(options, kinds);
  return kinds;
}

function no(reason: string): GitCommand {
  return { ok: false, reason };
}
