/**
 * What only one of all who share a store does at a time, as it is seen outside: telling webhooks, making anchors. It
 * passes to another when the one who has it ends, is paused, or is cut off from the store.
 */
export interface Duty {
  /**
   * Whether it is this one's, as the store says now; it is taken where nobody has it. Who is paused after the answer may
   * act on it when another has the duty already, so it is asked before each act.
   */
  isMine(): Promise<boolean>;
  /** Leaves it to others for some seconds. Where none of them wants it, it can be taken again. */
  leave(): Promise<void>;
}
