import type { HeldAt } from '@phasegate/core/engine';
import type { Admitted, Beside, CallsOver } from './ports.ts';

/** What the token of the one who was admitted is for: the store writes what was asked with it only while that is so. */
export function heldAt({ epoch, principal, item, jti }: Admitted): HeldAt {
  return { epoch, agent: principal.name, item, ...(jti === undefined ? {} : { jti }) };
}

/** What must still be so when something is written that was asked by a token, where it was, and after these calls. */
export function providedThat(
  calls: CallsOver | undefined,
  admitted: Admitted | undefined,
): Pick<Beside, 'calls' | 'held'> {
  return {
    ...(calls === undefined ? {} : { calls }),
    ...(admitted === undefined ? {} : { held: heldAt(admitted) }),
  };
}
