import { compare, describe, type Engine, type Hear, shortest } from './compare.ts';

/** How many cases were agreed on, and the first that was not, for a person to read. */
export interface Agreement {
  readonly agreed: number;
  readonly disagreement: string | null;
}

/** Compares engine and interpreter on that many cases, from a seed on; invalid drafts are passed over. */
export function agree(
  engine: Engine,
  { first, cases, hear }: { readonly first: number; readonly cases: number; readonly hear?: Hear },
): Agreement {
  let agreed = 0;
  for (let seed = first; agreed < cases; seed++) {
    const found = compare(engine, seed, hear);
    if (found === undefined) continue;
    if (found !== null) return { agreed, disagreement: describe(shortest(engine, found)) };
    agreed++;
  }
  return { agreed, disagreement: null };
}
