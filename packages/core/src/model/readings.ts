/** All that something was made from, so that it can be read once more to see whether it still says the same. */
export class Readings {
  readonly #taken: { readonly mark: string; again(): Promise<string> }[] = [];
  #lasting = true;

  /** Reads, and remembers what was found by a mark. INVARIANT: the same mark means the same for what is made of it. */
  async take<T>(read: () => Promise<T>, markOf: (found: T) => string): Promise<T> {
    const found = await read();
    this.#taken.push({ mark: markOf(found), again: async () => markOf(await read()) });
    return found;
  }

  /** What is made now depends on more than can be read again, so that it is made anew each time. */
  neverStand(): void {
    this.#lasting = false;
  }

  /** Whether everything, read again, says the same. What cannot be read any more does not. */
  async stand(): Promise<boolean> {
    if (!this.#lasting) return false;
    try {
      for (const { mark, again } of this.#taken) if ((await again()) !== mark) return false;
      return true;
    } catch {
      return false;
    }
  }
}

/** Values that are made once and given again while what they were made from reads the same. */
export class KeptValues<T> {
  readonly #kept = new Map<string, { readonly value: T; readonly readings: Readings }>();
  readonly #most: number;

  /** Of many only the newest `most` are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value under a key. All it was made from is read again before it is given a second time. */
  async get(key: string, make: (readings: Readings) => Promise<T>): Promise<T> {
    const known = this.#kept.get(key);
    if (known !== undefined && (await known.readings.stand())) {
      this.#put(key, known);
      return known.value;
    }
    const readings = new Readings();
    const value = await make(readings);
    this.#put(key, { value, readings });
    return value;
  }

  #put(key: string, made: { readonly value: T; readonly readings: Readings }): void {
    this.#kept.delete(key);
    this.#kept.set(key, made);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most) break;
      this.#kept.delete(oldest);
    }
  }
}
