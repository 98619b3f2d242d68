/** Whether one of these places, which are in order, is at the first or behind it, and before the end. */
export function isAnyWithin(
  places: readonly number[],
  first: number,
  end = Number.POSITIVE_INFINITY,
): boolean {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] as number) < first) low = middle + 1;
    else high = middle;
  }
  return (places[low] ?? Number.POSITIVE_INFINITY) < end;
}
