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
    const read = await anchors.read(place);
    if (read.length === 0) throw usageError(`there is no anchor in \`${place}\``, 'phasegate audit anchor');
    found.push(...read);
  }
  return found;
}
