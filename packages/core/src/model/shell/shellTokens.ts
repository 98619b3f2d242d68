import { quoted } from '../wording.ts';

/** A word with its quotes removed, or what stands between two commands. */
export type ShellToken =
  | {
      readonly kind: 'word';
      readonly text: string;
      /** It has a file pattern outside quotes, which bash would replace by the names of files. */
      readonly pattern: boolean;
    }
  | { readonly kind: 'separator'; readonly text: string };

/** Cuts a line into words and separators, or says why it cannot be sure how bash would. */
export function tokensOfLine(
  line: string,
):
  | { readonly ok: true; readonly tokens: readonly ShellToken[] }
  | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, tokens: new Lexer(line).tokens() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

const MAX_LINE = 10_000;
/** Every control character but tab and newline. */
const CONTROL = /[^\P{Cc}\t\n]/u;
/** White space and invisible characters that a reader would take for a blank and bash would not. */
const INVISIBLE = /[\p{Zs}\p{Zl}\p{Zp}\p{Cf}]/u;
/** The only redirections that write no file. */
const HARMLESS = /(?:2>&1|2?>[ \t]*\/dev\/null)(?=[ \t\n;&|]|$)/y;
const SEPARATOR = /&&|\|\||\|&|[;&|\n]/y;

/** The word `{}` with what stands around it; an escaped blank before it is part of the word. */
const LONE_BRACES = /^(?:|[ \t\n;&|]|[^\\][ \t\n;&|])\{\}(?:$|[ \t\n;&|])/;
/** Characters that end a command, and those that make a file pattern. */
const SEPARATORS: ReadonlySet<string> = new Set(';&|\n');
const PATTERN: ReadonlySet<string> = new Set('*?[');

class Refusal extends Error {}

class Lexer {
  readonly #line: string;
  #at = 0;
  #tokens: ShellToken[] = [];
  /** The word being read; null between words, since `''` is a word too. */
  #word: string | null = null;
  /** Whether the word so far is as written: no quote or backslash in it. */
  #bare = true;
  #pattern = false;

  constructor(line: string) {
    this.#line = line;
  }

  tokens(): readonly ShellToken[] {
    const line = this.#line;
    if (line.length > MAX_LINE) throw new Refusal(`a command line has at most ${MAX_LINE} characters`);
    if (CONTROL.test(line)) throw new Refusal('the line contains a control character');
    if (!line.isWellFormed()) throw new Refusal('the line is not valid Unicode');
    while (this.#at < line.length) this.#step(line[this.#at] ?? '');
    this.#endWord();
    return this.#tokens;
  }

  #step(character: string): void {
    if (character === ' ' || character === '\t') this.#blank();
    else if (character === "'") this.#single();
    else if (character === '"') this.#double();
    else if (character === '\\') this.#backslash();
    else if (character === '<' || character === '>' || this.#startsErrorStream()) this.#redirection();
    else if (SEPARATORS.has(character)) this.#separator();
    else this.#plain(character);
  }

  /** `2>` is a redirection only where a word could start: `a2>x` is the word `a2` and a `>`. */
  #startsErrorStream(): boolean {
    return this.#word === null && this.#line[this.#at] === '2' && this.#matches(HARMLESS) !== null;
  }

