import { tokensOf } from '../layers/tokensOf.ts';

/**
 * The string literals of a union type such as `type Code = 'a' | 'b'`, read from source: types leave nothing to
 * import. Throws when there is no such type or when it is made of anything else.
 */
export function readUnion(source: string, name: string): readonly string[] {
  const tokens = tokensOf(source);
  const start = tokens.findIndex(
    (token, at) => token.text === 'type' && tokens[at + 1]?.text === name && tokens[at + 2]?.text === '=',
  );
  if (start < 0) throw new Error(`there is no union type \`${name}\``);
  const literals: string[] = [];
  for (let at = start + 3; tokens[at]?.text !== ';'; at += 1) {
    const token = tokens[at];
    if (token === undefined) throw new Error(`the union type \`${name}\` does not end`);
    if (token.literal !== null) literals.push(token.literal);
    else if (token.text !== '|') throw new Error(`the union type \`${name}\` holds \`${token.text}\``);
  }
  return literals;
}

/** The literals of every `readonly PROPERTY: '…'` in a source, e.g. the types of a union of events. */
export function readTags(source: string, property: string): readonly string[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, at) => {
    const tag = tokens[at + 3]?.literal ?? null;
    const tagged =
      token.text === 'readonly' && tokens[at + 1]?.text === property && tokens[at + 2]?.text === ':';
    return tagged && tag !== null ? [tag] : [];
  });
}
