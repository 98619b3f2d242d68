/** Humans by name, each with the human who made the key they sign with. */
export type MadeBy = Readonly<Record<string, string>>;

/**
 * The human a signature may really come from: who makes a key may know what opens it, and so may who made the maker's.
 * Two humans with the same one behind them are one where two are asked for.
 */
export function keyMaker(name: string, madeBy: MadeBy = {}): string {
  const way: string[] = [name];
  for (;;) {
    const last = way.at(-1) as string;
    if (!Object.hasOwn(madeBy, last)) return last;
    const maker = madeBy[last] as string;
    // They made each other's: nobody among them was first, so one name stands for all.
    if (way.includes(maker)) return [...way.slice(way.indexOf(maker))].sort()[0] as string;
    way.push(maker);
  }
}

/** Names are told apart as they are when somebody is added: never by case alone. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
