import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { isFarTooDeep } from '../../limits/jsonDepth.ts';
import type { HookAnswer, HookClient, HookEvent } from '../../runtime/ports.ts';

/** One client's words: its event in, its answer out. */
export interface ClientAdapter {
  readonly client: HookClient;
  /** What happened, or why that cannot be said: then the client is told no. */
  read(payload: JsonObject): HookEvent | HookFault;
  /** A complete JSON object the client understands; `{}` is no opinion. */
  answer(answer: HookAnswer, event: HookEvent): JsonObject;
  /** A refusal that holds whatever the event was. */
  deny(reason: string): JsonObject;
}

/** An event that cannot be read. */
export interface HookFault {
  readonly fault: string;
}

/** A text field; undefined where it is absent or something else. */
export function textIn(payload: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = own(payload, name);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** A field that is an object; some clients send it as text. */
export function objectIn(payload: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  for (const name of names) {
    const value = own(payload, name);
    if (isJsonObject(value)) return value;
    if (typeof value === 'string' && value.startsWith('{')) {
      const read = parsed(value);
      if (read !== undefined) return read;
    }
  }
  return undefined;
}

/** What every client says of a session, or what is missing. */
export function placeIn(
  payload: JsonObject,
  names: { readonly session: readonly string[]; readonly cwd: readonly string[] },
): { readonly sessionId: string; readonly cwd: string } | HookFault {
  const sessionId = textIn(payload, ...names.session);
  if (sessionId === undefined) return { fault: `the event has no \`${names.session[0]}\`` };
  if (!/^[\w.:@+=-]{1,200}$/.test(sessionId))
    return { fault: `\`${names.session[0]}\` is not the id of a session` };
  const cwd = textIn(payload, ...names.cwd);
  if (cwd === undefined || !/^(?:\/|[A-Za-z]:[\\/])/.test(cwd))
    return { fault: 'the event does not say in which folder it happened' };
  return { sessionId, cwd };
}

/** Whether something could not be read. */
export function isFault(value: object): value is HookFault {
  return 'fault' in value;
}

function parsed(text: string): JsonObject | undefined {
  if (isFarTooDeep(Buffer.from(text))) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
