import { compilePattern } from './linearPattern.ts';
import { type PatternTree, parsePattern } from './patternTree.ts';

/**
 * A short text that a pattern matches, made of the tree the engine matches with: the first of several ways, and of each
 * part as few as it asks for. Null for a pattern that cannot be used, or one whose places (`\b`, a `^` inside) no text
 * of this kind meets.
 */
export function samplePattern(source: string): string | null {
  const compiled = compilePattern(source);
  if (!compiled.ok) return null;
  const text = textFor(parsePattern(source));
  return text !== null && compiled.pattern.test(text, { left: MOST_STEPS }) === true ? text : null;
}

function textFor(tree: PatternTree): string | null {
  switch (tree.kind) {
    case 'character':
      return String.fromCodePoint(tree.code);
    case 'class':
      return memberOf(tree.source);
    case 'place':
      return '';
    case 'sequence':
      return joined(tree.parts.map(textFor));
    case 'choice':
      return tree.ways.map(textFor).find((text) => text !== null) ?? null;
    case 'repeated':
      // Nothing is always enough where the part may be left out, even if nothing fits it.
      return tree.least === 0 ? '' : (textFor(tree.part)?.repeat(tree.least) ?? null);
  }
}

function joined(texts: readonly (string | null)[]): string | null {
  return texts.includes(null) ? null : texts.join('');
}

/** A character of a class: a common one if it has one, else the first it has. */
function memberOf(source: string): string | null {
  const one = new RegExp(`^${source}$`, 'u');
  const common = COMMON.find((sign) => one.test(sign));
  if (common !== undefined) return common;
  for (let code = 0; code < LAST_CODE; code += 1) {
    const sign = String.fromCodePoint(code);
    if (one.test(sign)) return sign;
  }
  return null;
}

/** As many as a text of ours can need. */
const MOST_STEPS = 10_000_000;
const COMMON = [...'a01AZ_- .,:/'];
/** Beyond it stand characters that nobody asks for by a class. */
const LAST_CODE = 0x2_0000;
