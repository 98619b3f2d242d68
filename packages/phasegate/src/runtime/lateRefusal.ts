import type { Admitted, AuditStore } from './ports.ts';
import { TokenRefused } from './tokens/tokenFaults.ts';

/** Records what a token was refused for after its holder had been let in, and throws it on; any other fault passes. */
export async function recordLate(
  { store, time }: { readonly store: AuditStore; readonly time: string },
  { runId, principal, jti, phase, epoch, item }: Admitted,
  error: unknown,
): Promise<never> {
  if (error instanceof TokenRefused) {
    const { fault, message } = error;
    const about = { ...(jti === undefined ? {} : { jti }), phase, epoch, item };
    const data = { credential: 'phase_token', fault, message, ...about };
    await store.note(runId, [{ time, principal: `agent:${principal.name}`, event: 'token_refused', data }]);
  }
  throw error;
}
