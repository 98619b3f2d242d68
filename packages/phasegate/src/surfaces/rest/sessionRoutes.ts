import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import { LONGEST_PASSPHRASE } from '@phasegate/core/contract';
import type { Context, Hono } from 'hono';
import type { Role } from '../../runtime/ports.ts';
import { bearerSession, cookieIn, humanOf } from './callers.ts';
import { dashboardResponse, registerPageFiles } from './dashboard.ts';
import { readLimited } from './jsonBody.ts';
import { FORGET_OTHERS } from './leftBehind.ts';
import { noteEnd } from './noteEnd.ts';
import { homePage, pageResponse, signInPage } from './pages.ts';
import type { HumanSession, RestEnv, RestParts } from './parts.ts';
import { pathOfPlace } from './place.ts';
import { type FieldProblem, RequestRefused, STATUS_OF } from './problem.ts';
import {
  type ListedSession,
  type Opened,
  SESSION_COOKIE,
  SESSION_SECONDS,
  type Sessions,
} from './sessions.ts';
import type { Passphrase, SignIn } from './signIn.ts';

/** Registers the pages a human signs in by and the session as a resource of the API. */
export function registerSessionRoutes(
  app: Hono<RestEnv>,
  parts: Pick<RestParts, 'project' | 'settings' | 'pages'>,
  { sessions, signIn }: { readonly sessions: Sessions; readonly signIn: SignIn },
): void {
  const { project, settings, pages } = parts;
  const cookie = (secret: string, place: string, life: number) =>
    `${SESSION_COOKIE}=${secret}; Path=${pathOfPlace(place)}; HttpOnly; SameSite=Strict; Max-Age=${life}${settings.secure ? '; Secure' : ''}`;
  const set = ({ secret, place }: Opened) => cookie(secret, place ?? '', SESSION_SECONDS);
  const noted = async (ended: ListedSession | null) => {
    if (ended !== null) await noteEnd(project, ended, { by: ended.name, how: 'signed_out' });
  };
  /** Ends the session a browser came with. */
  const signOut = async (c: Context<RestEnv>): Promise<string | undefined> => {
    const shown = cookieIn(c);
    await noted(await sessions.end(shown));
    return shown.place === '' || shown.place === null ? undefined : cookie('', shown.place, 0);
  };
  /** What a human may do, as the records have it now. */
  const describe = async (session: HumanSession) => {
    const human = (await project.humans.list()).find(({ name }) => name === session.name);
    return { ...told(session), ...(human === undefined ? {} : aboutHuman(human)) };
  };
  const go = (where: string, headers: Readonly<Record<string, string>> = {}) =>
    new Response(null, { status: 303, headers: { location: where, ...headers } });
  const enter = (opened: Opened) =>
    go(pathOfPlace(opened.place ?? ''), { 'set-cookie': set(opened), ...FORGET_OTHERS });

  app.get('/', async (c) => {
    // By the session's own path alone: nobody is told it who does not know it, and the cookie goes nowhere else.
    const session = await sessions.find(cookieIn(c));
    if (session === null) return go('/sign-in');
    if (pages !== undefined) return dashboardResponse(pages);
    const runs = await project.as({ kind: 'human', name: session.name }).runs({ limit: 50 });
    return pageResponse(homePage(session, runs));
  });

  if (pages !== undefined) registerPageFiles(app, pages);

  app.get('/sign-in', async (c) => {
    const code = c.req.query('code');
    // A browser or a chat that only looks ahead must not spend the link.
    const looksAhead = c.req.method === 'HEAD' || (c.req.header('sec-purpose') ?? '').includes('prefetch');
    if (code === undefined || looksAhead) return pageResponse(signInPage(null));
    return answerPage(async () => enter(await signIn.withCode(c, code, 'cookie')));
  });

  app.post('/sign-in', async (c) => {
    return answerPage(async () => enter(await signIn.withPassphrase(c, await formOf(c), 'cookie')));
  });

  app.post('/sign-out', async (c) => {
    const unset = await signOut(c);
    return go('/sign-in', unset === undefined ? {} : { 'set-cookie': unset });
  });

  app.post('/api/v1/session', async (c) => {
    const body = requestOf(c.get('body'));
    const carrier = body.bearer ? 'bearer' : 'cookie';
    const opened =
      'code' in body
        ? await signIn.withCode(c, body.code, carrier)
        : await signIn.withPassphrase(c, body, carrier);
    // A page never gets to see its session's secret; a program that has no cookies asks for it.
    if (opened.place === null)
      return c.json({ ...(await describe(opened.session)), session: opened.secret }, 201);
    c.header('set-cookie', set(opened));
    for (const [name, value] of Object.entries(FORGET_OTHERS)) c.header(name, value);
    return c.json({ ...(await describe(opened.session)), path: pathOfPlace(opened.place) }, 201);
  });

  app.get('/api/v1/session', async (c) => c.json(await describe(humanOf(c))));

  app.delete('/api/v1/session', async (c) => {
    humanOf(c);
    const bearer = c.req.header('authorization')?.replace(/^bearer +/i, '');
    if (bearer !== undefined) await noted(await sessions.end(bearerSession(bearer)));
    const unset = bearer === undefined ? await signOut(c) : undefined;
    if (unset !== undefined) c.header('set-cookie', unset);
    return c.body(null, 204);
  });
}

