import { CONTRACT_TOOLS } from '@phasegate/core/model';
import { Counter, Gauge, Registry } from 'prom-client';
import type { RunsOf, Serving, Workshop } from '../../runtime/ports.ts';
import { createTransitionCounts } from './transitionCounts.ts';

/** Counts what happens at the door, and looks at the rest when it is asked. */
export interface Metrics {
  request(route: string, method: string, status: number): void;
  verdict(tool: string, allowed: boolean): void;
  claim(outcome: 'claimed' | 'empty' | 'refused'): void;
  credentialFailed(reason: string): void;
  /** One more or one fewer event stream. */
  stream(change: 1 | -1): void;
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** The metrics of one server, in a registry of their own. */
export function createMetrics(
  project: Pick<RunsOf, 'countRuns'> & Pick<Workshop, 'claims'> & Pick<Serving, 'feed'>,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'phasegate_http_requests_total',
    help: 'Requests answered, by route, method and status',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const verdicts = new Counter({
    name: 'phasegate_tool_verdicts_total',
    help: 'Tool calls judged, by tool and verdict',
    labelNames: ['tool', 'verdict'],
    registers,
  });
  const counts = createTransitionCounts(project.feed);
  new Counter({
    name: 'phasegate_transitions_total',
    help: 'Attempts to leave a phase, by verdict; allowed over all of them is the gate pass rate',
    labelNames: ['verdict'],
    registers,
    async collect() {
      const { allowed, refused } = await counts.since();
      this.inc({ verdict: 'allowed' }, allowed);
      this.inc({ verdict: 'refused' }, refused);
    },
  });
  const claims = new Counter({
    name: 'phasegate_claims_total',
    help: 'Claims, by what came of them',
    labelNames: ['outcome'],
    registers,
  });
  const failures = new Counter({
    name: 'phasegate_credential_failures_total',
    help: 'Refused credentials, by reason',
    labelNames: ['reason'],
    registers,
  });
  const streams = new Gauge({ name: 'phasegate_event_streams', help: 'Open event streams', registers });
  new Gauge({
    name: 'phasegate_leases',
    help: 'Leases on runs and items',
    registers,
    async collect() {
      this.set(await project.claims.countLeases());
    },
  });
  new Gauge({
    name: 'phasegate_runs',
    help: 'Runs that are not over, by status',
    labelNames: ['status'],
    registers,
    async collect() {
      const counts = await project.countRuns();
      for (const status of LIVE) this.set({ status }, counts[status] ?? 0);
    },
  });

  // Finding a child of a counter costs more than counting, so it is done when somebody asks.
  const judged = createTally(([tool = '', verdict = ''], count) => verdicts.inc({ tool, verdict }, count));
  const answered = createTally(([route = '', method = '', status = ''], count) =>
    requests.inc({ route, method, status }, count),
  );

  return {
    request: (route, method, status) =>
      answered.count(`${route} ${METHODS.has(method) ? method : 'other'} ${status}`),
    verdict: (tool, allowed) => judged.count(`${labelOf(tool)} ${allowed ? 'allowed' : 'refused'}`),
    claim: (outcome) => claims.inc({ outcome }),
    credentialFailed: (reason) => failures.inc({ reason }),
    stream: (change) => streams.inc(change),
    text() {
      judged.settle();
      answered.settle();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

interface Tally {
  /** Labels with a space between them: none has one in it. */
  count(labels: string): void;
  /** Passes on what was counted since the last time. */
  settle(): void;
}

function createTally(pass: (labels: readonly string[], count: number) => void): Tally {
  const counts = new Map<string, number>();
  return {
    count: (labels) => void counts.set(labels, (counts.get(labels) ?? 0) + 1),
    settle() {
      for (const [labels, count] of counts) pass(labels.split(' '), count);
      counts.clear();
    },
  };
}

const LIVE = ['queued', 'active', 'waiting', 'escalated'] as const;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const TOOLS: ReadonlySet<string> = new Set(CONTRACT_TOOLS);

/** Agents name tools as they like; as many series as they can think of would be a leak. */
function labelOf(tool: string): string {
  if (TOOLS.has(tool)) return tool;
  return tool.startsWith('mcp:') ? 'mcp' : 'other';
}
