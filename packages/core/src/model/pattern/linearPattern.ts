import { programOf } from './patternProgram.ts';
import { type PatternSpans, spansOf } from './patternSpans.ts';
import { NotLinear, parsePattern } from './patternTree.ts';
import { type PatternWalk, walkOf } from './patternWalk.ts';

/** A regular expression that is matched in a time that grows with the text and no faster. */
export interface LinearPattern extends PatternWalk, PatternSpans {}

/** A pattern ready for use, or why it cannot be used. */
export type CompiledPattern =
  | { readonly ok: true; readonly pattern: LinearPattern }
  | {
      readonly ok: false;
      /** What it has that cannot be matched in bounded time; null where it is not a regular expression at all. */
      readonly reason: string | null;
    };

/**
 * Compiles a regular expression of ECMA-262 with the flag `u`, as JSON Schema has them. The language's own engine goes
 * back and tries again, which thirty characters can make it do for years; this one walks all ways at once. What only
 * going back can do (lookaround, backreferences) it does not take.
 */
export function compilePattern(source: string): CompiledPattern {
  if (source.length > LONGEST_SOURCE) return { ok: false, reason: 'more than 10,000 characters' };
  try {
    new RegExp(source, 'u');
  } catch {
    return { ok: false, reason: null };
  }
  try {
    const program = programOf(parsePattern(source));
    return { ok: true, pattern: { ...walkOf(program), ...spansOf(program) } };
  } catch (error) {
    if (!(error instanceof NotLinear)) throw error;
    return { ok: false, reason: error.message };
  }
}

const LONGEST_SOURCE = 10_000;
