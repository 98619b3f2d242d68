import type { Warning } from './verdict.ts';

/** The warnings as a part of something kept; nothing is written where there are none, so that old hashes stay. */
export function warned(warnings: readonly Warning[] | undefined): { readonly warnings?: readonly Warning[] } {
  return warnings === undefined || warnings.length === 0 ? {} : { warnings };
}
