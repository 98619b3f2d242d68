import { isUtf8 } from 'node:buffer';
import type { Admitted } from '../../runtime/ports.ts';
import { isKnownHost, RESPONSE_HEADERS } from './guards.ts';
import type { HotAnswer, HotRoutes } from './hotLane.ts';
import { readJson } from './jsonBody.ts';
import type { Metrics } from './metrics.ts';
import type { RestParts } from './parts.ts';
import { problemOf } from './problem.ts';
import type { RawRequest } from './rawRequest.ts';
import { type Asker, boundedResponse, boundedText } from './routes/boundReply.ts';
import type { Endpoint } from './routes/endpoint.ts';

/** What the fast lane is built from. */
export interface HotRouteParts {
  readonly parts: RestParts;
  readonly metrics: Pick<Metrics, 'request'>;
  /** The routes to be fast; each takes a phase token and a JSON body. */
  readonly routes: readonly Endpoint[];
}

/**
 * The routes an agent asks all day, without all that other requests need. A request goes this way only if every guard
 * of the usual way would let it pass: whatever is doubtful, and whatever is refused for what it is, is left to that
 * way, so that there is one place that refuses. What is answered is answered by the very same handlers.
 */
export function createHotRoutes({ parts, metrics, routes }: HotRouteParts): HotRoutes {
  const { settings, project, log } = parts;
  const byPath = new Map(routes.map((route) => [`/api/v1${route.path}`, route]));
  let host = '';

  /** Agents call the server by one name all the time. */
  function isOwn(asked: string): boolean {
    if (asked === host) return true;
    if (!isKnownHost(asked, settings)) return false;
    host = asked;
    return true;
  }

  function admitted({ host, authorization, contentType }: RawRequest): Admitted | null {
    if (!isOwn(host) || contentType !== 'application/json' || !authorization.startsWith('Bearer '))
      return null;
    try {
      return project.claims.admitAtOnce(authorization.slice(7));
    } catch {
      // A store that cannot be read: the usual way will meet that too, and says so.
      return null;
    }
  }

  async function answer(route: Endpoint, path: string, asked: Asked): Promise<HotAnswer> {
    const { admitted, body } = asked;
    let given: HotAnswer;
    try {
      const caller = { kind: 'token' as const, admitted };
      const reply = await route.handle({
        caller,
        body,
        parts,
        instance: path,
        params: undefined,
        query: undefined,
      });
      given =
        reply instanceof Response
          ? await written(await boundedResponse(reply, { caller, parts }))
          : plain(reply as Plain, { caller, parts });
    } catch (error) {
      given = await written(problemOf(error, path, log));
    }
    metrics.request(path, 'POST', given.status);
    return given;
  }

  return {
    paths: new Set(byPath.keys()),
    answer(request) {
      const route = byPath.get(request.path);
      if (route === undefined || request.body.length > settings.maxBody) return null;
      const who = admitted(request);
      const body = who === null ? null : readBody(route, request.body);
      return who === null || body === null ? null : answer(route, request.path, { admitted: who, body });
    },
  };
}

interface Asked {
  readonly admitted: Admitted;
  readonly body: unknown;
}

interface Plain {
  readonly status: number;
  readonly body?: unknown;
}

/** Null for what the route's own schema does not take. */
function readBody(route: Endpoint, bytes: Buffer): unknown {
  // A byte order mark is the usual way's business.
  if (!isUtf8(bytes) || bytes[0] === 0xef) return null;
  try {
    const read = route.body?.safeParse(readJson(bytes));
    return read?.success === true ? read.data : null;
  } catch {
    return null;
  }
}

function plain({ status, body }: Plain, asker: Asker): HotAnswer {
  return { status, headers: JSON_HEADERS, body: boundedText(body, asker) };
}

async function written(response: Response): Promise<HotAnswer> {
  const { headers } = response;
  for (const [name, value] of RESPONSE_HEADERS) if (!headers.has(name)) headers.set(name, value);
  return { status: response.status, headers: lines(headers), body: await response.text() };
}

function lines(headers: Iterable<readonly [string, string]>): string {
  return [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('');
}

const JSON_HEADERS = lines([['content-type', 'application/json'], ...RESPONSE_HEADERS]);
