import type { Arrow } from './arrowsOf.ts';

/** Every group of files that reach each other by their imports, each as one closed walk. Types count too. */
export function cyclesOf(arrows: readonly Arrow[]): readonly (readonly string[])[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  const cycles: string[][] = [];
  const reported = new Set<string>();
  for (const start of [...next.keys()].sort()) {
    if (reported.has(start)) continue;
    const walk = wayBack(start, next);
    if (walk === null) continue;
    for (const file of walk) reported.add(file);
    cycles.push(walk);
  }
  return cycles;
}

/** The shortest walk from a file back to itself, or null. */
function wayBack(start: string, next: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (let here = waiting.shift(); here !== undefined; here = waiting.shift()) {
    for (const file of next.get(here) ?? []) {
      if (file === start) return closeWalk(start, here, cameFrom);
      if (cameFrom.has(file)) continue;
      cameFrom.set(file, here);
      waiting.push(file);
    }
  }
  return null;
}

function closeWalk(start: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const walk = [start];
  for (let here: string | undefined = last; here !== undefined && here !== start; here = cameFrom.get(here)) {
    walk.unshift(here);
  }
  return [start, ...walk];
}
