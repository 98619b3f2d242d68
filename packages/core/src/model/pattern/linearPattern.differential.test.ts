import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { compilePattern } from './linearPattern.ts';

// The language's own engine is the meaning of a pattern; on short texts it needs no longer than ours.
test('every answer is the one the language gives, for every pattern both can express [adv.O3]', () => {
  fc.assert(
    fc.property(anyPattern(), fc.array(anyText(), { minLength: 1, maxLength: 6 }), (source, texts) => {
      const compiled = compilePattern(source);
      // Groups repeated in repeated groups take the language's engine for ever, on any text.
      fc.pre(compiled.ok && (source.match(/\)[*+{?]/gu) ?? []).length <= 3);
      for (const text of texts) {
        const ours = compiled.pattern.test(text, { left: 1_000_000 });
        expect({ source, text, matches: ours }).toEqual({ source, text, matches: isMatched(source, text) });
      }
    }),
    { numRuns: cases({ quick: 300, full: 5000 }) },
  );
});

test('what is found is every character of every match there is, and nothing else [adv.O3]', () => {
  fc.assert(
    fc.property(anyPattern(), anyText(), (source, text) => {
      const compiled = compilePattern(source);
      fc.pre(compiled.ok && (source.match(/\)[*+{?]/gu) ?? []).length <= 3);
      const spans = compiled.pattern.spans(text, { left: 1_000_000 }) ?? [];
      const found = places(text).filter((at) => spans.some(({ from, to }) => from <= at && at < to));
      const all = places(text).filter((at) => isInMatch(source, text, at));
      expect({ source, text, found }).toEqual({ source, text, found: all });
    }),
    { numRuns: cases({ quick: 300, full: 5000 }) },
  );
});

/**
 * Whether the language finds a match that begins at a character. V8 by itself also looks between the halves of one, where
 * the specification looks for nothing: `\B` is found in `a😀a`.
 */
function isMatched(source: string, text: string): boolean {
  const here = new RegExp(source, 'uy');
  return [...places(text), text.length].some((at) => {
    here.lastIndex = at;
    return here.test(text);
  });
}

/** Where its characters begin. */
function places(text: string): readonly number[] {
  let at = 0;
  return [...text].map((character) => {
    at += character.length;
    return at - character.length;
  });
}

/** Whether some match of the language's has the character: every beginning and every end is tried. */
function isInMatch(source: string, text: string, at: number): boolean {
  const ends = [...places(text).slice(1), text.length];
  return places(text).some((from) =>
    ends.some((to) => {
      if (from > at || to <= at) return false;
      // Exactly from here to there, with all that is around it in sight.
      const exactly = new RegExp(`(?:${source})(?=[^]{${[...text.slice(to)].length}}$)`, 'uy');
      exactly.lastIndex = from;
      return exactly.test(text);
    }),
  );
}

const ATOMS = [
  ...['a', 'b', 'c', '0', '_', '-', ' ', 'é', '😀', '.', '\\.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S'],
  ...['[ab]', '[^ab]', '[a-c0-9]', '[\\]a]', '[\\w-]', '[^]', '[]', '[\\u{1F600}-\\u{1F64F}]', '[.^$]'],
  ...['\\p{L}', '\\P{Lu}', '\\p{Script=Greek}', '\\u{1F600}', '\\uD83D\\uDE00', '\\uD83D', '\\u0061'],
  ...['\\x61', '\\n', '\\0', '\\cA', '\\/', '\\\\', '^', '$', '\\b', '\\B', ''],
];
const QUANTIFIERS = ['*', '+', '?', '{2}', '{0}', '{1,}', '{0,2}', '{2,3}', '*?', '+?', '??', '{1,2}?'];

function anyPattern(): fc.Arbitrary<string> {
  const { pattern } = fc.letrec<{ pattern: string; sequence: string; part: string }>((tie) => ({
    pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((ways) => ways.join('|')),
    sequence: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
    part: fc
      .tuple(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.constantFrom(...ATOMS),
          fc.tuple(fc.constantFrom('(', '(?:'), tie('pattern')).map(([open, inner]) => `${open}${inner})`),
        ),
        fc.option(fc.constantFrom(...QUANTIFIERS), { nil: '', freq: 2 }),
      )
      // A place cannot be repeated, and what is empty has nothing to repeat.
      .map(([atom, quantifier]) => (/^(?:|\^|\$|\\[bB])$/.test(atom) ? atom : `${atom}${quantifier}`)),
  }));
  return pattern;
}

function anyText(): fc.Arbitrary<string> {
  const characters = [
    'a',
    'b',
    'c',
    'A',
    '0',
    '_',
    '-',
    ' ',
    '\n',
    'é',
    'λ',
    '😀',
    '\uD83D',
    '\uDE00',
    '.',
    ']',
  ];
  return fc
    .array(fc.constantFrom(...characters, '\0', '\u0001', '\\', '/'), { maxLength: 7 })
    .map((all) => all.join(''));
}
