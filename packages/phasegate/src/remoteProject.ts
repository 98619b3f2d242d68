import {
  type Command,
  isJsonObject,
  type Param,
  type Phasegate,
  PhasegateError,
  type Verdict,
} from '@phasegate/core';
import {
  type ClaimOptions,
  connect,
  connectFromEnvironment,
  type PhasegateClient,
  PhasegateClientError,
  socketFetch,
  socketPathIn,
} from '@phasegate/sdk';
import { decodeAgent, decodeFence, decodeLease, decodeTask, decodeVerdict } from '@phasegate/wire';
import { lazy } from './lazyPort.ts';
import type {
  AuditReport,
  Claimed,
  FeedRecord,
  Fencing,
  RemoteProject,
  UnlockedHuman,
} from './runtime/ports.ts';

/** Which server, and as whom. */
export interface RemoteProjectOptions {
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether credentials may go over plain `http` to another machine. */
  readonly insecureHttp: boolean;
}

/**
 * A project over its server. An agent is the owner of PHASEGATE_KEY, a human the one who signs in; both may be the
 * same process, each with a client of their own. Nothing is decided here.
 */
export async function openRemoteProject(options: RemoteProjectOptions): Promise<RemoteProject> {
  const { url, insecureHttp: allowInsecureHttp } = options;
  // Asked before anybody types a passphrase that could not be sent.
  await told(async () => connect({ url, allowInsecureHttp }));
  const agent = lazy(() => told(async () => agentClient(options))).get;
  let human: PhasegateClient | undefined;

  const signedIn = (): PhasegateClient => {
    if (human !== undefined) return human;
    throw new PhasegateError('not_permitted', 'nobody has signed in at the server');
  };

  async function unlock(name: string | undefined, passphrase: string): Promise<UnlockedHuman> {
    const client = connect({ url, allowInsecureHttp });
    const session = await client
      .signIn({ passphrase, ...(name === undefined ? {} : { name }) })
      .catch((error: unknown) => {
        if (!(error instanceof PhasegateClientError) || error.code !== 'request_invalid') throw error;
        if (name !== undefined || error.problems[0]?.field !== 'name') throw error;
        throw new PhasegateError('usage', 'there are several humans: say who with `--as NAME`');
      });
    human = client;
    return { principal: { kind: 'human', name: session.name }, sign: signedThere };
  }

  async function claimed(options: ClaimOptions): Promise<Claimed | null> {
    const client = await agent();
    const { name } = await client.whoAmI();
    const claim = await client.claimTask(name, options);
    if (claim === null) return null;
    const { task, phase_token, expires_at } = claim;
    return {
      view: decodeTask(task),
      item: task.item ?? null,
      token: phase_token,
      tokenExpiresAt: expires_at,
    };
  }

  const fencing: Fencing = {
    report: (runId) => told(async () => decodeFence(await (human ?? (await agent())).getFence(runId))),
    diff: (runId, paths) =>
      told(async () => {
        const { diff, truncated } = await signedIn().getFenceDiff(runId, paths);
        return truncated ? `${diff}\nthe rest is not shown: name a folder or a path\n` : diff;
      }),
    settle: (runId, order) =>
      told(async () => {
        const client = signedIn();
        const { done, verdict } = await client
          .settleFence(runId, order)
          .then(({ paths }) => ({ done: paths, verdict: decodeVerdict({}, null) }), refusedBy);
        const view = await client.asPhasegate().view(runId);
        return {
          submitted: { verdict, view, outcome: { kind: verdict.allowed ? 'done' : 'refused' } },
          done,
        };
      }),
  };

  return {
    fencing,
    as: (principal) => (principal.kind === 'human' ? signedIn().asPhasegate() : agentGate(agent)),
    // The server closes gates whose time is up by itself; only an agent's lease would be renewed.
    look: (runId) => signedIn().asPhasegate().view(runId),
    gateCard: (runId) =>
      told(async () => {
        try {
          const { gate, card, shown } = await signedIn().getGate(runId);
          return { gate, card, shown };
        } catch (error) {
          if (error instanceof PhasegateClientError && error.code === 'run_not_waiting') return null;
          throw error;
        }
      }),
    // The server has the human's key for as long as the session lasts, and signs with it.
    decide: (runId, { card: _shown, ...choice }) =>
      told(() =>
        signedIn()
          .asPhasegate()
          .submit(runId, { kind: 'decide', ...choice, signature: '' }),
      ),
    override: (runId, order) =>
      told(async () => {
        const client = signedIn();
        const verdict = await client.override(runId, order).then(
          () => decodeVerdict({}, null),
          (error: unknown) => refusedBy(error).verdict,
        );
        const view = await client.asPhasegate().view(runId);
        return { verdict, view, outcome: { kind: verdict.allowed ? 'done' : 'refused' } };
      }),
    humans: { unlock: (name, passphrase) => told(() => unlock(name, passphrase)) },
    agents: {
      list: () => told(async () => (await signedIn().listAgents()).agents.map(decodeAgent)),
      add: (name, { capabilities, mine }) =>
        told(() =>
          signedIn().addAgent(name, {
            ...(capabilities === undefined ? {} : { capabilities }),
            ...(mine === undefined ? {} : { mine }),
          }),
        ),
      remove: (name) => told(() => signedIn().removeAgent(name)),
    },
    claims: {
      claim: (_agent, able) => told(() => claimed(saying(able))),
      claimRun: (runId, _agent, able) =>
        told(async () => {
          const taken = await claimed({ ...saying(able), task: runId });
          if (taken !== null) return taken;
          throw new PhasegateError('not_permitted', `run \`${runId}\` is not available`);
        }),
      leases: () =>
        told(async () =>
          (await signedIn().listAgents()).leases.map((lease) => ({
            ...decodeLease(lease),
            jti: null,
            previousJti: null,
          })),
        ),
    },
    feed: {
      after: (id, limit) =>
        told(async () => {
          const found: FeedRecord[] = [];
          // A page of large records ends before its limit; here a short one is the last.
          for (let from: number | null = id; from !== null && found.length < limit; ) {
            const page = await signedIn().audit({ after: from, limit: limit - found.length });
            found.push(...(page.records as readonly FeedRecord[]));
            from = page.next_after;
          }
          return found;
        }),
      subscribe(listener, { after, signal } = {}) {
        const stopping = new AbortController();
        const stop = () => stopping.abort();
        const ends = signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]);
        const from = after === undefined ? {} : { after };
        // A server that is gone is told of to the one who asks it something.
        void follow(signedIn().events({ ...from, signal: ends }), listener).catch(stop);
        return stop;
      },
    },
    lookForServer: () => lookForServer(url),
    verifyAudit: () => told(async () => (await signedIn().verifyAudit()) as AuditReport),
    declaredParams: (workflow) =>
      told(async () => {
        const listed = await (human ?? (await agent())).listWorkflows();
        const found =
          listed.find(({ id }) => id === workflow) ?? listed.find(({ title }) => title === workflow);
        return typesIn(found?.params);
      }),
    async close() {
      const last = human;
      human = undefined;
      // A session that cannot be ended now ends by itself.
      await last?.signOut().catch(() => undefined);
    },
  };
}

