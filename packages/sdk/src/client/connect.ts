import type { Phasegate } from '@phasegate/core';
import { SOCKET_KEY } from '@phasegate/core/contract';
import type { AgentSnapshot, HumanSnapshot } from '#wire';
import { type AgentCalls, createAgentCalls } from './agentCalls.ts';
import { createFileCalls, type FileCalls } from './fileCalls.ts';
import { checkCredential, createHold } from './hold.ts';
import { baseOf, createHttp, demandPrivate } from './http.ts';
import { createHumanCalls, type HumanCalls } from './humanCalls.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { createRemotePhasegate } from './remotePhasegate.ts';
import { createSession } from './session.ts';
import { socketFetch, socketPathIn } from './socketFetch.ts';

/** How to reach a server. */
export interface ConnectOptions {
  /**
   * Of the server, e.g. `http://127.0.0.1:8000`; `/api/v1` at the end makes no difference. `unix:/run/…/socket` for one
   * that listens on a socket in the file system (Node only).
   */
  readonly url: string;
  /** An agent's key. Humans need none, as they sign in, and an agent with a socket of its own needs none either. */
  readonly key?: string;
  /**
   * Lets passphrase, key and token go over plain `http` to a host that is not this machine, where everybody on the way
   * reads them. Default: refused.
   */
  readonly allowInsecureHttp?: boolean;
  /** A phase token that was handed over: its task is in hand at once. */
  readonly token?: string;
  /** Id of a task this agent holds already: it is in hand at once, and its token is fetched with the first call. */
  readonly task?: string;
  /** Default: the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Longest wait for one answer. Default: 30 seconds, and five minutes where the server runs checks or commands
   * before it answers.
   */
  readonly timeoutMs?: number;
}

/** Everything one principal does with a server. Holds at most one task at a time, and never shows a credential. */
export interface PhasegateClient extends AgentCalls, FileCalls, HumanCalls {
  /** A read-only view: of the task in hand, or of the project for a human. */
  getStateSnapshot(): Promise<AgentSnapshot | HumanSnapshot>;
  /**
   * The same as the engine's own interface, for surfaces that do not know which they hold. What a server does not offer
   * to this principal throws `not_permitted`.
   */
  asPhasegate(): Phasegate;
}

/** Connects to a server. Nothing is sent before the first call. */
export function connect(options: ConnectOptions): PhasegateClient {
  const { timeoutMs } = options;
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw new PhasegateClientError('usage', '`timeoutMs` must be a number of milliseconds above 0');
  }
  // Called as a plain function: a browser's own refuses to be a method of anything else.
  const socket = socketPathIn(options.url);
  // Through the socket of an agent its user is all the credential there is.
  const { key: shown = socket === null ? undefined : SOCKET_KEY } = options;
  const key = shown === undefined ? null : checkCredential(shown, 'key');
  const { fetch = socket === null ? globalThis.fetch : socketFetch(socket) } = options;
  const base = baseOf(socket === null ? options.url : SOCKET_HOST);
  if (options.allowInsecureHttp !== true) demandPrivate(base);
  const http = createHttp({
    base,
    fetch: (...call) => fetch(...call),
    timeoutMs,
    ...(socket === null ? {} : { shownAs: `unix:${socket}` }),
  });
  const hold = createHold(http, key);
  if (options.token !== undefined) hold.take(options.token);
  else if (options.task !== undefined) hold.expect({ id: options.task, item: null });
  const agent = createAgentCalls(http, hold, key);
  const session = createSession(key);
  const human = createHumanCalls(http, session);
  return {
    ...agent,
    ...createFileCalls(agent),
    ...human,
    asPhasegate: () => createRemotePhasegate({ ...agent, ...human }, hold),
    async getStateSnapshot() {
      const call = { method: 'GET', path: '/state/snapshot', safe: true } as const;
      const answer = hold.current() === null ? http.send(call, session.bearer()) : hold.call(call);
      return (await answer).body as AgentSnapshot | HumanSnapshot;
    },
  };
}

/** What `Host` says where the address is a socket: every server on this machine is known by it. */
const SOCKET_HOST = 'http://localhost';
