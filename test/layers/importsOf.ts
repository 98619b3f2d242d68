import { type Token, tokensOf } from './tokensOf.ts';

/** One import, export-from or `import()` of a file. */
export interface Import {
  readonly specifier: string;
  /** A type import leaves no trace at run time. */
  readonly kind: 'value' | 'type';
  readonly line: number;
}

/** Everything a source file imports, types included. A computed `import()` has no specifier and is left out. */
export function importsOf(source: string): readonly Import[] {
  const tokens = tokensOf(source);
  const imports: Import[] = [];
  tokens.forEach((token, at) => {
    if (tokens[at - 1]?.text === '.' || tokens[at - 1]?.text === '?.') return;
    const found =
      token.text === 'import'
        ? readImport(tokens, at)
        : token.text === 'export'
          ? readFrom(tokens, at)
          : null;
    if (found !== null) imports.push(found);
  });
  return imports;
}

function readImport(tokens: readonly Token[], at: number): Import | null {
  const next = tokens[at + 1];
  if (next === undefined) return null;
  if (next.literal !== null) return { specifier: next.literal, kind: 'value', line: next.line };
  if (next.text !== '(') return readFrom(tokens, at);
  const argument = tokens[at + 2];
  if (argument === undefined || argument.literal === null) return null;
  return { specifier: argument.literal, kind: 'value', line: argument.line };
}

/** Reads on from `import` or `export` over names, braces and stars to `from '…'`; anything else ends it. */
function readFrom(tokens: readonly Token[], at: number): Import | null {
  const first = tokens[at + 1]?.text;
  const second = tokens[at + 2]?.text;
  // `import type from './a.ts'` imports a value that happens to be called `type`.
  const typed =
    first === 'type' && second !== ',' && !(second === 'from' && tokens[at + 3]?.literal !== null);
  for (let here = at + 1; here < tokens.length; here += 1) {
    const token = tokens[here];
    if (token === undefined) return null;
    const from = tokens[here + 1]?.literal ?? null;
    if (token.text === 'from' && from !== null) {
      return { specifier: from, kind: typed ? 'type' : 'value', line: tokens[at]?.line ?? token.line };
    }
    const partOfClause = token.literal !== null || /^[\w$]+$|^[{},*]$/.test(token.text);
    if (!partOfClause) return null;
  }
  return null;
}
