/** A step whose work is handed to another agent; its result becomes the outcome. */
export interface Dispatch {
  readonly kind: 'dispatch';
  readonly agent: string;
  readonly script?: string;
  readonly prompt?: string;
  readonly supportsQuestions?: boolean;
}

/** Hands a step to another agent. */
export function Dispatch(to: Omit<Dispatch, 'kind'>): Dispatch {
  return Object.freeze({ ...to, kind: 'dispatch' as const });
}
