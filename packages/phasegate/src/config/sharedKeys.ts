import { PhasegateError } from '@phasegate/core';
import { isOutside } from './isOutside.ts';

/**
 * The file with the keys of all nodes, where PHASEGATE_KEYS_FILE names one; null where each has its own. It is in the
 * environment because agents can write the config, and outside of the project because they can write there.
 */
export function sharedKeysFile(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const named = env[KEYS_VARIABLE] ?? '';
  if (named === '') return null;
  if (isOutside(root, named)) return named;
  throw new PhasegateError(
    'usage',
    `${KEYS_VARIABLE} must name a file outside of the project, from \`/\` on`,
    { hint: 'name one that only the user of the nodes can read, or leave it out' },
  );
}

/** The variable that names it. */
export const KEYS_VARIABLE = 'PHASEGATE_KEYS_FILE';
