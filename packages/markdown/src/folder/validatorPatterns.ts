import type { FieldType } from './evidence.ts';

/** A number in the name of a validator: `0_85` is 0.85. */
const NUMBER = '(\\d+(?:_\\d+)?)';
const WHOLE = '(\\d+)';

/** Validators that carry their numbers in their names, with how they are written out. */
const PATTERNS: readonly (readonly [shown: string, names: readonly string[], rule: string])[] = [
  ['min_length_N', [`min_(?:length|len|items|size)_${WHOLE}`], 'len(x) >= $1'],
  ['max_length_N', [`max_(?:length|len|items|size)_${WHOLE}`], 'len(x) <= $1'],
  ['length_N', [`(?:exact_|has_)?(?:length|len)_${WHOLE}`], 'len(x) == $1'],
  [
    'greater_than_or_equal_N',
    [`(?:greater_than_or_equal(?:_to)?|greater_or_equal|gte|at_least|min)_${NUMBER}`],
    'x >= $1',
  ],
  [
    'less_than_or_equal_N',
    [`(?:less_than_or_equal(?:_to)?|less_or_equal|lte|at_most|max)_${NUMBER}`],
    'x <= $1',
  ],
  ['greater_than_N', [`(?:greater_than|more_than|gt)_${NUMBER}`], 'x > $1'],
  ['less_than_N', [`(?:less_than|fewer_than|lt)_${NUMBER}`], 'x < $1'],
  ['equals_N', [`(?:equals|equal_to|eq|exactly)_${NUMBER}`], 'x == $1'],
  ['not_equals_N', [`(?:not_equals?|not_equal_to|neq|ne)_${NUMBER}`], 'x != $1'],
  [
    'between_N_and_N',
    [`(?:between|range|in_range)_${NUMBER}_(?:and|to)_${NUMBER}`, `(?:between|in_range)_${WHOLE}_${WHOLE}`],
    '$1 <= x <= $2',
  ],
  ['percent_gte_N', [`percent(?:age)?_(?:gte|at_least|min)_${NUMBER}`], '$1 <= x <= 100'],
  ['percent_lte_N', [`percent(?:age)?_(?:lte|at_most|max)_${NUMBER}`], '0 <= x <= $1'],
];

/** How the patterns are shown to an author. */
export const PATTERN_NAMES: readonly string[] = [...PATTERNS.map(([shown]) => shown), 'equals_WORD'];

/** The rule a name with a number or a word in it stands for, or undefined. */
export function ruleOfPattern(name: string, type: FieldType): string | undefined {
  for (const [, names, rule] of PATTERNS) {
    for (const pattern of names) {
      const match = new RegExp(`^${pattern}$`).exec(name);
      if (match === null) continue;
      return rule.replace(/\$(\d)/g, (_, index: string) => written(match[Number(index)] ?? ''));
    }
  }
  // A word can only be what a text is: a number that equals it would never be had.
  const word = type === 'str' ? /^(?:equals|equal_to|eq)_([a-z]\w*)$/.exec(name)?.[1] : undefined;
  return word === undefined ? undefined : `x == ${JSON.stringify(word)}`;
}

/** `0_85` as 0.85, and a number without the zeros that would make it no literal. */
function written(number: string): string {
  return String(Number(number.replace('_', '.')));
}
