/** One line of a difference. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Longer ways between two texts are not looked for: all of what lies between is told as removed and added. */
const MOST_EDITS = 1_000;

/** What has to be removed and added to make one list of lines of another: the shortest way, within a bound. */
export function lineDiff(
  before: readonly string[],
  after: readonly string[],
  mostEdits: number = MOST_EDITS,
): readonly DiffLine[] {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const [old, fresh] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return [
    ...marked('same', before.slice(0, start)),
    ...(shortest(old, fresh, mostEdits) ?? [...marked('removed', old), ...marked('added', fresh)]),
    ...marked('same', end === 0 ? [] : before.slice(-end)),
  ];
}

function marked(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

/**
 * The greedy walk of Myers: for each number of edits, how far every diagonal reaches. What was reached is kept per
 * number, and the way is read back from the end.
 */
function shortest(
  old: readonly string[],
  fresh: readonly string[],
  mostEdits: number,
): readonly DiffLine[] | null {
  if (old.length === 0 || fresh.length === 0) return null;
  const reached: Map<number, number>[] = [];
  let last = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(mostEdits, old.length + fresh.length); edits += 1) {
    const here = new Map<number, number>();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(last, diagonal, edits)
        ? (last.get(diagonal + 1) ?? 0)
        : (last.get(diagonal - 1) ?? 0) + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      here.set(diagonal, x);
      if (x >= old.length && x - diagonal >= fresh.length) return wayBack([...reached, last], old, fresh);
    }
    reached.push(last);
    last = here;
  }
  return null;
}

function isDown(last: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (last.get(diagonal - 1) ?? 0) < (last.get(diagonal + 1) ?? 0);
}

function wayBack(
  reached: readonly ReadonlyMap<number, number>[],
  old: readonly string[],
  fresh: readonly string[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let edits = reached.length - 1; edits >= 0; edits -= 1) {
    const last = reached[edits] as ReadonlyMap<number, number>;
    const diagonal = x - y;
    const down = isDown(last, diagonal, edits);
    const fromX = last.get(down ? diagonal + 1 : diagonal - 1) ?? 0;
    const fromY = fromX - (down ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      x -= 1;
      y -= 1;
      lines.push({ kind: 'same', text: old[x] as string });
    }
    if (edits === 0) break;
    if (down) lines.push({ kind: 'added', text: fresh[fromY] as string });
    else lines.push({ kind: 'removed', text: old[fromX] as string });
    [x, y] = [fromX, fromY];
  }
  return lines.reverse();
}
