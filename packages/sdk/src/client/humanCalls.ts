import type { JsonObject, PhaseId, RunStatus } from '@phasegate/core';
import type {
  AgentList,
  AuditPage,
  AuditReport,
  EventRecord,
  FenceDiff,
  FenceSettled,
  FenceState,
  GateCard,
  Run,
  RunPage,
  StartedRun,
  WorkflowLine,
} from '#wire';
import { type FollowOptions, followEvents } from './followEvents.ts';
import type { Call, Http } from './http.ts';
import type { Session } from './session.ts';

/** What a human does, or a tool that acts for one. */
export interface HumanCalls {
  /**
   * Signs a human in. This client keeps the session in memory and nowhere else. With the passphrase it may act; one
   * from a link only looks.
   */
  signIn(credentials: SignInRequest): Promise<SignedIn>;
  /** Ends the session. */
  signOut(): Promise<void>;
  /** The workflows that can be started. An agent may ask, too. */
  listWorkflows(): Promise<readonly WorkflowLine[]>;
  /** The agents and what they hold. */
  listAgents(): Promise<AgentList>;
  /** Makes a key for an agent, shown this once. An agent of that name gets a new one. */
  addAgent(
    name: string,
    options?: { readonly capabilities?: readonly string[]; readonly mine?: boolean },
  ): Promise<{ readonly name: string; readonly key: string }>;
  /** Withdraws an agent's key; what it holds goes back to the queue. */
  removeAgent(name: string): Promise<void>;
  /** Runs, newest first. */
  listRuns(query?: RunListQuery): Promise<RunPage>;
  /** One run. An agent reads its own with its key. */
  getRun(run: string): Promise<Run>;
  /** Starts a run, or queues it. */
  startRun(request: RunRequest): Promise<StartedRun>;
  /** The gate a run waits at, as it is to be shown. */
  getGate(run: string): Promise<GateCard>;
  /**
   * Decides at the gate a run waits at. Without `shown` the card is fetched and its hash sent: anyone who shows the card
   * to a person passes the `gate` and `shown` of that card, so that nothing else can be decided on.
   */
  decide(run: string, decision: DecisionRequest): Promise<Run>;
  /** Answers one of an agent's questions, by one of its options or in other words. */
  answer(run: string, answer: AnswerRequest): Promise<Run>;
  /** Lets an escalated run go on; the note is told to the one who works on it. */
  resume(run: string, note?: string): Promise<Run>;
  /** Ends a run. */
  stop(run: string, reason: string): Promise<Run>;
  /** Leads a run past the phase it is in, which is then overridden and not completed; `to` null ends the run. */
  override(run: string, order: OverrideRequest): Promise<Run>;
  /** What was changed outside the scope of the phase a run is in. An agent reads its own with its key. */
  getFence(run: string): Promise<FenceState>;
  /** How that differs, or how the named paths do, as text. */
  getFenceDiff(run: string, paths?: readonly string[]): Promise<FenceDiff>;
  /**
   * Restores, moves aside or accepts what was changed; `paths` may be folders, `all` goes with `accept`. `shown` is that
   * of the report that the human was shown.
   */
  settleFence(run: string, order: FenceRequest): Promise<FenceSettled>;
  /** Everything that happens, as it happens, with `left_out` in place of large values; taken up again after a cut, so that nothing is missed. */
  events(options?: FollowOptions): AsyncIterable<EventRecord>;
  /** A page of the audit: of one run, or of all chains. */
  audit(query?: AuditQuery): Promise<AuditPage>;
  /** Checks every chain of the audit. */
  verifyAudit(): Promise<AuditReport>;
}

/** A human's passphrase, or the code of a sign-in link. The name may be left out where there is one human only. */
export type SignInRequest =
  | { readonly name?: string; readonly passphrase: string }
  | { readonly code: string };

/** Who signed in. */
export interface SignedIn {
  readonly name: string;
  readonly kind: 'human';
  /** False where no human is set up yet: then nobody can decide at a gate. */
  readonly can_decide: boolean;
  /** True where the session only looks, as one from a link does. */
  readonly asks_passphrase: boolean;
  readonly expires_at: string;
}

