import { quoted } from '../wording.ts';
import { ExpressionFault } from './expressionTree.ts';

/** One word or sign of a condition. `text` is as written; `end` is the offset behind it. */
export type Token =
  | {
      readonly kind: 'name' | 'symbol' | 'end';
      readonly text: string;
      readonly at: number;
      readonly end: number;
    }
  | {
      readonly kind: 'string';
      readonly value: string;
      readonly text: string;
      readonly at: number;
      readonly end: number;
    }
  | {
      readonly kind: 'number';
      readonly value: number;
      readonly text: string;
      readonly at: number;
      readonly end: number;
    };

/** Cuts a condition into tokens, the last of them `end`; throws an `ExpressionFault` at what is none. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = skipSpace(source, 0);
  while (at < source.length) {
    const token = tokenAt(source, at);
    tokens.push(token);
    at = skipSpace(source, token.end);
  }
  tokens.push({ kind: 'end', text: '', at: source.length, end: source.length });
  return tokens;
}

const SPACE = /[ \t\r\n]*/y;
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SYMBOL = /===|!==|==|!=|<=|>=|&&|\|\||[<>!()[\],.-]/y;
const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([bfnrtv0'"`\\/]))/y;
const PLAIN_ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  0: '\0',
};
const HINTS: Readonly<Record<string, string>> = {
  '=': 'to compare, write `===`',
  '&': '`and` is written `&&`',
  '|': '`or` is written `||`',
  '+': 'a condition has no arithmetic',
  '*': 'a condition has no arithmetic',
  '/': 'a condition has no arithmetic and no regular expressions',
  '%': 'a condition has no arithmetic',
  '?': 'a condition has no `?`; a missing path is an error',
  '`': 'text stands in single or double quotes',
};

function skipSpace(source: string, at: number): number {
  return at + (match(SPACE, source, at)?.[0].length ?? 0);
}

function tokenAt(source: string, at: number): Token {
  const first = source[at] ?? '';
  if (first === '"' || first === "'") return stringAt(source, at);
  if (first >= '0' && first <= '9') return numberAt(source, at);
  const name = match(NAME, source, at)?.[0];
  if (name !== undefined) return { kind: 'name', text: name, at, end: at + name.length };
  const symbol = match(SYMBOL, source, at)?.[0];
  if (symbol !== undefined) return { kind: 'symbol', text: symbol, at, end: at + symbol.length };
  const found = String.fromCodePoint(source.codePointAt(at) ?? 0);
  const hint = HINTS[found];
  throw syntax(at, `unexpected ${quoted(found)}${hint === undefined ? '' : `: ${hint}`}`);
}

function numberAt(source: string, at: number): Token {
  const text = match(NUMBER, source, at)?.[0] ?? '';
  const end = at + text.length;
  const value = Number(text);
  const goesOn = /[\p{ID_Continue}$.]/u.test(String.fromCodePoint(source.codePointAt(end) ?? 0x20));
  if (goesOn) throw syntax(at, `${quoted(source.slice(at, end + 1))} is not a number`);
  if (!Number.isFinite(value)) throw syntax(at, `${quoted(text)} is too large for a number`);
  return { kind: 'number', value, text, at, end };
}

function stringAt(source: string, at: number): Token {
  const quote = source[at];
  let value = '';
  for (let index = at + 1; index < source.length; ) {
    const character = source[index] ?? '';
    if (character === quote) {
      return { kind: 'string', value, text: source.slice(at, index + 1), at, end: index + 1 };
    }
    if (character === '\n' || character === '\r') break;
    if (character !== '\\') {
      value += character;
      index += 1;
      continue;
    }
    const escaped = match(ESCAPE, source, index);
    if (escaped === null)
      throw syntax(index, `unknown escape ${quoted(source.slice(index, index + 2))} in a string`);
    value += unescaped(escaped, index);
    index += escaped[0].length;
  }
  throw syntax(at, `a string that starts here is not closed with ${quoted(quote ?? '')}`);
}

function unescaped(escaped: RegExpExecArray, at: number): string {
  const [text, braced, unit, byte, plain = ''] = escaped;
  const code = braced ?? unit ?? byte;
  if (code === undefined) return PLAIN_ESCAPES[plain] ?? plain;
  const point = Number.parseInt(code, 16);
  if (point > 0x10ffff) throw syntax(at, `${quoted(text)} is not a character`);
  return braced === undefined ? String.fromCharCode(point) : String.fromCodePoint(point);
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function syntax(at: number, message: string): ExpressionFault {
  return new ExpressionFault({ code: 'syntax', message, at });
}
