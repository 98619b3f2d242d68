/** ISO time of a clock's milliseconds. Many calls come within one, and writing it out costs more than judging them. */
export function instantOf(now: number): string {
  if (now !== lastTime) {
    lastTime = now;
    lastInstant = new Date(now).toISOString();
  }
  return lastInstant;
}

let lastTime = Number.NaN;
let lastInstant = '';
