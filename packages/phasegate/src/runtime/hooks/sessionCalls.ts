import type { KeptRecord, Store } from '../ports.ts';

/** What is kept of one call. */
export const CALL = 'call';

/**
 * What was decided on the calls of a session, the newest first. A session may have made any number of them, so they are
 * read in pieces, and others are served in between.
 */
export async function* sessionCalls(
  store: Pick<Store, 'keptAll'>,
  session: string,
): AsyncGenerator<KeptRecord, void> {
  let before: string | undefined;
  for (;;) {
    const piece = await store.keptAll(CALL, `${session}/`, { limit: PIECE, before });
    yield* piece.toReversed();
    if (piece.length < PIECE) return;
    before = piece[0]?.key;
    await aTurn();
  }
}

/** Lets others come in between. */
export function aTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** So many are looked at without a break. */
export const PIECE = 500;
