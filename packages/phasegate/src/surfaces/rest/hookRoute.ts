import type { Context } from 'hono';
import type { FairStarts } from '../../limits/fairStarts.ts';
import { createLanes } from '../../limits/lanes.ts';
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
  const large = createTurns({ what: 'large events', atOnce: LARGE_AT_ONCE, waiting: MOST_WAITING });
  // Each keeps everybody waiting while it is read, so they come one by one.
  const huge = createTurns({ what: 'large events', atOnce: 1, waiting: MOST_WAITING });
  const events = createTurns({ what: 'events', atOnce: AT_ONCE, waiting: MOST_WAITING });
  const lanes = createLanes(Date.now);
  return async (c) => {
    const caller = c.get('caller');
    if (caller.kind !== 'hook') throw wrongKind(caller, "the key of this project's hooks");
    const client = c.req.param('client') ?? '';
    if (!hooks.knows(client)) throw new RequestRefused('route_unknown', 'there is no such client');
    // Whose event it is stands in it. Events are small, but for a few: anyone who sends many large ones, or sends them
    // slowly, keeps only those of about that size waiting.
    const ends = [isLarge(c) ? await (isHuge(c) ? huge : large).take('hooks') : () => undefined];
    try {
      const body = await bodyOf(c, hooks.limit);
      const lane = `hooks of ${lanes.of(`${client}/${body === null ? '' : hooks.sessionOf(body)}`)}`;
      ends.push(await events.take(lane));
      await starts.begin(lane);
      const [run, scope] = [c.req.header('x-phasegate-run'), c.req.header('x-phasegate-scope')];
      const programs = utf8Of(c.req.header('x-phasegate-path'));
      const answer = await hooks.answer({ client, body, run, scope, programs });
      return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
    } finally {
      for (const end of ends) end();
    }
  };
}

/** So much of them is in memory; the others are not read yet. */
const LARGE_AT_ONCE = 4;
/** Of one session; a client asks about that many calls together, and what is decided together is written together. */
const AT_ONCE = 32;
const HUGE = 1024 * 1024;
const MOST_WAITING = 256;

/** A header is read byte by byte. */
function utf8Of(header: string | undefined): string | undefined {
  return header === undefined ? undefined : Buffer.from(header, 'latin1').toString('utf8');
}

/** What is not said beforehand may be of any size. */
function isHuge(c: Context<RestEnv>): boolean {
  return !(Number(c.req.header('content-length')) <= HUGE);
}

async function bodyOf(c: Context<RestEnv>, limit: number): Promise<string | null> {
  try {
    return Buffer.from(await readLimited(c, limit)).toString('utf8');
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'too_large') return null;
    throw error;
  }
}
