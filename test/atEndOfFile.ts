const ends: (() => unknown)[] = [];

/**
 * Does this when all tests of the file under way have finished. A hook of Vitest beside the function that starts
 * something would be set once in a process, for the first file that imports it, and many files share a process.
 */
export function atEndOfFile(end: () => unknown): void {
  ends.push(end);
}

/** Does all of it, the newest first, also where one fails. */
export async function endFile(): Promise<void> {
  const faults: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    try {
      await end();
    } catch (fault) {
      faults.push(fault);
    }
  }
  if (faults.length > 0)
    throw new AggregateError(faults, 'not all that a file of tests started could be ended');
}
