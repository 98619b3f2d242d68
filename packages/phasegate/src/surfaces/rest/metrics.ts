import { PhasegateError } from '@phasegate/core';
import { CONTRACT_TOOLS } from '@phasegate/core/model';
import { Counter, Gauge, Registry } from 'prom-client';
import { onceForAll } from '../../limits/onceForAll.ts';
import type { RunsOf, Serving, Workshop } from '../../runtime/ports.ts';
import { createTimings } from './timings.ts';
import { createTransitionCounts } from './transitionCounts.ts';

/** Counts what happens at the door, and looks at the rest when it is asked. */
export interface Metrics {
  /** A request that was answered, and how many milliseconds that took. */
  request(answered: Answered): void;
  /** A fault of the store that was met on the way to an answer. */
  storeFault(error: unknown): void;
  verdict(tool: string, allowed: boolean): void;
  claim(outcome: 'claimed' | 'empty' | 'refused'): void;
  credentialFailed(reason: string): void;
  /** One more or one fewer event stream. */
  stream(change: 1 | -1): void;
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** One answer. */
export interface Answered {
  /** The route as it is written, without what callers put into it. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly ms: number;
}

/** The metrics of one server, in a registry of their own. */
export function createMetrics(
  project: Pick<RunsOf, 'countRuns'> & Pick<Workshop, 'claims'> & Pick<Serving, 'feed'>,
  version: string,
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
  const faults = new Counter({
    name: 'phasegate_store_errors_total',
    help: 'Faults of the store, by code',
    labelNames: ['code'],
    registers,
  });
  const storeFault = (error: unknown): boolean => {
    if (!(error instanceof PhasegateError) || !STORE_FAULTS.has(error.code)) return false;
    faults.inc({ code: error.code });
    return true;
  };
  /** INVARIANT: what needs no store is told while there is none; what needs it is left out, and never told as before. */
  const orCounted = async (look: () => Promise<void>, gone: () => void = () => undefined): Promise<void> => {
    try {
      await look();
    } catch (error) {
      gone();
      if (!storeFault(error)) faults.inc({ code: 'other' });
    }
  };
  const counts = createTransitionCounts(project.feed);
  new Counter({
    name: 'phasegate_transitions_total',
    help: 'Attempts to leave a phase, by verdict; allowed over all of them is the gate pass rate',
    labelNames: ['verdict'],
    registers,
    async collect() {
      await orCounted(async () => {
        const { allowed, refused, gateWaits } = await counts.since();
        this.inc({ verdict: 'allowed' }, allowed);
        this.inc({ verdict: 'refused' }, refused);
        for (const seconds of gateWaits) waits.observe('', seconds);
      });
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
      await orCounted(
        async () => this.set(await project.claims.countLeases()),
        () => this.remove(),
      );
    },
  });
  new Gauge({
    name: 'phasegate_runs',
    help: 'Runs that are not over, by status',
    labelNames: ['status'],
    registers,
    async collect() {
      this.reset();
      await orCounted(async () => {
        const counts = await project.countRuns();
        for (const status of LIVE) this.set({ status }, counts[status] ?? 0);
      });
    },
  });

  new Gauge({
    name: 'phasegate_build_info',
    help: 'Always 1; what this server is',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1);
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of this process',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When this process was started, in seconds since 1970',
    registers,
  }).set(Math.round(performance.timeOrigin) / 1000);
  new Gauge({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1_000_000);
    },
  });
  const times = createTimings({
    name: 'phasegate_http_request_seconds',
    help: 'Time to an answer, by route',
    label: 'route',
    ends: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
  });
  const waits = createTimings({
    name: 'phasegate_gate_wait_seconds',
    help: 'Time from the opening of a gate to the decision, of gates opened since the server started',
    label: null,
    ends: [1, 10, 60, 300, 900, 3600, 14_400, 86_400, 604_800],
  });

  // Finding a child of a counter costs more than counting, so it is done when somebody asks.
  const judged = createTally(([tool = '', verdict = ''], count) => verdicts.inc({ tool, verdict }, count));
  const answered = createTally(([route = '', method = '', status = ''], count) =>
    requests.inc({ route, method, status }, count),
  );

  return {
    request({ route, method, status, ms }) {
      answered.count(`${route} ${METHODS.has(method) ? method : 'other'} ${status}`);
      times.observe(route, ms / 1000);
    },
    storeFault: (error) => void storeFault(error),
    verdict: (tool, allowed) => judged.count(`${labelOf(tool)} ${allowed ? 'allowed' : 'refused'}`),
    claim: (outcome) => claims.inc({ outcome }),
    credentialFailed: (reason) => failures.inc({ reason }),
    stream: (change) => streams.inc(change),
    text: onceForAll(async () => {
      judged.settle();
      answered.settle();
      const counted = await registry.metrics();
      return [counted.trimEnd(), times.text(), waits.text()].join('\n');
    }),
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

const STORE_FAULTS: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_corrupt',
  'store_newer',
  'state_tampered',
  'audit_broken',
]);
const LIVE = ['queued', 'active', 'waiting', 'escalated'] as const;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const TOOLS: ReadonlySet<string> = new Set(CONTRACT_TOOLS);

/** Agents name tools as they like; as many series as they can think of would be a leak. */
function labelOf(tool: string): string {
  if (TOOLS.has(tool)) return tool;
  return tool.startsWith('mcp:') ? 'mcp' : 'other';
}
