import type { AuditRecord, PhaseId, Run, Workflow } from '@phasegate/core';
import { eventOfRecord } from '@phasegate/core/engine';
import { graphOf } from '@phasegate/core/model';
import type { WireDefect } from '../fault.ts';
import { encodeScope } from './runMap.ts';
import type { MapEdge, MapNode, MapScope } from './watched.ts';

/** One workflow as a human sees it. */
export type WorkflowPage = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly format: string;
  /** Null where it cannot be loaded. */
  readonly hash: string | null;
  readonly problems: readonly WireDefect[];
  /** It is code that no human has accepted: it was read, and not run. */
  readonly unaccepted: boolean;
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  readonly phases: readonly (MapScope & {
    readonly id: PhaseId;
    readonly name: string;
    readonly human: boolean;
    readonly tasks: number;
    readonly evidence: readonly string[];
  })[];
};

/** How runs of a workflow fare in one phase. */
export type PhaseRecord = {
  readonly phase: PhaseId;
  /** How often it was entered. */
  readonly entered: number;
  /** How often it was completed with `ok`. */
  readonly passed: number;
  /** How often a completion was refused. */
  readonly refused: number;
  /** Seconds from entering to leaving it, half of the visits below, and nine of ten below; null without any. */
  readonly median_seconds: number | null;
  readonly slow_seconds: number | null;
};

/** What is drawn of a valid workflow. */
export function encodeWorkflowPage(
  workflow: Workflow,
): Pick<WorkflowPage, 'description' | 'nodes' | 'edges' | 'phases'> {
  const graph = graphOf(workflow);
  return {
    description: workflow.description,
    nodes: graph.nodes.map(({ id, name, human, parallel, checks, evidence }) => ({
      id,
      name,
      human,
      parallel: parallel !== null,
      status: null,
      visits: 0,
      checks: checks.map((check) => ({ ...check })),
      evidence,
    })),
    edges: graph.edges.map(({ from, to, label, human, back, max }) => ({
      from,
      to,
      label,
      human,
      back,
      max,
      taken: 0,
    })),
    phases: workflow.phases.map((phase) => ({
      id: phase.id,
      name: phase.name,
      human: phase.humanGate !== null,
      tasks: phase.tasks.length,
      evidence: graph.nodes.find(({ id }) => id === phase.id)?.evidence ?? [],
      ...encodeScope(phase),
    })),
  };
}

interface Tally {
  readonly phase: PhaseId;
  entered: number;
  passed: number;
  refused: number;
  readonly seconds: number[];
}

/** Counts how runs fare, phase by phase. */
export function recordOfPhases(): {
  add(run: Run, records: readonly AuditRecord[]): void;
  answer(): { readonly runs: number; readonly phases: readonly PhaseRecord[] };
} {
  const tallies = new Map<string, Tally>();
  let runs = 0;
  const tallyOf = (phase: PhaseId): Tally => {
    const key = `${typeof phase} ${phase}`;
    const found = tallies.get(key) ?? { phase, entered: 0, passed: 0, refused: 0, seconds: [] };
    tallies.set(key, found);
    return found;
  };
  return {
    add(_, records) {
      runs += 1;
      const visit: { since: number | null } = { since: null };
      const enter = (phase: PhaseId, at: string) => {
        tallyOf(phase).entered += 1;
        visit.since = Date.parse(at);
      };
      for (const record of records) {
        const event = eventOfRecord(record);
        if (event?.type === 'run_started') enter(event.phase, event.at);
        if (event?.type === 'phase_refused' && event.item === null) tallyOf(event.phase).refused += 1;
        if (event?.type !== 'phase_completed') continue;
        const tally = tallyOf(event.phase);
        if (event.outcome === 'ok') tally.passed += 1;
        if (visit.since !== null) tally.seconds.push((Date.parse(event.at) - visit.since) / 1000);
        if (event.next !== null) enter(event.next, event.at);
      }
    },
    answer: () => ({
      runs,
      phases: [...tallies.values()].map(({ phase, entered, passed, refused, seconds }) => ({
        phase,
        entered,
        passed,
        refused,
        median_seconds: quantile(seconds, 0.5),
        slow_seconds: quantile(seconds, 0.9),
      })),
    }),
  };
}

function quantile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}
