import { canonicalJson, isJsonObject, type Json, type JsonObject, own } from '../json.ts';
import { PATH_TOOLS } from '../model/tools.ts';
import type { Command, Fact, Facts } from './command.ts';
import { isRunEvent, type RunEvent } from './events.ts';
import type { ToolUse } from './judgeTool.ts';
import type { FilesChanged } from './run.ts';
import type { Blocker } from './verdict.ts';

/** What a decision was made from, kept with its first event so that the same can be decided again. */
export interface Recording {
  /** Null for the start of a run, whose event says it all. */
  readonly command: Command | null;
  readonly facts: Facts;
  /** Of the copy of the author's database that came with it. */
  readonly database?: string;
  /** Hash of the workspace as it was measured for it. */
  readonly tree?: string;
  /** The git worktree in which it was made; absent: the project's own folder. */
  readonly folder?: string;
}

/** A record of a run's chain, as far as reading it needs. */
export interface RecordedEvent {
  readonly time: string;
  readonly event: string;
  readonly data: Json;
}

/** Why a decision cannot be made again. */
export type Unrecorded = 'not_recorded' | 'other_version' | 'too_large';

/** Raised when a recording is written in another form. */
export const RECORDING_VERSION = 1;

/** In characters of JSON. Beyond this what was refused is not kept: an agent must not fill the disk with it. */
export const LARGEST_RECORDING = 65_536;

/** A recording as it is kept with the first of the events it led to. What the event says itself is not said twice. */
export function recorded(
  { command, facts, database, tree, folder }: Recording,
  events: readonly RunEvent[],
  largest = LARGEST_RECORDING,
): JsonObject {
  const told = toldBy(events);
  const kept: JsonObject = {
    version: RECORDING_VERSION,
    ...(command === null ? {} : { command: withoutTold(command, told) }),
    ...(Object.keys(facts).length === 0 ? {} : { facts: mapFacts(facts, (fact) => shortened(fact, told)) }),
    ...(database === undefined ? {} : { database }),
    ...(tree === undefined ? {} : { tree }),
    ...(folder === undefined ? {} : { folder }),
  };
  // As many characters as its canonical text has, and found faster.
  if (JSON.stringify(kept).length <= largest) return kept;
  return { version: RECORDING_VERSION, left_out: true };
}

/**
 * The recording of a refusal that changed nothing, where the workflow had a say in it: any other principal who may not
 * act is turned away under every workflow. A card that had changed is not a fault of the workflow either.
 */
export function recordedRefusal(
  recording: Recording,
  blockers: readonly Pick<Blocker, 'code'>[],
): { readonly recorded?: JsonObject } {
  const kind = recording.command?.kind;
  if (kind === undefined || !dependsOnWorkflow(kind, blockers)) return {};
  return { recorded: recorded(recording, []) };
}

/** Whether another workflow could have let pass what was refused without an event. */
export function dependsOnWorkflow(command: string, blockers: readonly { readonly code: unknown }[]): boolean {
  if (command !== 'decide' && command !== 'fetch_task') return false;
  return blockers.every(({ code }) => code !== 'shown_changed');
}

/** What a record's decision was made from, or why nobody can tell; undefined where it only goes on with an earlier one. */
export function readRecording(
  record: RecordedEvent,
  following: readonly RunEvent[],
): Recording | Unrecorded | undefined {
  const kept = own(record.data, 'recorded');
  if (kept === undefined) return undefined;
  if (own(kept, 'version') !== RECORDING_VERSION) return 'other_version';
  if (own(kept, 'left_out') === true) return 'too_large';
  const told = toldBy(following);
  const command = own(kept, 'command');
  const facts = own(kept, 'facts') ?? {};
  const database = own(kept, 'database');
  const tree = own(kept, 'tree');
  const folder = own(kept, 'folder');
  return {
    command: command === undefined ? null : ({ ...restored(command, told) } as unknown as Command),
    facts: mapFacts(facts as unknown as Facts, (fact) => lengthened(fact, told)),
    ...(typeof database === 'string' ? { database } : {}),
    ...(typeof tree === 'string' ? { tree } : {}),
    ...(typeof folder === 'string' ? { folder } : {}),
  };
}

/** The event behind a record of a run's chain; null for a note that changed no state. */
export function eventOfRecord(record: RecordedEvent): RunEvent | null {
  if (!isRunEvent(record.event)) return null;
  const { recorded: _, ...data } = isJsonObject(record.data) ? record.data : ({} as JsonObject);
  return { ...data, type: record.event, at: record.time } as unknown as RunEvent;
}

/**
 * A record without what only those who may read all of the audit are given: what a decision was made from, what a tool was
 * called with, and the phases that still lie ahead in a workflow that a run was migrated to.
 */
