import { compilePattern } from '../pattern/linearPattern.ts';
import type { Pass } from './schemaPass.ts';

/** Whether a text matches the pattern of a schema. A walk that takes too long over its patterns is given up. */
export function patternTest(source: string): (text: string, pass: Pass) => boolean {
  const compiled = compilePattern(source);
  // The survey of the schema has refused every pattern that cannot be used.
  if (!compiled.ok) throw new TypeError(`\`${source}\` cannot be used as a pattern`);
  const { pattern } = compiled;
  return (text, pass) => {
    const found = pattern.test(text, pass.matching);
    if (found === null) pass.overrun ??= 'takes too many steps to match the patterns of its schema';
    return found === true;
  };
}
