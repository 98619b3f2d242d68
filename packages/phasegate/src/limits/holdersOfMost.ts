/** Who holds the most of what is shared: they give way, and nobody else, when there is no more of it. */
export function holdersOfMost(names: Iterable<string>): ReadonlySet<string> {
  const held = new Map<string, number>();
  for (const name of names) held.set(name, (held.get(name) ?? 0) + 1);
  const most = Math.max(0, ...held.values());
  return new Set([...held].filter(([, count]) => count === most).map(([name]) => name));
}
