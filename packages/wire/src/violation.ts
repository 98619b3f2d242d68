import type { TreeChange } from '@phasegate/core/engine';

/** A path that was changed outside the phase's scope. */
export type Violation = {
  readonly path: string;
  readonly how: TreeChange['how'];
  /** Which tool call did it, where the audit knows. */
  readonly by?: string;
};
