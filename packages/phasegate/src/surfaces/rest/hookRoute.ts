import type { Context } from 'hono';
import type { FairStarts } from '../../limits/fairStarts.ts';
import { createTurns } from '../../limits/turns.ts';
import { wrongKind } from './callers.ts';
import { readLimited } from './jsonBody.ts';
import { isLarge } from './largeBodies.ts';
import type { HookMount, RestEnv } from './parts.ts';
import { RequestRefused } from './problem.ts';

/** Whether a request is a client's hook; its body is read by the route, which answers also what cannot be read. */
export function isHook(path: string): boolean {
  return path.startsWith('/api/v1/hooks/');
}

/**
 * Answers a client's hook. What was judged is 200 with a JSON object, refusals too: clients take any other status, and
 * an empty body, for a fault of ours, which some of them let pass.
 */
export function hookRoute(hooks: HookMount, starts: FairStarts): (c: Context<RestEnv>) => Promise<Response> {
  const turns = createTurns({ what: 'large events', atOnce: LARGE_AT_ONCE, waiting: MOST_WAITING });
  return async (c) => {
    const caller = c.get('caller');
    if (caller.kind !== 'hook') throw wrongKind(caller, "the key of this project's hooks");
    const client = c.req.param('client') ?? '';
    if (!hooks.knows(client)) throw new RequestRefused('route_unknown', 'there is no such client');
    // All sessions come by the same name. Events are small, but for a few: anyone who sends many large ones, or sends
    // them slowly, keeps only large ones waiting.
    const end = isLarge(c) ? await turns.take('hook') : () => undefined;
    try {
      const body = await bodyOf(c, hooks.limit);
      await starts.begin('hook');
      const [run, scope] = [c.req.header('x-phasegate-run'), c.req.header('x-phasegate-scope')];
      const answer = await hooks.answer({ client, body, run, scope });
      return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
    } finally {
      end();
    }
  };
}

/** So much of them is in memory; the others are not read yet. */
const LARGE_AT_ONCE = 4;
const MOST_WAITING = 256;

async function bodyOf(c: Context<RestEnv>, limit: number): Promise<string | null> {
  try {
    return Buffer.from(await readLimited(c, limit)).toString('utf8');
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'too_large') return null;
    throw error;
  }
}
