import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FairStarts } from '../../limits/fairStarts.ts';
import type { Admitted } from '../../runtime/ports.ts';
import { isKnownHost, RESPONSE_HEADERS } from './guards.ts';
import { notWhole, readJson } from './jsonBody.ts';
import { SMALL } from './largeBodies.ts';
import type { Metrics } from './metrics.ts';
import type { RestParts } from './parts.ts';
import { type PlainHead, plainHead } from './plainHead.ts';
import { problemOf } from './problem.ts';
import { boundedText, type PlainReply, responseTo } from './routes/boundReply.ts';
import type { Call, Endpoint } from './routes/endpoint.ts';
import { readRequest } from './routes/readRequest.ts';

/** The routes that are answered before Hono. */
export interface HotRoutes {
  /** Whether it answers the request. False leaves the request to Hono, with nothing of its body read. */
  take(request: IncomingMessage, response: ServerResponse, peer?: string): boolean;
}

/** What they are built from. */
export interface HotRouteParts {
  readonly parts: RestParts;
  readonly metrics: Pick<Metrics, 'request' | 'storeFault'>;
  /** By which those of one agent begin together for a moment: their bodies are read by then. */
  readonly starts: FairStarts;
  /** The routes to be fast; each takes a phase token and a JSON body. */
  readonly routes: readonly Endpoint[];
}

/**
 * The routes an agent asks all day, without the chain of guards that other requests need. The head of a request
 * decides: it is taken only where every guard would let it pass, and anyone who is to be refused for who they are or how
 * they ask is left to Hono. The body is read by the same functions and answered by the same handlers as there.
 */
export function createHotRoutes({ parts, metrics, starts, routes }: HotRouteParts): HotRoutes {
  const { settings, project, log } = parts;
  const byPath = new Map(routes.map((route) => [`/api/v1${route.path}`, route]));
  const largest = Math.min(SMALL, settings.maxBody);
  const underWay = new Map<string, number>();
  let host = '';

  /** Agents call the server by one name all the time. */
  function isOwn(asked: string): boolean {
    if (asked === host) return true;
    if (!isKnownHost(asked, settings)) return false;
    host = asked;
    return true;
  }

  function admitted({ host, authorization, length }: PlainHead): Admitted | null {
    if (length > largest || !isOwn(host) || !authorization.startsWith('Bearer ')) return null;
    try {
      return project.claims.admitAtOnce(authorization.slice(7));
    } catch {
      // A store that cannot be read: Hono's way will meet that too, and says so.
      return null;
    }
  }

  /** Where the engine is isolated, an agent comes through its own socket; Hono's way says why it may not. */
  function isAtItsDoor({ principal }: Admitted, peer: string | undefined): boolean {
    const { isolation } = settings;
    if (peer === undefined) return isolation === undefined;
    return principal.name === peer && (isolation?.problem() ?? null) === null;
  }

  /** Counts a request of a caller from here to its end. Above the limit Hono's way refuses it. */
  function hasRoom(name: string, response: ServerResponse): boolean {
    const now = underWay.get(name) ?? 0;
    if (now >= MOST_UNDER_WAY) return false;
    underWay.set(name, now + 1);
    // It is told once; `once` would make two objects more of each request.
    response.on('close', () => {
      const left = (underWay.get(name) ?? 1) - 1;
      if (left === 0) underWay.delete(name);
      else underWay.set(name, left);
    });
    return true;
  }

  async function answer({ route, path, ...asked }: Asked, bytes: Buffer | null): Promise<HotAnswer> {
    let { admitted } = asked;
    try {
      if (bytes === null) throw notWhole();
      const wait = starts.begin(admitted.principal.name);
      if (wait !== null) await wait;
      // INVARIANT: a client that takes its time over the body does not outlive the token that it began with.
      if (performance.now() - asked.start > LATE_MS) admitted = await project.claims.admit(asked.token);
      const caller = { kind: 'token' as const, admitted };
      const sent = { params: undefined, query: undefined, body: readJson(bytes) };
      const read = readRequest(sent, route);
      const reply = await route.handle({ ...read, caller, parts, instance: path } as Call);
      const { status, body, headers } = reply as PlainReply;
      if (reply instanceof Response || body === undefined || headers !== undefined) {
        return await written(await responseTo(reply, { caller, parts }));
      }
      return { status, headers: JSON_HEADERS, body: boundedText(body, { caller, parts }) };
    } catch (error) {
      metrics.storeFault(error);
      return written(problemOf(error, path, log));
    }
  }

  return {
    take(request, response, peer) {
      const { url: path = '' } = request;
      const route = byPath.get(path);
      if (route === undefined || request.method !== 'POST' || request.httpVersion !== '1.1') return false;
      const head = plainHead(request.rawHeaders);
      const who = head === null ? null : admitted(head);
      if (head === null || who === null || !isAtItsDoor(who, peer)) return false;
      if (!hasRoom(who.principal.name, response)) return false;
      const start = performance.now();
      const token = head.authorization.slice(7);
      readWhole(request, async (bytes) => {
        const given = await answer({ route, path, admitted: who, token, start }, bytes);
        const ms = performance.now() - start;
        metrics.request({ route: path, method: 'POST', status: given.status, ms });
        send(response, given);
      });
      return true;
    },
  };
}

/** A request without its whole body holds a connection, and there is an end of those. */
export const MOST_UNDER_WAY = 256;

interface Asked {
  readonly route: Endpoint;
  readonly path: string;
  readonly admitted: Admitted;
  readonly token: string;
  /** When it was admitted, as the process counts. */
  readonly start: number;
}

/** For so long an admission counts; a rotation of secrets may go unnoticed for as long. */
const LATE_MS = 1000;

/** An answer, ready to be sent; of its headers each name stands before its value. */
interface HotAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Reads a body whose length the parser holds the client to; null where the client hung up before its end. */
function readWhole(request: IncomingMessage, then: (bytes: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => then(chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)));
  // Also told where the client hangs up after its body, while it is answered: that changes nothing any more.
  request.once('error', () => {
    if (!request.readableEnded) then(null);
  });
}

function send(response: ServerResponse, { status, headers, body }: HotAnswer): void {
  if (response.destroyed) return;
  response.writeHead(status, [...headers, 'content-length', String(Buffer.byteLength(body))]);
  response.end(body);
}

async function written(response: Response): Promise<HotAnswer> {
  const { headers } = response;
  for (const [name, value] of RESPONSE_HEADERS) if (!headers.has(name)) headers.set(name, value);
  return { status: response.status, headers: [...headers].flat(), body: await response.text() };
}

const JSON_HEADERS = ['content-type', 'application/json', ...RESPONSE_HEADERS.flat()];
