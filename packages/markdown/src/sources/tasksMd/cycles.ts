/** The circles in a graph, each as the way around it; one for each place where the walk comes back to itself. */
export function cyclesIn(
  edges: ReadonlyMap<string, readonly string[]>,
  limit: number,
): readonly (readonly string[])[] {
  const done = new Set<string>();
  const found: string[][] = [];
  for (const root of edges.keys()) {
    if (done.has(root) || found.length >= limit) continue;
    // A stack of our own: a chain of thousands of tasks must not overflow the machine's.
    const path: { readonly node: string; next: number }[] = [{ node: root, next: 0 }];
    const onPath = new Set([root]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = edges.get(top.node)?.[top.next++];
      if (target === undefined) {
        path.pop();
        onPath.delete(top.node);
        done.add(top.node);
      } else if (onPath.has(target)) {
        if (found.length >= limit) break;
        const nodes = path.map(({ node }) => node);
        found.push([...nodes.slice(nodes.indexOf(target)), target]);
      } else if (!done.has(target) && edges.has(target)) {
        path.push({ node: target, next: 0 });
        onPath.add(target);
      }
    }
  }
  return found;
}
