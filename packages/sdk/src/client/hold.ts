import type { PhaseId } from '@phasegate/core';
import type { Claim } from '#wire';
import type { Answer, Call, Http } from './http.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { readToken } from './readToken.ts';

/** The task an agent has in hand, with a token that is kept current. */
export interface Hold {
  /** The task in hand, or null. */
  current(): TaskName | null;
  /** The phase its token is for; null where there is no token. */
  phase(): PhaseId | null;
  /** Takes what was claimed, or a token handed over, in place of what was held before. */
  take(token: string): void;
  /** Takes a task this agent holds, whose token is fetched with the first call. */
  expect(task: TaskName): void;
  drop(): void;
  /** A fresh token for the task in hand, or for another one this agent holds. */
  renew(task?: TaskName): Promise<Claim>;
  /** Makes a call with the token, renewed where it is old or dead. */
  call(call: Call): Promise<Answer>;
}

/** A task, or one item of it. */
export interface TaskName {
  readonly id: string;
  readonly item: string | null;
}

/** A task in hand. */
export interface Held extends TaskName {
  readonly token: string;
  readonly phase: PhaseId;
  readonly epoch: number;
  /** Milliseconds of this machine's clock after which the token is renewed before it is used. */
  readonly renewAt: number;
}

const STALE: ReadonlySet<string> = new Set(['token_expired', 'token_invalid', 'token_dead']);
/** Answers to a renewal that mean the task is another's, gone or ended. */
const NOT_OURS: ReadonlySet<number> = new Set([403, 404, 409]);
const NEAR_MS = 60_000;

/** Keeps the token of the task in hand current, with the agent's key where there is one. */
export function createHold(http: Http, key: string | null): Hold {
  let held: Held | null = null;
  let expected: TaskName | null = null;
  let renewing: Promise<void> | null = null;

  const take = (token: string) => {
    held = heldBy(token);
    expected = null;
  };

  const ask = async ({ id, item }: TaskName): Promise<Claim> => {
    const body = { task_id: id, ...(item === null ? {} : { item }) };
    const answer = await http.send({ method: 'POST', path: '/tasks/token', body, safe: true }, key);
    return answer.body as Claim;
  };

  /** Calls that find the same token stale at the same time share one renewal: only two tokens are good at a time. */
  const renewOnce = (stale: Held): Promise<void> => {
    renewing ??= ask(stale)
      .then(({ phase_token }) => {
        // A transition or a claim may have brought something newer while this was under way.
        if (held !== null && held.id === stale.id && held.epoch <= heldBy(phase_token).epoch)
          take(phase_token);
      })
      .finally(() => {
        renewing = null;
      });
    return renewing;
  };

  const inHand = (): Held => {
    if (held === null) throw new PhasegateClientError('usage', 'no task is in hand; call `claimTask` first');
    return held;
  };

  const beforeUse = async (): Promise<Held> => {
    if (expected !== null) take((await ask(expected)).phase_token);
    const now = inHand();
    if (key === null || Date.now() < now.renewAt) return now;
    // What cannot be renewed may still be good; the call itself tells.
    await renewOnce(now).catch(() => undefined);
    return inHand();
  };

  /** What to go on with after the server found the token stale; throws where the task is no longer this agent's. */
  const afterStale = async (used: Held, stale: PhasegateClientError): Promise<Held> => {
    if (key === null) throw stale;
    if (held === null || held.token === used.token) {
      await renewOnce(used).catch((error: unknown) => {
        if (!(error instanceof PhasegateClientError) || !NOT_OURS.has(error.status ?? 0)) throw error;
        if (held?.token === used.token) held = null;
        throw stale;
      });
    }
    return inHand();
  };

  return {
    current: () => expected ?? held,
    phase: () => (expected === null ? (held?.phase ?? null) : null),
    take,
    expect: (task) => {
      expected = task;
    },
    drop: () => {
      held = null;
      expected = null;
    },
    async renew(task) {
      const claim = await ask(task ?? expected ?? inHand());
      take(claim.phase_token);
      return claim;
    },
    async call(call) {
      const used = await beforeUse();
      try {
        return await http.send(call, used.token);
      } catch (error) {
        if (!(error instanceof PhasegateClientError) || !STALE.has(error.code)) throw error;
        const fresh = await afterStale(used, error);
        // A call that does something was meant for the phase it was made in, and for no other.
        if (!call.safe && fresh.epoch !== used.epoch) throw movedOn(error, fresh);
        return http.send(call, fresh.token);
      }
    },
  };
}

/** Refuses what could not stand in a header, before `fetch` says it in a message that repeats it. */
export function checkCredential(credential: string, name: string): string {
  if (/^[\w.~+/=-]+$/.test(credential)) return credential;
  throw new PhasegateClientError('usage', `\`${name}\` is empty or holds characters no credential has`);
}

function heldBy(token: string): Held {
  const claims = readToken(checkCredential(token, 'phase_token'));
  if (claims === null) throw new PhasegateClientError('token_invalid', 'the phase token cannot be read');
  const { task_id: id, item, phase, epoch, lifetimeMs } = claims;
  const renewAt = Date.now() + lifetimeMs - Math.min(NEAR_MS, lifetimeMs / 10);
  return { id, item, phase, epoch, token, renewAt };
}

function movedOn(error: PhasegateClientError, { phase }: Held): PhasegateClientError {
  return new PhasegateClientError(error.code, `${error.message}; the run is now in phase \`${phase}\``, {
    status: error.status,
    nextAction: 'read the phase with `getPhase` and go on from there',
    cause: error,
  });
}
