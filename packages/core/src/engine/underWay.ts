import { blocker, refused } from './blockers.ts';
import type { Decision } from './decide.ts';
import type { Run } from './run.ts';

/** A tool call that goes on, as a refusal names it. */
export interface CallUnderWay {
  readonly id: string;
  readonly tool: string;
}

/**
 * The decision on a command that cannot be judged while tool calls go on: they could still change what is looked at,
 * and would be carried out in a phase that did not allow them. It changes nothing and is not an attempt.
 */
export function refuseUnderWay(
  run: Run,
  calls: readonly CallUnderWay[],
  { inside }: { readonly inside: boolean },
): Decision {
  const names = calls.map(({ id, tool }) => `\`${tool}\` (\`${id}\`)`).join(', ');
  const message = inside
    ? `this was asked for by a tool call that is still under way: ${names}`
    : `${calls.length === 1 ? 'a tool call is' : 'tool calls are'} still under way: ${names}`;
  const text = inside
    ? 'let the tool call end, then ask again from outside of it'
    : 'wait until the tool calls have ended, then ask again';
  const nextAction = { act: 'none', ...(run.phase === null ? {} : { phase: run.phase }), text } as const;
  return { verdict: refused([blocker('calls_under_way', message, nextAction)]), events: [], run };
}
