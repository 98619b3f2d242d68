import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openKeys } from '../../packages/phasegate/src/runtime/keys.ts';
import { createSeal } from '../../packages/phasegate/src/runtime/seal.ts';
import { openPostgresStore } from '../../packages/postgres/src/openPostgresStore.ts';
import { type PostgresServer, startServer } from '../postgres/startServer.ts';
import { type Checked, checkHistory } from './checkHistory.ts';
import { type Fault, faultSchedule, type ScheduledFault } from './faultSchedule.ts';
import { type Act, createHistorian } from './history.ts';
import { httpNode } from './httpNode.ts';
import { type NodeGroup, nodeGroup } from './nodeProcesses.ts';
import { type AuditRecord, HUMAN, type KnownWorkflow } from './replayRun.ts';
import { workAsAgent } from './scriptedAgents.ts';
import { decideAsHuman } from './scriptedHuman.ts';
import { seeded } from './seeded.ts';
import { type Watching, watchNodes } from './watchNodes.ts';

/** How large a fault run is. */
export interface FaultRunSize {
  readonly seed: number;
  readonly agents: number;
  /** How many things go wrong. */
  readonly faults: number;
  /** How many runs wait to be claimed at any time, until the last fault is over. */
  readonly waiting: number;
  /** Told what happens while it does. */
  tell(line: string): void;
  /** What goes wrong, in place of what the seed says. */
  readonly schedule?: readonly ScheduledFault[];
  /** Looks at the nodes while their database is away; it is away until both this and its time are over. */
  whileAway?(seen: NodesSeen): Promise<void>;
  /** How long it may take, in milliseconds. */
  readonly longestMs: number;
}

/** The nodes, as somebody sees them who has the key of an agent. */
export interface NodesSeen {
  readonly urls: readonly string[];
  readonly key: string;
  /** How long the database is away in all, in milliseconds. */
  readonly forMs: number;
}

/** What a fault run came to. */
export interface FaultRunResult extends Checked {
  readonly faults: ReadonlyMap<Fault['kind'], number>;
  readonly acts: readonly Act[];
  readonly records: number;
  readonly runs: number;
}

/** An hour before, an hour after, and right. */
const SHIFTS = [0, 3_600_000, -3_600_000] as const;
const LEASE_SECONDS = 6;

/** The workflow of the agents; the phases that allow nothing show that a verdict is on the right one. */
export const ERRAND: KnownWorkflow = {
  phases: ['ONE', 'TWO', 'THREE'],
  tools: { ONE: ['read_files'], TWO: [], THREE: ['read_files'] },
  leaseMs: LEASE_SECONDS * 1000,
};

/** Another one, with items that several agents do and a gate at which a human decides. */
export const DELIVERY: KnownWorkflow = {
  phases: ['PLAN', 'PARTS', 'SHIP', 'LAST'],
  tools: { PARTS: ['read_files'], LAST: ['read_files'] },
  leaseMs: LEASE_SECONDS * 1000,
  parallel: { phase: 'PARTS', items: ['door', 'roof', 'wall'] },
  gated: 'SHIP',
};

const ENFORCED = `enforcement: { lease_seconds: ${LEASE_SECONDS}, max_reclaims: 100, workspace: shared }`;
const WORKFLOWS = {
  'agent_workflow.yaml': `workflow: errand
${ENFORCED}
phases: { ONE: { allowed_tools: [read_files] }, TWO: {}, THREE: { allowed_tools: [read_files] } }
`,
  'delivery.workflow.yaml': `workflow: delivery
${ENFORCED}
phases:
  PLAN: { required_evidence: { parts: { type: list, rule: non_empty } } }
  PARTS: { parallel: true, parallel_key: parts, allowed_tools: [read_files], required_evidence: { part: { type: str } } }
  SHIP: { gate: { human: { prompt: Ship it?, options: [{ label: Ship }] } } }
  LAST: { allowed_tools: [read_files] }
`,
};

/** What agents hand in for a phase. */
const ARTIFACTS: Readonly<Record<string, object>> = {
  PLAN: { parts: DELIVERY.parallel?.items },
  PARTS: { part: 'made' },
};

