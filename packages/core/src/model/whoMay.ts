import type { Problems } from './problems.ts';
import { didYouMean } from './suggest.ts';

const PEOPLE = ['human', 'anyone'];

/** Whom an author keeps a choice for. `anyone` is what nothing said means, so that it is not written down. */
export function whoMay(
  said: string | undefined,
  path: readonly (string | number)[],
  problems: Problems,
): 'human' | undefined {
  if (said === 'human') return said;
  if (said !== undefined && !PEOPLE.includes(said)) {
    const message = `\`${said}\` is nobody a choice can be kept for: write \`human\` or \`anyone\`${didYouMean(said, PEOPLE)}`;
    problems.error([...path], 'bad_value', message);
  }
  return undefined;
}
