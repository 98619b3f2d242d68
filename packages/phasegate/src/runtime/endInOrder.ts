/**
 * Ends things one after the other. INVARIANT: one that cannot be ended keeps none after it from being: a store that is away
 * must not leave programs running. Throws what went wrong first, when all have been tried.
 */
export async function endInOrder(ends: readonly (() => unknown)[]): Promise<void> {
  const failed: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw failed[0];
}