/** A refusal of the workflow is a verdict; anything else that goes wrong is thrown. */
function refusedBy(error: unknown): { readonly done: readonly never[]; readonly verdict: Verdict } {
  if (!(error instanceof PhasegateClientError) || error.blockers.length === 0) throw error;
  return { done: [], verdict: decodeVerdict(error.answer, error.blockers) };
}

/** Nobody is to type a passphrase for an address at which there is no server, or something else. */
async function lookForServer(url: string): Promise<void> {
  const { name, health, fetch } = placeOf(url);
  const signal = AbortSignal.timeout(LOOK_MS);
  const answer = await fetch(health, { redirect: 'error', signal }).catch((cause: unknown) => {
    throw new PhasegateError('server_unreachable', `\`${name}\` does not answer`, {
      cause,
      hint: 'start the server with `phasegate serve`, or give its address with `--url`',
    });
  });
  await answer.body?.cancel();
  if (/^application\/(?:problem\+)?json\b/.test(answer.headers.get('content-type') ?? '')) return;
  throw new PhasegateError('server_unreachable', `what answers at \`${name}\` is not a Phasegate server`, {
    hint: 'give the address that `phasegate serve` prints',
  });
}

function placeOf(url: string) {
  const socket = socketPathIn(url);
  if (socket !== null) {
    return { name: `unix:${socket}`, health: 'http://localhost/healthz', fetch: socketFetch(socket) };
  }
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return { name: origin, health: `${origin}${path}/healthz`, fetch: globalThis.fetch };
}

