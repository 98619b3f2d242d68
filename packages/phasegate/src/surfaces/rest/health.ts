import { createHash, timingSafeEqual } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import type { Context, MiddlewareHandler } from 'hono';
import { isLoopback } from './address.ts';
import { wrongKind } from './callers.ts';
import type { Metrics } from './metrics.ts';
import type { RestEnv, RestParts, RestSettings } from './parts.ts';

/** The routes that machines watch a server by. Who asks whether it is alive or ready needs no credential. */
export interface Health {
  /** Binds the caller, except where the token for metrics is shown: that is nobody's. */
  callerOfMetrics(callers: MiddlewareHandler<RestEnv>): MiddlewareHandler<RestEnv>;
  /** Open to that token and to humans; where no token is set, to this machine as well. */
  readonly metricsGuard: MiddlewareHandler<RestEnv>;
  /** The process answers. */
  readonly alive: (c: Context<RestEnv>) => Response;
  /** The store answers and takes writes, tokens can be believed, and the server is not on its way out. */
  readonly ready: (c: Context<RestEnv>) => Promise<Response>;
  readonly metrics: (c: Context<RestEnv>) => Promise<Response>;
  /** From now on the server is not ready. */
  leave(): void;
}

/** Liveness, readiness and metrics of one server. */
export function createHealth(
  parts: Pick<RestParts, 'project' | 'settings' | 'log' | 'now'>,
  metrics: Metrics,
): Health {
  let leaving = false;
  const readiness = oneLookAtATime(parts);
  const { metricsToken } = parts.settings;
  return {
    // Who needs no credential and shows none is not bound to anybody: they are counted once for all who ask.
    callerOfMetrics: (callers) => (c, next) =>
      shows(c, metricsToken) || (metricsToken === undefined && isLocal(c, parts.settings) && showsNothing(c))
        ? next()
        : callers(c, next),
    metricsGuard: async (c, next) => {
      const open = metricsToken === undefined ? isLocal(c, parts.settings) : shows(c, metricsToken);
      if (!open && c.get('caller').kind !== 'human') throw wrongKind(c.get('caller'), METRICS_CREDENTIAL);
      await next();
    },
    alive(c) {
      const { identity } = parts.settings;
      const challenge = identity === undefined ? undefined : c.req.header(identity.asked);
      if (identity !== undefined && challenge !== undefined && challenge.length <= LONGEST_CHALLENGE)
        c.header(identity.shown, identity.proofOf(challenge));
      return c.json({ status: 'ok' });
    },
    async ready(c) {
      if (leaving) return c.json({ status: 'stopping' }, 503);
      const status = await readiness();
      return c.json({ status }, status === 'ready' ? 200 : 503);
    },
    async metrics(c) {
      return c.body(await metrics.text(), 200, { 'content-type': metrics.contentType });
    },
    leave() {
      leaving = true;
    },
  };
}

/** Anyone may ask as often as they like: the store is asked once at a time, and its answer holds for a moment. */
function oneLookAtATime(parts: Pick<RestParts, 'project' | 'log' | 'now'>): () => Promise<Readiness> {
  let look: { readonly answer: Promise<Readiness>; until: number } | undefined;
  return () => {
    if (look !== undefined && parts.now() < look.until) return look.answer;
    const begun = { answer: answers(parts), until: Number.POSITIVE_INFINITY };
    look = begun;
    void begun.answer.then(() => {
      begun.until = parts.now() + KEPT_MS;
    });
    return begun.answer;
  };
}

/** Compares hashes, in a time that says nothing of the token. */
function shows(c: Context<RestEnv>, token: string | undefined): boolean {
  if (token === undefined) return false;
  const shown = /^bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(shown), hash(token));
}

type Readiness = 'ready' | 'store_unavailable' | 'keys_unavailable';

async function answers({ project, log }: Pick<RestParts, 'project' | 'log'>): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Readiness>((resolve) => {
    timer = setTimeout(resolve, PATIENCE, 'store_unavailable');
  });
  try {
    // A node that refuses every token is of no use to a balancer, however well its store is.
    project.server.demandKeys();
    const look = Promise.all([project.feed.newest(), project.server.demandWritable()]);
    return await Promise.race([look.then(() => 'ready' as const), tooLate]);
  } catch (error) {
    const areKeys = error instanceof PhasegateError && error.code === 'keys_unavailable';
    const cause = error instanceof Error ? error.message : String(error);
    log.warn({ cause }, areKeys ? 'the keys cannot be used' : 'the store cannot be used');
    return areKeys ? 'keys_unavailable' : 'store_unavailable';
  } finally {
    clearTimeout(timer);
  }
}

const PATIENCE = 2000;
const LONGEST_CHALLENGE = 128;
const KEPT_MS = 1000;
const METRICS_CREDENTIAL = "the token for metrics or a human's session";
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** A proxy on this machine speaks for others: what it forwards does not come from here. */
function isLocal(c: Context<RestEnv>, { origin, behindProxy = false }: RestSettings): boolean {
  // Without a socket, as in a test, only the address the server is known by tells.
  const peer = c.env?.incoming?.socket.remoteAddress ?? new URL(origin).hostname;
  if (behindProxy || !isLoopback(peer)) return false;
  return !FORWARDED.some((name) => c.req.header(name) !== undefined);
}

function showsNothing(c: Context<RestEnv>): boolean {
  return c.req.header('authorization') === undefined && c.req.header('cookie') === undefined;
}