/** Which runs to list. */
export interface RunListQuery {
  readonly status?: RunStatus;
  readonly workflow?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** What a run is started with. */
export interface RunRequest {
  readonly workflow: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly target?: string | null;
  /** What the run is to achieve, at most 2,000 characters; kept as it is for the whole run. */
  readonly goal?: string;
  readonly queue?: boolean;
  /** Higher is claimed first. */
  readonly priority?: number;
  /** What an agent must be able to do to claim it. */
  readonly capabilities?: readonly string[];
}

/** A human's choice at a gate. */
export interface DecisionRequest {
  readonly option: string;
  readonly input?: string;
  /** Of the card that was shown; both or neither. */
  readonly gate?: string;
  readonly shown?: string;
}

/** A human's answer: one of the options, or other words. */
export type AnswerRequest = { readonly question: number } & (
  | { readonly option: string }
  | { readonly text: string }
);

/** A human leads a run past a phase. */
export interface OverrideRequest {
  readonly reason: string;
  /** Where it leads, null for the end; needed where the phase has several ways. */
  readonly to?: PhaseId | null;
  /** `epoch` of the run that was displayed: nothing is overridden if it has moved since. */
  readonly epoch?: number;
}

/** What a human wants done about changed paths. */
export interface FenceRequest {
  readonly action: FenceSettled['action'];
  readonly paths: readonly string[] | 'all';
  /** Why; `accept` needs one. */
  readonly reason?: string;
  /** `shown` of the report that was displayed: nothing is done if the workspace is another one by now. */
  readonly shown: string;
}

/** Which records to read. */
export interface AuditQuery {
  readonly run?: string;
  /** The project's own chain, instead of all of them. */
  readonly chain?: 'project';
  readonly after?: number;
  readonly limit?: number;
}

/** What a human does, over HTTP. */
export function createHumanCalls(http: Http, session: Session): HumanCalls {
  const get = async (path: string, query: Call['query'] = {}): Promise<unknown> =>
    (await http.send({ method: 'GET', path, query, safe: true }, session.bearer())).body;
  const post = async (path: string, body: object): Promise<unknown> =>
    (
      await http.send(
        { method: 'POST', path, body: body as JsonObject, safe: false, long: true },
        session.bearer(),
      )
    ).body;
  const getGate = async (run: string) => (await get(`${pathOf(run)}/gate`)) as GateCard;

  return {
    async signIn(credentials) {
      const body = { ...credentials, bearer: true } as JsonObject;
      // Not sent twice, as tries are counted; and without an answer nobody is signed in.
      const call: Call = { method: 'POST', path: '/session', body, safe: false, changesNothing: true };
      const answer = await http.send(call, null);
      const { session: secret, ...signedIn } = answer.body as SignedIn & { readonly session: string };
      session.open(secret);
      return signedIn;
    },
    async signOut() {
      await http.send({ method: 'DELETE', path: '/session', safe: true }, session.bearer());
      session.close();
    },
    listWorkflows: async () =>
      ((await get('/workflows')) as { readonly workflows: readonly WorkflowLine[] }).workflows,
    listAgents: async () => (await get('/agents')) as AgentList,
    addAgent: async (name, options = {}) =>
      (await post('/agents', { name, ...options })) as { readonly name: string; readonly key: string },
    async removeAgent(name) {
      const path = `/agents/${encodeURIComponent(name)}`;
      await http.send({ method: 'DELETE', path, safe: false }, session.bearer());
    },
    listRuns: async (query = {}) => (await get('/runs', { ...query })) as RunPage,
    getRun: async (run) => (await get(pathOf(run))) as Run,
    startRun: async (request) => (await post('/runs', request)) as StartedRun,
    getGate,
    async decide(run, { option, input, ...card }) {
      const { gate, shown } = card.shown === undefined ? await getGate(run) : card;
      return (await post(`${pathOf(run)}/decisions`, { gate, option, input, shown })) as Run;
    },
    answer: async (run, answer) => (await post(`${pathOf(run)}/answers`, answer)) as Run,
    resume: async (run, note) => (await post(`${pathOf(run)}/resume`, { note })) as Run,
    override: async (run, order) => (await post(`${pathOf(run)}/override`, order)) as Run,
    stop: async (run, reason) => (await post(`${pathOf(run)}/stop`, { reason })) as Run,
    getFence: async (run) => (await get(`${pathOf(run)}/fence`)) as FenceState,
    getFenceDiff: async (run, paths = []) => {
      const query = paths.length === 0 ? {} : { paths: paths.join('\n') };
      return (await get(`${pathOf(run)}/fence/diff`, query)) as FenceDiff;
    },
    settleFence: async (run, { reason, ...order }) => {
      const why = reason === undefined || reason === '' ? {} : { reason };
      return (await post(`${pathOf(run)}/fence`, { ...order, ...why })) as FenceSettled;
    },
    events: (options) => followEvents<EventRecord>(http, session.bearer, options),
    audit: async (query = {}) => (await get('/audit', { ...query })) as AuditPage,
    verifyAudit: async () => (await get('/audit/verify')) as AuditReport,
  };
}

function pathOf(run: string): string {
  return `/runs/${encodeURIComponent(run)}`;
}
