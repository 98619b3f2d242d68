/** Gives what is made the first time it is asked for: a promise until then, and at once from then on. */
export function atOnceAfter<T>(make: () => Promise<T>): () => T | Promise<T> {
  let made: { readonly value: T } | undefined;
  let making: Promise<T> | undefined;
  return () => {
    if (made !== undefined) return made.value;
    making ??= make().then((value) => {
      made = { value };
      return value;
    });
    return making;
  };
}
