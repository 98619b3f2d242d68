import type { RunEvent } from '../engine/events.ts';
import type { Run } from '../engine/run.ts';
import { canonicalJson, type Json } from '../json.ts';
import type { Phase, Workflow } from '../model/workflow.ts';
import type { AuditDraft } from '../ports/audit.ts';

/** SHA-256 of a text, in hexadecimal. */
export type Sha256 = (text: string) => string;

/** Runs for trying a store: each names its workflow by the hash that stores compare. */
export interface Samples {
  /** An active run of the sample workflow, as `run_started` makes it. */
  sampleRun(id: string, change?: Partial<Run>): Run;
  hashOf(workflow: Workflow): string;
}

/** The samples of a caller who can hash. */
export function samplesWith(sha256: Sha256): Samples {
  const hashOf = (workflow: Workflow) => sha256(canonicalJson(workflow as unknown as Json));
  const sampleRun = (id: string, change: Partial<Run> = {}): Run => {
    const workflow = change.workflow ?? sampleWorkflow();
    return activeRun(id, { workflow, workflowHash: hashOf(workflow), ...change });
  };
  return { sampleRun, hashOf };
}

/** A plain workflow of two phases, DRAFT and REVIEW, for trying a store. */
export function sampleWorkflow(id = 'sample'): Workflow {
  return {
    id,
    title: 'Sample',
    version: null,
    description: '',
    params: {},
    enforcement: { mode: 'strict', ring: 'served', tokenSeconds: 7200 },
    entry: 'DRAFT',
    phases: [samplePhase('DRAFT', 1, 'REVIEW'), samplePhase('REVIEW', 2, null)],
    code: null,
    module: null,
    templates: null,
  };
}

function activeRun(id: string, change: Partial<Run>): Run {
  return {
    id,
    target: null,
    params: {},
    holder: 'local',
    ring: 'served',
    trusted: false,
    epoch: 1,
    startedAt: SAMPLE_TIME,
    updatedAt: SAMPLE_TIME,
    completions: [],
    state: {},
    visits: { DRAFT: 1 },
    iterations: {},
    work: {
      enteredAt: SAMPLE_TIME,
      attempts: 0,
      failure: null,
      note: null,
      refusal: null,
      fetched: [],
      items: null,
      answers: [],
    },
    decisions: [],
    status: 'active',
    phase: 'DRAFT',
    ...change,
  } as Run;
}

/** The sample run after its first phase: one epoch on, in REVIEW. */
export function afterDraft(run: Run, change: Partial<Run> = {}): Run {
  return {
    ...run,
    epoch: run.epoch + 1,
    phase: 'REVIEW',
    visits: { ...run.visits, REVIEW: 1 },
    completions: [
      {
        phase: 'DRAFT',
        visit: 1,
        at: SAMPLE_TIME,
        by: 'local',
        outcome: 'ok',
        evidence: { notes: 'drafted' },
      },
    ],
    ...change,
  } as Run;
}

/** A record about a run or the project, before it has its place. */
export function sampleDraft(event: AuditDraft['event'], data: AuditDraft['data'] = {}): AuditDraft {
  return { time: SAMPLE_TIME, principal: 'agent:local', event, data };
}

/** The event a sample run starts with, as its chain records it. */
export function startedEvent(run: Run): RunEvent {
  return {
    type: 'run_started',
    at: run.startedAt,
    id: run.id,
    workflow: run.workflow.id,
    workflowHash: run.workflowHash,
    target: run.target,
    ...(run.goal === undefined ? {} : { goal: run.goal }),
    params: run.params,
    holder: run.holder,
    ring: run.ring,
    trusted: run.trusted,
    phase: run.workflow.entry,
    items: null,
    queued: false,
    ...(run.by === undefined ? {} : { by: run.by }),
  };
}

/** The time of everything in a sample, unless said otherwise. */
export const SAMPLE_TIME = '2026-01-01T00:00:00.000Z';

function samplePhase(id: string, number: number, next: string | null): Phase {
  return {
    id,
    number,
    name: id,
    description: '',
    instructions: `do ${id}`,
    content: null,
    sourceId: null,
    render: null,
    work: { kind: 'agent' },
    tasks: [],
    tools: { allowed: ['read_files'], forbidden: [], constraints: {} },
    writes: [],
    preconditions: [],
    evidence: { fields: [], artifacts: [] },
    postconditions: [],
    blockers: [],
    humanGate: null,
    parallel: null,
    next: { kind: 'to', target: next },
  };
}