/** Three real nodes on a real PostgreSQL, agents over HTTP, and faults by a seed; then everything is compared. */
export async function faultRun(size: FaultRunSize): Promise<FaultRunResult> {
  const server = await startServer();
  const group = await nodeGroup({
    database: server.url(),
    workflows: WORKFLOWS,
    human: { name: HUMAN, passphrase: 'open sesame' },
    shifts: SHIFTS,
  });
  const over = new AbortController();
  const late = pause(size.longestMs, undefined, { signal: over.signal }).then(async () => {
    const open = await asking(server, UNFINISHED).catch(String);
    const said = group.nodes.map((node) => node.said().trim());
    throw new Error(`it does not come to its end: ${JSON.stringify({ open, said }, null, 2)}`);
  });
  try {
    return await Promise.race([playedOn(server, group, size), late]);
  } finally {
    over.abort();
    await late.catch(() => undefined);
    await Promise.all(group.nodes.map((node) => node.kill()));
    await server.remove();
  }
}

async function playedOn(
  server: PostgresServer,
  group: NodeGroup,
  size: FaultRunSize,
): Promise<FaultRunResult> {
  const chance = seeded(size.seed);
  const random = faultSchedule(chance.fork(), { nodes: SHIFTS.length, count: size.faults, ...ERRAND });
  await Promise.all(group.nodes.map((node) => node.start()));
  const names = Array.from({ length: size.agents }, (_, index) => `agent-${index}`);
  const keys = await keysFor(names, group);
  const key = (agent: string) => keys.get(agent) ?? '';
  const nodes = group.nodes.map(({ url, session }) =>
    httpNode({
      url,
      session,
      key,
      human: HUMAN,
      artifacts: ({ phase }) => ARTIFACTS[phase] ?? {},
      patienceMs: PATIENCE_MS,
    }),
  );
  const historian = createHistorian(nodes);
  const watching = watchNodes(nodes);
  const state = { faultsAreOver: false, isOver: false };
  const world = {
    historian,
    nodes: nodes.length,
    leaseMs: ERRAND.leaseMs,
    isOver: () => state.isOver,
    restMs: 100,
    ...(DELIVERY.parallel === undefined ? {} : { parallel: DELIVERY.parallel.phase }),
  };
  const agents = names.map((name) => workAsAgent(name, world, chance.fork()));
  const waiting = async () => (await asking(server, WAITING)).map(({ id }) => String(id));
  const human = decideAsHuman(
    { historian, nodes, waiting, isOver: world.isOver, impostor: 'agent-0' },
    chance.fork(),
  );
  const feeding = feedQueue(server, size, {
    state,
    start: ({ turn, node }) =>
      historian.ask('starter', node, { kind: 'start', workflow: turn % 3 === 0 ? 'delivery' : 'errand' }),
  });
  const seen = { urls: group.nodes.map(({ url }) => url), key: key('agent-0') };
  const faults = await inflict(size.schedule ?? random, {
    server,
    group,
    tell: size.tell,
    whileAway: async (forMs) => size.whileAway?.({ ...seen, forMs }),
  });
  state.faultsAreOver = true;
  await feeding;
  await Promise.all([...agents, human]);
  return judged({ server, group, watching, acts: historian.acts, faults });
}

/** Longer than answers take, and shorter than a node is paused. */
const PATIENCE_MS = 6_000;

