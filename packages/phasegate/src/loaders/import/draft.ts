import type { Json, JsonObject } from '@phasegate/core';
import { stringify } from 'yaml';

/** A phase on its way from another format to ours. */
export interface PhaseDraft {
  readonly id: string;
  name: string;
  readonly instructions: string[];
  readonly tasks: TaskDraft[];
  readonly artifacts: JsonObject[];
  readonly evidence: Record<string, JsonObject>;
  readonly blockers: JsonObject[];
  /** What a human confirms because no check of ours can. */
  readonly confirm: string[];
  /** What a human is asked at a gate of the source. */
  readonly approvals: string[];
  readonly approvers: string[];
  /** Options beside approve, rework and stop. */
  options: readonly JsonObject[] | null;
  gateTimeout: string | null;
  /** False where runs may end without passing by. */
  onEveryWay: boolean;
  tools: JsonObject;
  timeout: number | null;
  /** Undefined: the following phase. */
  next: string | null | undefined;
}

/** A task on its way. */
export interface TaskDraft {
  readonly name: string;
  readonly instructions?: string;
  readonly acceptance_criteria?: readonly string[];
}

/** A workflow on its way. */
export interface WorkflowDraft {
  readonly id: string;
  title: string;
  description: string | undefined;
  version: string | undefined;
  readonly head: Record<string, Json>;
  readonly phases: PhaseDraft[];
  readonly added: string[];
}

/** A phase with nothing in it yet. */
export function newPhase(id: string, name: string): PhaseDraft {
  return {
    id,
    name,
    instructions: [],
    tasks: [],
    artifacts: [],
    evidence: {},
    blockers: [],
    confirm: [],
    approvals: [],
    approvers: [],
    options: null,
    gateTimeout: null,
    onEveryWay: true,
    tools: {},
    timeout: null,
    next: undefined,
  };
}

/** An id of ours from a name of others; positions make it unique. */
export function idFrom(name: string, taken: readonly string[] = []): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[-.]+$/g, '')
    .slice(0, 80);
  const base = plain === '' ? 'imported' : plain;
  let id = base;
  for (let count = 2; taken.includes(id); count++) id = `${base}-${count}`;
  return id;
}

/** Whether a human decides behind the phase. */
export function hasGate({ confirm, approvals, options }: PhaseDraft): boolean {
  return confirm.length > 0 || approvals.length > 0 || options !== null;
}

/** Gives every phase that asks for nothing one value to submit: a phase that needs no evidence could be walked through. */
export function demandEvidence(draft: WorkflowDraft): void {
  const silent = draft.phases.filter(
    ({ artifacts, evidence }) => artifacts.length === 0 && Object.keys(evidence).length === 0,
  );
  for (const phase of silent) {
    const description = 'What was done in this phase';
    phase.evidence[nameIn(phase.id, 'summary')] = { type: 'str', rule: 'non_empty', description };
  }
  if (silent.length > 0) {
    draft.added.push(
      `evidence \`PHASE_summary\` in ${silent.length} of ${draft.phases.length} phases, which asked for nothing`,
    );
  }
}

/** A name of evidence that only this phase has: what a human approved must not be replaced by a later phase. */
export function nameIn(phase: string, name: string): string {
  return `${phase}_${name}`.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^(?=\d)/, 'phase_');
}

/** The contract as YAML, with a line about where it came from. */
export function contractText(draft: WorkflowDraft, about: string): string {
  const { id, title, description, version, head, phases } = draft;
  const value = {
    workflow: id,
    title,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    ...head,
    // A list: as keys of a map, ids such as `2` would change their place.
    phases: phases.map((phase) => ({ id: phase.id, ...phaseValue(phase) })),
  };
  return `# ${about.replace(/[\r\n]+/g, ' ')}\n${stringify(value, { lineWidth: 110, aliasDuplicateObjects: false })}`;
}

function phaseValue(phase: PhaseDraft): JsonObject {
  const { name, instructions, tasks, artifacts, evidence, tools, timeout, next } = phase;
  const blockers = distinct(phase.blockers);
  const gate: Record<string, Json> = {
    ...(blockers.length === 0 ? {} : { blockers }),
    ...(hasGate(phase) ? { human: humanOf(phase) } : {}),
  };
  const text = instructions.filter((part) => part !== '').join('\n\n');
  return {
    name,
    ...(text === '' ? {} : { instructions: text }),
    ...tools,
    ...(tasks.length === 0 ? {} : { tasks: tasks as unknown as Json }),
    ...(artifacts.length === 0 ? {} : { required_artifacts: artifacts }),
    ...(Object.keys(evidence).length === 0 ? {} : { required_evidence: evidence }),
    ...(Object.keys(gate).length === 0 ? {} : { gate }),
    ...(timeout === null ? {} : { timeout }),
    ...(next === undefined ? {} : { next }),
  };
}

function humanOf(phase: PhaseDraft): JsonObject {
  const { id, name, approvals, confirm, approvers, options, gateTimeout, onEveryWay } = phase;
  const asked = approvals.length === 0 ? [`Is phase ${name} done as it should be?`] : approvals;
  const confirmed =
    confirm.length === 0 ? [] : [`Confirm before you approve:\n${bullets([...new Set(confirm)])}`];
  return {
    prompt: [...asked, ...confirmed].join('\n\n'),
    options: options ?? approveOr(id),
    ...(approvers.length === 0 ? {} : { approvers }),
    ...(onEveryWay ? {} : { required: false }),
    ...(gateTimeout === null ? {} : { timeout: { after: gateTimeout, then: 'park' } }),
  };
}

/** The answers of a gate that is not otherwise described. */
export function approveOr(phase: string, more: readonly JsonObject[] = []): readonly JsonObject[] {
  return [
    { label: 'Approve' },
    { label: 'Rework', next: phase, requires_input: true },
    ...more,
    { label: 'Stop', next: null },
  ];
}

/** The same question is asked once, whatever is said when it does not hold. */
function distinct(blockers: readonly JsonObject[]): readonly JsonObject[] {
  const keyOf = ({ check, with: params = {} }: JsonObject) => JSON.stringify([check, params]);
  return [...new Map(blockers.toReversed().map((one) => [keyOf(one), one])).values()].toReversed();
}

/** A list for a reader. */
export function bullets(texts: readonly string[]): string {
  return texts.map((text) => `- ${text.replace(/\s*\n\s*/g, ' ')}`).join('\n');
}