const LOOK_MS = 5000;

async function follow(
  events: AsyncIterable<object>,
  listener: (record: FeedRecord) => void | Promise<void>,
): Promise<void> {
  for await (const record of events) await listener(record as FeedRecord);
}

/** The engine's interface for the agent; what needs the run in hand takes it up first. */
function agentGate(agent: () => Promise<PhasegateClient>): Phasegate {
  const gate = async () => (await agent()).asPhasegate();
  return {
    start: async (request) => (await gate()).start(request),
    view: async (runId) => (await gate()).view(runId),
    phase: async (runId, requested) => (await gate()).phase(runId, requested),
    overview: async (runId) => (await gate()).overview(runId),
    runs: async (query) => (await gate()).runs(query),
    async submit(runId, command) {
      await told(async () => takeUp(await agent(), runId, command));
      return (await gate()).submit(runId, command);
    },
    judgeTool: async (runId, use) => (await gate()).judgeTool(runId, use),
    history: async (runId, page) => (await gate()).history(runId, page),
  };
}

/** Has a token for what the command is about: the item it names, where that is this agent's, else the run. */
async function takeUp(client: PhasegateClient, runId: string, command: Command): Promise<void> {
  const item = command.kind === 'complete' ? command.item : undefined;
  if (item !== undefined && (await client.rejoinTask(runId, { item }).catch(unlessNotHeld)) !== null) return;
  if ((await client.rejoinTask(runId).catch(unlessNotHeld)) !== null) return;
  throw new PhasegateError('not_permitted', `run \`${runId}\` is not this agent's`, {
    hint: `\`phasegate status ${runId}\` says how it stands; a queued run is taken by \`phasegate claim ${runId}\``,
  });
}

function unlessNotHeld(error: unknown): null {
  if (error instanceof PhasegateClientError && error.code === 'not_permitted') return null;
  throw error;
}

function agentClient({ url, env, insecureHttp }: RemoteProjectOptions): PhasegateClient {
  const { PHASEGATE_KEY: key = '', PHASEGATE_URL: own } = env;
  if (key !== '') return connect({ url, key, allowInsecureHttp: insecureHttp });
  if (socketPathIn(url) !== null) return connect({ url });
  if (url !== own) {
    throw new PhasegateError(
      'usage',
      'what was handed over to this agent is for another server than `--url`',
    );
  }
  const allowed = { PHASEGATE_INSECURE_HTTP: insecureHttp ? '1' : undefined };
  return connectFromEnvironment({ ...env, ...allowed, PHASEGATE_KEY: undefined, PHASEGATE_RUN: undefined });
}

/** An agent that says nothing of itself can do what it was given, not nothing. */
function saying(able: readonly string[]): { readonly capabilities?: readonly string[] } {
  return able.length === 0 ? {} : { capabilities: able };
}

function typesIn(params: unknown): Readonly<Record<string, Pick<Param, 'type'>>> {
  if (!isJsonObject(params)) return {};
  const declared = Object.entries(params).filter(([, param]) => isJsonObject(param));
  return Object.fromEntries(declared) as unknown as Readonly<Record<string, Pick<Param, 'type'>>>;
}

/** What goes wrong in the words of the engine, as surfaces expect it. */
async function told<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof PhasegateClientError ? error.asFault() : error;
  }
}

/** INVARIANT: nothing is signed here, and nothing that looks like a signature is made up. */
function signedThere(): never {
  throw new PhasegateError(
    'not_permitted',
    'a human who signed in at a server signs nothing on this machine',
  );
}