  #blank(): void {
    this.#endWord();
    this.#at += 1;
  }

  #separator(): void {
    const text = this.#matches(SEPARATOR) ?? '';
    const next = this.#line[this.#at + text.length];
    if (text === '&' && next === '>') throw new Refusal('`&>` redirects output to a file');
    this.#endWord();
    this.#tokens.push({ kind: 'separator', text });
    this.#at += text.length;
  }

  /** Adds a character that stands outside quotes. */
  #plain(character: string): void {
    this.#refuseSpecial(character);
    if (PATTERN.has(character)) this.#pattern = true;
    this.#word = (this.#word ?? '') + character;
    this.#at += 1;
  }

  #addQuoted(text: string): void {
    this.#word = (this.#word ?? '') + text;
    this.#bare = false;
  }

  #single(): void {
    const end = this.#line.indexOf("'", this.#at + 1);
    if (end === -1) throw new Refusal("a `'` is not closed");
    this.#addQuoted(this.#line.slice(this.#at + 1, end));
    this.#at = end + 1;
  }

  #double(): void {
    let text = '';
    for (let at = this.#at + 1; at < this.#line.length; at++) {
      const character = this.#line[at] ?? '';
      if (character === '"') {
        this.#addQuoted(text);
        this.#at = at + 1;
        return;
      }
      refuseExpansion(character, this.#line[at + 1]);
      if (character === '!') throw new Refusal('`!` in double quotes can stand for an earlier line');
      if (character !== '\\') {
        text += character;
        continue;
      }
      // Inside double quotes a backslash is kept unless it quotes something.
      const next = this.#line[at + 1] ?? '';
      if ('$`"\\'.includes(next)) text += next;
      else if (next === '!') throw new Refusal('`!` in double quotes can stand for an earlier line');
      else if (next !== '\n') text += `\\${next}`;
      at += 1;
    }
    throw new Refusal('a `"` is not closed');
  }

  #backslash(): void {
    const next = this.#line.codePointAt(this.#at + 1);
    if (next === undefined) throw new Refusal('the line ends with a backslash');
    const character = String.fromCodePoint(next);
    this.#at += 1 + character.length;
    // A backslash before a newline joins two lines and is not a word of its own.
    if (character !== '\n') this.#addQuoted(character);
  }

  #redirection(): void {
    if (this.#word !== null && this.#bare && /^[0-9]+$/.test(this.#word)) {
      throw new Refusal('a redirection of a numbered stream that is not `2>&1` or `2>/dev/null`');
    }
    const harmless = this.#matches(HARMLESS);
    if (harmless === null) throw new Refusal(redirectionReason(this.#line.slice(this.#at, this.#at + 3)));
    this.#endWord();
    this.#at += harmless.length;
  }

  #refuseSpecial(character: string): void {
    const next = this.#line[this.#at + 1];
    refuseExpansion(character, next);
    if (character === '(' || character === ')')
      throw new Refusal('`( )` is a subshell, a function or a pattern');
    if (character === '!') throw new Refusal('`!` turns a result round or stands for an earlier line');
    if (character === '#' && this.#word === null) throw new Refusal('`#` starts a comment');
    if (character === '~' && (this.#word === null || /[=:]$/.test(this.#word))) {
      throw new Refusal('`~` stands for a home directory');
    }
    if (character === '{' || character === '}') this.#refuseBrace();
    // `*` or `tes[t]` may become any word at all, an option or a forbidden name among them, by way of a file
    // called so. Behind a folder it can only become a path in that folder.
    if (PATTERN.has(character) && !this.#word?.includes('/')) {
      throw new Refusal('a file pattern must start with a folder, as in `./*.ts`, or stand in quotes');
    }
    // Nothing in ASCII that gets here is invisible, and most of a line is ASCII.
    if (character < '\x7f') return;
    const whole = String.fromCodePoint(this.#line.codePointAt(this.#at) ?? 0);
    if (INVISIBLE.test(whole)) throw new Refusal('an invisible character stands outside quotes');
  }

  /** `{}` as a whole word is text to bash; every other brace may be an expansion or a group. */
  #refuseBrace(): void {
    const start = this.#line[this.#at] === '{' ? this.#at : this.#at - 1;
    const around = this.#line.slice(Math.max(0, start - 2), start + 3);
    if (!LONE_BRACES.test(around)) throw new Refusal('`{ }` is a group or an expansion');
  }

  #matches(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#line)?.[0] ?? null;
  }

  #endWord(): void {
    if (this.#word !== null) this.#tokens.push({ kind: 'word', text: this.#word, pattern: this.#pattern });
    this.#word = null;
    this.#bare = true;
    this.#pattern = false;
  }
}

function refuseExpansion(character: string, next: string | undefined): void {
  if (character === '`') throw new Refusal('a backtick runs another command');
  if (character !== '$') return;
  if (next === '(') throw new Refusal('`$(` runs another command');
  if (next === "'" || next === '"')
    throw new Refusal(`${quoted(`$${next}`)} is a string with its own escapes`);
  throw new Refusal('`$` is replaced by the value of a variable');
}

function redirectionReason(text: string): string {
  if (text.startsWith('<<')) return '`<<` starts text that belongs to the command';
  if (text.startsWith('<(') || text.startsWith('>('))
    return `${quoted(text.slice(0, 2))} runs another command`;
  if (text.startsWith('<')) return '`<` reads a file';
  return '`>` writes a file; only `2>&1`, `>/dev/null` and `2>/dev/null` are understood';
}
