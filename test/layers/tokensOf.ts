import { type Token as AcornToken, tokenizer } from 'acorn';

/** One token of a source file. Comments are not tokens, so they can fool nobody. */
export interface Token {
  /** As written. */
  readonly text: string;
  /** The value, where the token is a string or a template without substitutions; else null. */
  readonly literal: string | null;
  /** From 1. */
  readonly line: number;
}

/**
 * The tokens of a TypeScript file. Only the tokenizer of the JavaScript parser is used: types are made of the
 * same tokens as JavaScript, so type imports are still there, which they are not once types are stripped.
 */
export function tokensOf(source: string): readonly Token[] {
  const raw = [...tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module', locations: true })];
  const tokens: Token[] = [];
  for (let at = 0; at < raw.length; at += 1) {
    const token = raw[at];
    if (token === undefined) break;
    const template = plainTemplate(raw, at);
    tokens.push({
      text: source.slice(token.start, token.end),
      literal: template ?? (token.type.label === 'string' ? literalOf(token) : null),
      line: token.loc?.start.line ?? 0,
    });
    if (template !== null) at += 2;
  }
  return tokens;
}

/** The comments of a TypeScript file, each with the line it begins at. */
export function commentsOf(source: string): readonly { readonly text: string; readonly line: number }[] {
  const found: { readonly text: string; readonly line: number }[] = [];
  const onComment = (_block: boolean, text: string, start: number) => {
    found.push({ text, line: source.slice(0, start).split('\n').length });
  };
  for (const _token of tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module', onComment }));
  return found;
}

function plainTemplate(raw: readonly AcornToken[], at: number): string | null {
  const [open, text, close] = raw.slice(at, at + 3);
  if (open?.type.label !== '`' || close?.type.label !== '`') return null;
  return text?.type.label.endsWith('template') ? literalOf(text) : null;
}

/** The parser's own types leave out the value its tokens have. */
function literalOf(token: AcornToken): string {
  return 'value' in token ? String(token.value) : '';
}
