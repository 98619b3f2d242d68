/**
 * Stops the clock of this process at a time, so that what was leased and signed then is alive now as it was then. Gives
 * the function that lets it go on. Timers are left alone: anyone who waits for one still gets it.
 */
export function stopClock(at: string): () => void {
  const real = globalThis.Date;
  const then = real.parse(at);
  globalThis.Date = class extends real {
    constructor(...given: readonly [] | readonly [number | string | Date]) {
      super(given.length === 0 ? then : given[0]);
    }

    static override now(): number {
      return then;
    }
  } as DateConstructor;
  return () => {
    globalThis.Date = real;
  };
}