function aboutHuman({ role }: { readonly role: Role }) {
  return { role, can_decide: role !== 'viewer' };
}

function told({ name, operator, asksPassphrase, expiresAt }: HumanSession) {
  return {
    name,
    kind: 'human',
    can_decide: !operator,
    asks_passphrase: asksPassphrase,
    expires_at: expiresAt,
  };
}

/** What goes wrong at the form is shown on it. Faults go on to where all faults go. */
async function answerPage(act: () => Promise<Response>): Promise<Response> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PhasegateError)) throw error;
    const status = error instanceof RequestRefused ? error.status : STATUS_OF[error.code];
    if (status >= 500) throw error;
    const response = pageResponse(signInPage(error.message), status);
    const wait = error instanceof RequestRefused ? error.headers['retry-after'] : undefined;
    if (wait !== undefined) response.headers.set('retry-after', wait);
    return response;
  }
}

const LARGEST_FORM = 8 * 1024;

async function formOf(c: Context<RestEnv>): Promise<Passphrase> {
  const type = c.req.header('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
    throw new RequestRefused('request_invalid', 'this takes a form', { status: 415 });
  }
  const fields = new URLSearchParams(Buffer.from(await readLimited(c, LARGEST_FORM)).toString('utf8'));
  return checked({ name: fields.get('name') || undefined, passphrase: fields.get('passphrase') ?? '' });
}

type SessionRequest = { readonly bearer: boolean } & (Passphrase | { readonly code: string });

function requestOf(body: Json): SessionRequest {
  if (!isJsonObject(body)) throw wrongFields([{ field: '', message: 'the body must be an object' }]);
  const problems: FieldProblem[] = Object.keys(body)
    .filter((key) => !['name', 'passphrase', 'code', 'bearer'].includes(key))
    .map((key) => ({ field: key.slice(0, 100), message: 'is not known here' }));
  const textAt = (field: string): string | undefined => {
    const value = own(body, field);
    if (value === undefined || typeof value === 'string') return value;
    problems.push({ field, message: 'must be a string' });
    return undefined;
  };
  const [name, passphrase, code] = [textAt('name'), textAt('passphrase'), textAt('code')];
  const bearer = own(body, 'bearer') ?? false;
  if (typeof bearer !== 'boolean') problems.push({ field: 'bearer', message: 'must be a boolean' });
  if ((passphrase === undefined) === (code === undefined)) {
    problems.push({ field: 'passphrase', message: 'either `passphrase` or `code` is needed' });
  }
  if (problems.length > 0) throw wrongFields(problems);
  if (code !== undefined) return { bearer: bearer === true, code };
  return { bearer: bearer === true, ...checked({ name, passphrase: passphrase ?? '' }) };
}

function checked(given: Passphrase): Passphrase {
  const { name, passphrase } = given;
  if (passphrase === '' || passphrase.length > LONGEST_PASSPHRASE) {
    throw wrongFields([{ field: 'passphrase', message: `must have 1 to ${LONGEST_PASSPHRASE} characters` }]);
  }
  if (name !== undefined && name.length > 64) throw wrongFields([{ field: 'name', message: 'is too long' }]);
  return given;
}

function wrongFields(fields: readonly FieldProblem[]): RequestRefused {
  const [first] = fields;
  const text = first === undefined ? '' : `\`${first.field}\` ${first.message}`;
  return new RequestRefused('request_invalid', `the request cannot be used: ${text}`, { fields });
}
