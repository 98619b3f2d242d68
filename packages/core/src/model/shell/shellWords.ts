import { quoted } from '../wording.ts';
import { type ShellToken, tokensOfLine } from './shellTokens.ts';

/** A shell line as simple commands, or why it cannot be read with certainty. */
export type CommandLine =
  | { readonly ok: true; readonly commands: readonly (readonly string[])[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Splits a bash line into its simple commands, each as words with quotes removed. Whatever would need a real shell
 * to know which programs run with which words is refused: expansions, redirections to files, groups, keywords.
 */
export function parseCommandLine(line: string): CommandLine {
  const read = tokensOfLine(line);
  if (!read.ok) return read;
  const commands: string[][] = [];
  let words: string[] = [];
  let open: string | null = null;
  for (const token of [...read.tokens, END]) {
    if (token.kind === 'word') {
      const reason = words.length === 0 ? programProblem(token) : null;
      if (reason !== null) return { ok: false, reason };
      words.push(token.text);
      continue;
    }
    if (words.length > 0) {
      commands.push(words);
      words = [];
      open = token.text;
      continue;
    }
    // A newline may follow any separator; a second operator, or none before, is a syntax error to bash as well.
    if (token.text === '\n') continue;
    if (token === END && (open === null || !JOINING.has(open))) break;
    if (token === END) return { ok: false, reason: `a command is missing after ${quoted(open ?? '')}` };
    return { ok: false, reason: `a command is missing before ${quoted(token.text)}` };
  }
  return commands.length > 0 ? { ok: true, commands } : { ok: false, reason: 'there is no command' };
}

/**
 * True when the words of one command fit a pattern: words are compared exactly, `*` is exactly one word, and `**`
 * at the end is the rest, which may be nothing. `git` does not match `/tmp/git`.
 */
export function matchCommand(pattern: string, words: readonly string[]): boolean {
  return compileCommandPattern(pattern)(words);
}

/** Compiles a pattern that is asked about more than once; one with a problem matches nothing. */
export function compileCommandPattern(pattern: string): (words: readonly string[]) => boolean {
  if (commandPatternProblem(pattern) !== null) return () => false;
  const parts = partsOf(pattern);
  const rest = parts.at(-1) === '**';
  const fixed = rest ? parts.slice(0, -1) : parts;
  return (words) => {
    if (words.length === 0) return false;
    if (rest ? words.length < fixed.length : words.length !== fixed.length) return false;
    return fixed.every((part, index) => part === '*' || part === words[index]);
  };
}

/** What is wrong with a pattern for commands, as the rest of a sentence about it, or null. */
export function commandPatternProblem(pattern: string): string | null {
  const parts = partsOf(pattern);
  if (parts.length === 0) return 'is empty';
  if (parts.slice(0, -1).includes('**')) return 'has `**` before its end';
  const mixed = parts.find((part) => part.includes('*') && part !== '*' && part !== '**');
  return mixed === undefined
    ? null
    : `has \`*\` inside the word ${quoted(mixed)}; \`*\` stands for a whole word`;
}

const END: ShellToken = { kind: 'separator', text: 'the end' };

/** Separators that need a command behind them. */
const JOINING: ReadonlySet<string> = new Set(['&&', '||', '|', '|&']);

const KEYWORDS: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac select function in time coproc [[ ]] [ { } !'.split(
    ' ',
  ),
);

function partsOf(pattern: string): readonly string[] {
  return pattern.split(' ').filter((part) => part !== '');
}

function programProblem(token: ShellToken & { readonly kind: 'word' }): string | null {
  const shown = quoted(token.text);
  if (token.text === '') return 'a program has an empty name';
  if (KEYWORDS.has(token.text)) return `${shown} is a word of the shell's own language`;
  if (token.pattern) return `the program ${shown} is a file pattern`;
  if (token.text.startsWith('^')) return `${shown} can stand for an earlier line`;
  if (token.text.startsWith('%')) return `${shown} stands for a job of the shell`;
  if (/^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/.test(token.text)) return `${shown} sets a variable`;
  return null;
}
