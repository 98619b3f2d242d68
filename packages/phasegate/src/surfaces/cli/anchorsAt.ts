import { PhasegateError } from '@phasegate/core';
import type { Invocation } from './command.ts';
import { usageError } from './usage.ts';

/**
 * The anchors at places outside, such as files. INVARIANT: a place without any anchor is a mistake, and nothing that was
 * checked.
 */
export async function anchorsAt(
  invocation: Pick<Invocation, 'project'>,
  places: readonly string[],
): Promise<readonly string[]> {
  const { anchors } = await invocation.project();
  const found: string[] = [];
  for (const place of places) {
    const read = await anchors.read(place).catch((error: unknown) => {
      throw withPlaces(error);
    });
    if (read.length === 0) throw usageError(`there is no anchor in \`${place}\``, 'phasegate audit anchor');
    found.push(...read);
  }
  return found;
}

function withPlaces(error: unknown): unknown {
  if (!(error instanceof PhasegateError) || error.code !== 'file_unreadable' || error.hint !== undefined)
    return error;
  return new PhasegateError(error.code, error.message, { hint: WANTED, cause: error });
}

const WANTED = 'name a file that `phasegate audit anchor --to FILE` wrote, or `git-note`';
