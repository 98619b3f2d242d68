/**
 * Whose event it says it is, read from its first characters without reading all of it; empty where that is not said there.
 * It decides for whom an event waits, and nothing else.
 */
export function sessionIn(body: string): string {
  return SESSION.exec(body.slice(0, LOOKED_AT))?.[1] ?? '';
}

const SESSION = /"(?:session_id|sessionI[dD]|conversation_id)"\s*:\s*"([\w.:@+=-]{1,200})"/;
const LOOKED_AT = 4096;