export function withoutRecording<T extends RecordedEvent>(record: T): T {
  const { event, data } = record;
  const hidden = ['recorded', ...(WITHHELD.get(event) ?? [])];
  if (!isJsonObject(data) || !hidden.some((key) => Object.hasOwn(data, key))) return record;
  const told = Object.entries(data).filter(([key]) => !hidden.includes(key));
  return { ...record, data: Object.fromEntries(told) };
}

const WITHHELD: ReadonlyMap<string, readonly string[]> = new Map([
  ['run_migrated', ['workflow']],
  ['tool_judged', ['input']],
]);

/** Of a tool call what it was judged by: never what was to be written, nor what another server is told. */
export function judgedInput({ tool, input }: ToolUse): JsonObject {
  const kept: Record<string, Json> = {};
  for (const key of judgedKeys(tool)) {
    const value = own(input, key);
    if (value === undefined) continue;
    const length = typeof value === 'string' ? value.length : canonicalJson(value).length;
    if (length > LONGEST_INPUT) return { left_out: true };
    kept[key] = value;
  }
  return kept;
}

const LONGEST_INPUT = 4096;

function judgedKeys(tool: string): readonly string[] {
  if (tool === 'bash' || tool === 'git') return ['command'];
  return PATH_TOOLS.includes(tool) ? ['path', 'paths'] : [];
}

interface Told {
  readonly evidence: JsonObject | undefined;
  readonly state: JsonObject | undefined;
  readonly signature: string | undefined;
  readonly workflow?: JsonObject;
  readonly files?: FilesChanged;
}

function toldBy(events: readonly RunEvent[]): Told {
  const files = events.flatMap((event) => ('files' in event ? (event.files ?? []) : []))[0];
  const nothing: Told = {
    evidence: undefined,
    state: undefined,
    signature: undefined,
    ...(files === undefined ? {} : { files }),
  };
  for (const event of events) {
    if (event.type === 'gate_decided') return { ...nothing, signature: event.decision.signature };
    if (event.type === 'phase_overridden') return { ...nothing, signature: event.override.signature };
    if (event.type === 'item_completed') return { ...nothing, evidence: event.evidence, state: event.state };
    if (event.type === 'run_migrated')
      return { ...nothing, workflow: event.workflow as unknown as JsonObject };
    if (event.type !== 'gate_opened' && event.type !== 'phase_completed') continue;
    const { evidence, state } = event.type === 'gate_opened' ? event.wait : event;
    return { ...nothing, evidence, state };
  }
  return nothing;
}

function withoutTold(command: Command, told: Told): JsonObject {
  // A signature stands in the decision it is about, a workflow in the migration to it.
  const { evidence, signature: _, workflow: __, ...rest } = command as unknown as JsonObject;
  const same = evidence === undefined || evidence === told.evidence;
  return same ? defined(rest) : defined({ ...rest, evidence });
}

function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function restored(command: Json, told: Told): JsonObject {
  const given = isJsonObject(command) ? command : {};
  if (given.kind === 'decide' || given.kind === 'override')
    return { ...given, signature: told.signature ?? '' };
  if (given.kind === 'migrate') return { ...given, workflow: told.workflow ?? {} };
  if (given.kind !== 'complete') return given;
  return { ...given, evidence: given.evidence ?? told.evidence ?? {} };
}

function shortened(fact: Fact, told: Told): Fact {
  if (fact.kind === 'check' && fact.result.status === 'passed') {
    return { kind: 'check', result: { ...fact.result, reason: '' } };
  }
  if (fact.kind === 'tree' && fact.result.ok) {
    // Nothing is decided by it, and where it is told the event has it.
    const { inside: _, ...result } = fact.result;
    return { kind: 'tree', result };
  }
  if (fact.kind !== 'handler' || !fact.result.ok || fact.result.state !== told.state) return fact;
  const { state: _, ...result } = fact.result;
  return { kind: 'handler', result } as unknown as Fact;
}

function lengthened(fact: Fact, told: Told): Fact {
  if (fact.kind === 'tree' && fact.result.ok && told.files !== undefined)
    return { kind: 'tree', result: { ...fact.result, inside: told.files } };
  if (fact.kind !== 'handler' || !fact.result.ok || Object.hasOwn(fact.result, 'state')) return fact;
  return { kind: 'handler', result: { ...fact.result, state: told.state ?? {} } };
}

function mapFacts<T>(facts: Facts, change: (fact: Fact) => T): JsonObject & Facts {
  const changed = Object.entries(facts).map(([id, fact]) => [id, change(fact)]);
  return Object.fromEntries(changed) as JsonObject & Facts;
}
