declare global {
  // Node and browsers have it; the language's own library, which is all that core is compiled with, does not.
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** Tells a shelf to stop. */
export type Signal = AbortSignal;
