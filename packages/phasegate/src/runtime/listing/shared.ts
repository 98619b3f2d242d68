/**
 * Lets those who ask at about the same time share one act. INVARIANT: an act serves only those who asked before it
 * began, so that nothing that was there when they asked can have escaped it.
 */
export class Shared<T> {
  readonly #waiting = new Map<string, Promise<T>>();

  /** What an act gives that begins after this call. */
  ask(key: string, act: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const begun = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#waiting.delete(key);
      return act();
    });
    this.#waiting.set(key, begun);
    return begun;
  }
}
