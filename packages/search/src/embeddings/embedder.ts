/** Turns texts into vectors. Optional: without one, search goes by words alone. */
export interface Embedder {
  /** Names the model; vectors of two models are never compared. */
  readonly id: string;
  embed(
    texts: readonly string[],
    kind: 'document' | 'query',
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
}
