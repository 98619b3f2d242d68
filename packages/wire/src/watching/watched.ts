import type { JsonObject, PhaseId, Run, RunSummary, RunView } from '@phasegate/core';
import { encodeGoal, type GoalFields } from '../goal.ts';

/** How many runs there are of each status. */
export type RunCounts = { readonly runs: Readonly<Record<string, number>> };

/** Something that waits for a human. */
export type InboxItem = GoalFields & {
  readonly run: string;
  readonly workflow: string;
  readonly target: string | null;
  readonly kind: 'gate' | 'questions' | 'escalation' | 'fence';
  readonly phase: PhaseId | null;
  readonly holder: string | null;
  readonly since: string;
  readonly expires_at: string | null;
  /** What is asked, or what is wrong; words of the workflow's author or of an agent. */
  readonly text: string;
  /** Who may decide; empty where anyone may who can decide at all. */
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly votes: readonly { readonly by: string; readonly option: string }[];
  /** How many phases a human led the run past; absent where there is none. */
  readonly overridden?: number;
};

/** All that waits for a human, the oldest first. */
export type Inbox = {
  readonly items: readonly InboxItem[];
  /** `skip` of the next page, which has newer runs; null at the end. */
  readonly next_skip: number | null;
};

/** What a list says of a run beside its line. */
export type RunGlance = {
  readonly run: string;
  readonly ring: string;
  readonly attempts: number;
  /** How the newest attempt or phase ended; null where none has. */
  readonly last: {
    readonly allowed: boolean;
    /** `refused`, or the outcome with which the newest phase was left, such as `overridden`. */
    readonly outcome: string;
    readonly text: string;
  } | null;
};

/** The same of several runs; those that cannot be read are missing. */
export type RunGlances = { readonly runs: readonly RunGlance[] };

/** What a run waits for a human with; null where it waits for none. */
export function encodeInboxItem(view: RunView): InboxItem | null {
  const about = {
    run: view.run,
    workflow: view.workflow,
    target: view.target,
    ...encodeGoal(view),
    phase: view.phase,
    holder: view.holder,
    expires_at: null,
    approvers: [],
    quorum: 1,
    votes: [],
    ...(view.overrides === undefined ? {} : { overridden: view.overrides.length }),
  };
  const { gate, questions, escalation, violations = [] } = view;
  if (gate !== null) {
    const { since, expiresAt, prompt, approvers, quorum } = gate;
    const votes = gate.votes.map(({ by, option }) => ({ by, option }));
    return { ...about, kind: 'gate', since, expires_at: expiresAt, text: prompt, approvers, quorum, votes };
  }
  if (escalation !== null) {
    return { ...about, kind: 'escalation', since: escalation.since, text: escalation.message };
  }
  if (view.status === 'waiting') {
    const text = questions.map((question) => question.text).join('\n');
    return { ...about, kind: 'questions', since: view.updatedAt, text };
  }
  if (violations.length === 0) return null;
  const text = `changed outside the scope: ${violations.map(({ path }) => path).join(', ')}`;
  return { ...about, kind: 'fence', since: view.updatedAt, text };
}

/** What a list says of a run beside its line. */
export function encodeGlance(run: Run): RunGlance {
  return { run: run.id, ring: run.ring, attempts: run.work.attempts, last: lastOf(run) };
}

function lastOf({ work, completions }: Run): RunGlance['last'] {
  if (work.failure !== null) return { allowed: false, outcome: 'refused', text: work.failure };
  if (work.outside !== undefined && work.outside.length > 0) {
    const text = `changed outside the scope: ${work.outside[0]?.path ?? ''}`;
    return { allowed: false, outcome: 'refused', text };
  }
  const newest = completions.at(-1);
  if (newest === undefined) return null;
  const { phase, outcome } = newest;
  return { allowed: outcome === 'ok', outcome, text: `${phase}: ${outcome}` };
}

/** Whether a line of the list holds some words: its run, workflow, target, agent, phase or goal. */
export function lineHolds(line: RunSummary, words: string): boolean {
  const wanted = words.toLowerCase();
  const { run, workflow, target, holder, phase, goal } = line;
  return [run, workflow, target, holder, phase === null ? null : String(phase), goal?.text].some(
    (text) => text?.toLowerCase().includes(wanted) === true,
  );
}

/** A run's way through its workflow, with all that was handed in and decided; for humans. */
export type RunMap = {
  readonly run: string;
  readonly workflow: string;
  readonly workflow_hash: string;
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  /** Items of the current phase, where it is parallel. */
  readonly items: readonly MapItem[];
  /** Of the current phase. */
  readonly tasks: readonly { readonly number: number; readonly name: string; readonly fetched: boolean }[];
  /** What the current phase may use and write; null once the run has ended. */
  readonly scope: MapScope | null;
  readonly completions: readonly MapCompletion[];
  readonly decisions: readonly {
    readonly gate: string;
    readonly option: string;
    readonly input: string | null;
    readonly by: string;
    readonly at: string;
  }[];
  readonly fenced: readonly JsonObject[];
  /** Where an override of the current phase may lead, null for the end; empty once the run has ended. */
  readonly ways: readonly (PhaseId | null)[];
  /** What a human wrote for anyone who works on the current phase. */
  readonly note: string | null;
};

/** A phase of the map, or the end. */
export type MapNode = {
  readonly id: PhaseId | null;
  readonly name: string;
  readonly human: boolean;
  readonly parallel: boolean;
  readonly status: string | null;
  readonly visits: number;
  readonly checks: readonly { readonly label: string; readonly class: string; readonly warns: boolean }[];
  readonly evidence: readonly string[];
};

/** A way of the map. */
export type MapEdge = {
  readonly from: PhaseId;
  readonly to: PhaseId | null;
  readonly label: string;
  readonly human: boolean;
  readonly back: boolean;
  readonly max: number | null;
  /** How often the run went this way. */
  readonly taken: number;
};

/** One item of a parallel phase. */
export type MapItem = {
  readonly key: string;
  readonly status: string;
  readonly attempts: number;
  readonly holder: string | null;
  readonly error: string | null;
};

/** What a phase may use and write. */
export type MapScope = {
  readonly allowed_tools: readonly string[];
  readonly forbidden_tools: readonly string[];
  readonly writes: readonly string[];
};

/** What the engine established by running something. */
export type ProvenCheck = {
  readonly check: string;
  readonly class: string;
  readonly receipt?: string;
  /** Why it is not `verified`, in words. */
  readonly lack?: string;
};

/** One completed visit of a phase. */
export type MapCompletion = {
  readonly phase: PhaseId;
  readonly visit: number;
  readonly at: string;
  readonly by: string;
  readonly outcome: string;
  readonly evidence: JsonObject;
  readonly word?: JsonObject;
  /** What is too large for a map; absent where everything is there. */
  readonly left_out?: readonly MapLeftOut[];
  readonly warnings: readonly string[];
  /** What the engine established by running something. */
  readonly proven: readonly ProvenCheck[];
  /** Whether a human approved it. */
  readonly approved: boolean;
};

/** What was handed in and is not in the map. */
export type MapLeftOut = {
  readonly of: 'evidence' | 'word';
  /** Of the value; null: all of it, and then the hash is that of the names, each with the hash of its value. */
  readonly name: string | null;
  /** Of the JSON of the value. */
  readonly sha256: string;
  /** In characters of JSON. */
  readonly size: number;
};

/** As much of what was handed in as a map shows. */
export type ShownEvidence = Pick<MapCompletion, 'evidence' | 'word' | 'left_out'>;
