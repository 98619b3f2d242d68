import { isJsonObject, type Json, type JsonObject, own, type PhaseId } from '@phasegate/core';

/** What a phase token says of itself. It is not verified here: the server does that, this only informs the client. */
export interface TokenClaims {
  readonly task_id: string;
  readonly phase: PhaseId;
  readonly epoch: number;
  /** Key of the item, in a parallel phase; null for the whole run. */
  readonly item: string | null;
  /** How long the token is good for from when it was issued, in milliseconds. Not a date: clocks differ. */
  readonly lifetimeMs: number;
}

/** Reads the claims of a phase token; null where it is none that can be read. */
export function readToken(token: string): TokenClaims | null {
  const claims = payloadOf(token);
  if (claims === null) return null;
  const [task_id, phase, epoch, item, iat, exp] = ['task_id', 'phase', 'epoch', 'item', 'iat', 'exp'].map(
    (name): Json => own(claims, name) ?? null,
  );
  if (typeof task_id !== 'string' || typeof epoch !== 'number') return null;
  if (typeof phase !== 'string' && typeof phase !== 'number') return null;
  if (typeof iat !== 'number' || typeof exp !== 'number') return null;
  return {
    task_id,
    phase,
    epoch,
    item: typeof item === 'string' ? item : null,
    lifetimeMs: (exp - iat) * 1000,
  };
}

function payloadOf(token: string): JsonObject | null {
  const payload = token.split('.')[1] ?? '';
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (c) =>
      c.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isJsonObject(claims) ? claims : null;
  } catch {
    return null;
  }
}
