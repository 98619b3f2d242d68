import { isJsonObject, own } from '@phasegate/core';
import type { Context, Hono } from 'hono';
import type { Acts } from './acts.ts';
import { humanOf } from './callers.ts';
import { isAdmin } from './isAdmin.ts';
import { noteEnd } from './noteEnd.ts';
import type { RestEnv, RestParts } from './parts.ts';
import { RequestRefused } from './problem.ts';
import type { ListedSession, Sessions } from './sessions.ts';

/** Registers what lists and ends sessions: one's own, and for an admin everybody's. */
export function registerSessionList(
  app: Hono<RestEnv>,
  { project }: Pick<RestParts, 'project'>,
  { sessions, acts }: { readonly sessions: Sessions; readonly acts: Acts },
): void {
  app.get('/api/v1/sessions', async (c) => {
    const { name, id, operator } = humanOf(c);
    const all = await isAdmin(project, { name, operator });
    const shown = (await sessions.list()).filter((session) => all || session.name === name);
    return c.json({ sessions: shown.map((session) => encodeSession(session, id)) });
  });

  app.delete('/api/v1/sessions/:id', async (c) => {
    const human = humanOf(c);
    demandNothingElse(c);
    const wanted = c.req.param('id');
    const found = (await sessions.list()).find((session) => session.id === wanted);
    if (
      found === undefined ||
      (found.name !== human.name && !(await isAdmin(project, { name: human.name, operator: false })))
    ) {
      throw new RequestRefused('route_unknown', 'there is no such session');
    }
    // Anyone may end their own; what is somebody else's is an act, with its proof.
    if (found.name !== human.name) await acts(c, c.get('caller'), { method: 'delete' });
    const ended = await sessions.revoke(found.id);
    if (ended !== null) await noteEnd(project, ended, { by: human.name, how: 'revoked' });
    return c.body(null, 204);
  });
}

function demandNothingElse(c: Context<RestEnv>): void {
  const body = c.get('body') ?? {};
  const known =
    isJsonObject(body) && Object.keys(body).every((key) => key === 'passphrase' || key === 'passkey');
  const passphrase = own(body, 'passphrase');
  if (known && (passphrase === undefined || typeof passphrase === 'string')) return;
  throw new RequestRefused('request_invalid', 'the body holds the proof of an act and nothing else');
}

function encodeSession({ id, name, carrier, madeAt, usedAt, expiresAt }: ListedSession, own: string) {
  return {
    id,
    name,
    carrier,
    made_at: madeAt,
    used_at: usedAt,
    expires_at: expiresAt,
    current: id === own,
  };
}
