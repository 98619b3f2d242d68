import type { HumanSession, RouteParts } from '../parts.ts';
import type { ActRequest } from '../passkeys/actRequest.ts';
import { requestText } from '../passkeys/provenAct.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { BASE, ENDPOINTS } from './index.ts';
import { readRequest } from './readRequest.ts';

/**
 * What a human signs by an act, or, where it leaves no signature, all of its request. It is made in the same way when a
 * passkey is challenged and when the act comes, so that an assertion is good for that act alone.
 */
export async function textOfAct(act: ActRequest, session: HumanSession, parts: RouteParts): Promise<string> {
  for (const route of ENDPOINTS) {
    if (route.signs === undefined || route.method.toUpperCase() !== act.method.toUpperCase()) continue;
    const params = paramsIn(route, act.path);
    if (params === null) continue;
    const read = readRequest({ params, query: act.query, body: act.body }, route);
    const caller = { kind: 'human', session } as const;
    return route.signs({ ...read, caller, parts, instance: act.path } as Call);
  }
  return requestText(act, session);
}

function paramsIn({ path }: Pick<Endpoint, 'path'>, asked: string): Readonly<Record<string, string>> | null {
  const [parts, given] = [`${BASE}${path}`.split('/'), asked.split('/')];
  if (parts.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) params[name] = given[at] ?? '';
    else if (part !== given[at]) return null;
  }
  return params;
}