async function keysFor(names: readonly string[], { nodes }: NodeGroup): Promise<ReadonlyMap<string, string>> {
  const [node] = nodes;
  const keys = new Map<string, string>();
  for (const name of names) {
    const response = await fetch(`${node?.url}/api/v1/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${node?.session() ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    const { key } = (await response.json()) as { readonly key?: string };
    if (key === undefined) throw new Error(`no key for ${name}: ${response.status}`);
    keys.set(name, key);
  }
  return keys;
}

/** Keeps runs waiting until the faults are over, and says when all have ended. */
async function feedQueue(
  server: PostgresServer,
  { waiting }: FaultRunSize,
  {
    state,
    start,
  }: {
    readonly state: { faultsAreOver: boolean; isOver: boolean };
    start(what: { readonly turn: number; readonly node: number }): Promise<unknown>;
  },
): Promise<void> {
  let started = 0;
  for (let turn = 0; ; turn += 1) {
    const [row] = await asking(server, COUNTS).catch(() => []);
    const { queued, unfinished } = {
      queued: Number(row?.queued ?? waiting),
      unfinished: Number(row?.unfinished ?? 1),
    };
    if (state.faultsAreOver && unfinished === 0) {
      state.isOver = true;
      return;
    }
    if (state.faultsAreOver) await pause(200);
    else if (queued >= waiting) await pause(50);
    else {
      const missing = Math.min(waiting - queued, 50);
      const starting = Array.from({ length: missing }, (_, index) =>
        start({ turn: started + index, node: (turn + index) % SHIFTS.length }),
      );
      started += missing;
      await Promise.all(starting);
    }
  }
}

const COUNTS = `SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
  count(*) FILTER (WHERE status NOT IN ('completed', 'stopped')) AS unfinished FROM runs`;

const WAITING = `SELECT id FROM runs WHERE status = 'waiting' LIMIT 50`;

const UNFINISHED = `SELECT r.id, status, phase, holder, r.epoch, expires_at FROM runs r LEFT JOIN leases l ON l.run = r.id
  WHERE status NOT IN ('completed', 'stopped') LIMIT 10`;

/** Who suffers, and who is told. */
interface Suffering {
  readonly server: PostgresServer;
  readonly group: NodeGroup;
  tell(line: string): void;
  whileAway(forMs: number): Promise<void>;
}

/** One fault after another; some go on beside the next. */
async function inflict(
  schedule: readonly ScheduledFault[],
  suffering: Suffering,
): Promise<ReadonlyMap<Fault['kind'], number>> {
  const { server, group, tell } = suffering;
  const counts = new Map<Fault['kind'], number>();
  const busy = new Map<number, Promise<void>>();
  const underWay: Promise<void>[] = [];
  for (const { afterMs, fault } of schedule) {
    await pause(afterMs);
    tell(JSON.stringify(fault));
    counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
    if (fault.kind === 'cut') await asking(server, CUT, [fault.share]).catch(() => []);
    else if (fault.kind === 'restart') await takeAway(fault, suffering);
    else {
      // What a node suffers comes one after another; the other nodes suffer theirs meanwhile.
      const before = busy.get(fault.node) ?? Promise.resolve();
      const suffered = before.then(() => suffer(group, fault));
      busy.set(fault.node, suffered);
      underWay.push(suffered);
    }
  }
  await Promise.all(underWay);
  return counts;
}

async function takeAway(
  { how, forMs }: Fault & { readonly kind: 'restart' },
  { server, whileAway }: Suffering,
): Promise<void> {
  if (how === 'freeze') server.freeze();
  else await (how === 'stop' ? server.stop() : server.kill());
  try {
    await Promise.all([pause(forMs), whileAway(forMs)]);
  } finally {
    if (how === 'freeze') server.thaw();
    else await server.start();
  }
}

async function suffer(
  { nodes }: NodeGroup,
  fault: Fault & { readonly kind: 'kill' | 'pause' },
): Promise<void> {
  const { kind, node, forMs } = fault;
  const suffering = nodes[node];
  if (kind === 'pause') {
    suffering?.signal('SIGSTOP');
    await pause(forMs);
    suffering?.signal('SIGCONT');
  } else {
    await suffering?.kill();
    await pause(forMs);
    await suffering?.start();
  }
}

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'phasegate' AND random() < $1`;

async function judged(played: {
  readonly server: PostgresServer;
  readonly group: NodeGroup;
  readonly watching: Watching;
  readonly acts: readonly Act[];
  readonly faults: FaultRunResult['faults'];
}): Promise<FaultRunResult> {
  const { server, group, watching, acts, faults } = played;
  const [{ stateDir } = { stateDir: '' }] = group.nodes;
  const store = await openPostgresStore({ url: server.url(), seal: createSeal(openKeys(stateDir)) });
  const end = await store.feedEnd();
  await watching.upTo(end);
  const watched = watching.told().map((told) => told.filter((place) => place <= end));
  const audit = ((await store.feed(0, -1)) as unknown as readonly AuditRecord[]).filter(
    ({ id }) => id <= end,
  );
  await store.close();
  const { stdout } = await group.command(['audit', 'verify', '--json']);
  const verified = JSON.parse(stdout) as { readonly ok: boolean; readonly findings: readonly unknown[] };
  const runs = new Set(audit.flatMap(({ run }) => run ?? [])).size;
  await watching.stop();
  return {
    ...checkHistory({ acts, audit, watched, verified }, ERRAND, { delivery: DELIVERY }),
    faults,
    acts,
    records: audit.length,
    runs,
  };
}

async function asking(
  server: PostgresServer,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: server.url(), application_name: 'the test itself' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql, values as unknown[])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
