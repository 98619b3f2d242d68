import { createPaced } from '../../../limits/paced.ts';
import type { Caller } from '../parts.ts';

// Each look reads the whole workspace or a whole history: who asks without a pause waits for themselves.
const looks = createPaced({ what: 'looks at the workspace', waiting: 8 });

/** Looks for a caller, one at a time. A human has a line of their own, whatever an agent calls itself. */
export function looksOf<T>(caller: Caller, look: () => Promise<T>): Promise<T> {
  return looks.act(lineOf(caller), look);
}

function lineOf(caller: Caller): string {
  switch (caller.kind) {
    case 'human':
      return `human ${caller.session.name}`;
    case 'token':
      return `agent ${caller.admitted.principal.name}`;
    case 'agent':
      return `agent ${caller.agent.principal.name}`;
    default:
      return '';
  }
}
