/** The time between two moments, in the largest unit that fits. */
export function between(at: number, now: number): string {
  const seconds = Math.round(Math.abs(now - at) / 1000);
  if (at > now + 1000) return `in ${lengthOf(seconds)}`;
  return seconds < 5 ? 'just now' : `${lengthOf(seconds)} ago`;
}

/** A number of seconds in the largest unit that fits. */
export function lengthOf(seconds: number): string {
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];
