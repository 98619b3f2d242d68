/** Who wants to know of commits. */
export interface CommitListeners {
  /** Adds a listener; gives a function that takes it out again. */
  add(listener: () => void): () => void;
  /** Calls every listener; one that throws is not called again. */
  tell(): void;
  /** Takes out every listener. */
  clear(): void;
}

/** Makes a list of listeners; `busy` and `idle` are called when it gets its first and loses its last. */
export function createCommitListeners(
  watch: { readonly busy: () => void; readonly idle: () => void } = { busy: () => {}, idle: () => {} },
): CommitListeners {
  const listeners = new Set<{ readonly call: () => void }>();

  function remove(entry: { readonly call: () => void }): void {
    if (listeners.delete(entry) && listeners.size === 0) watch.idle();
  }

  return {
    add(call) {
      // An object of its own, so that the same function may listen twice.
      const entry = { call };
      listeners.add(entry);
      if (listeners.size === 1) watch.busy();
      return () => remove(entry);
    },
    tell() {
      for (const entry of [...listeners]) {
        try {
          if (listeners.has(entry)) entry.call();
        } catch {
          // What was committed is committed: a listener's fault is no one else's.
          remove(entry);
        }
      }
    },
    clear() {
      for (const entry of [...listeners]) remove(entry);
    },
  };
}
