/** Phrases nobody writes who speaks English from childhood, and what to write instead. */
export const BANNED_PHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!\b[Tt]here )(?<!\b[Hh]ere )\bis no (?:agent|file|folder|name|number|phase|run|text|tool|workflow)\b/,
    'is not a …',
  ],
  [/\bgone around\b/, 'bypassed'],
  [/\bgone on with\b/, 'resumed'],
  [/\bwhoever asks\b/i, 'the caller'],
  [/\bnot to be had\b/, 'not available'],
  [/\bshown out\b/, 'closed, disconnected'],
  [/\bin vain\b/, 'without success'],
];
