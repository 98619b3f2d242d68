import type { Command, Facts, Principal, Run, RunEvent, ToolUse } from '@phasegate/core/engine';
import {
  apply,
  begin,
  dependsOnWorkflow,
  eventOfRecord,
  type RecordedEvent,
  readRecording,
  type Unrecorded,
} from '@phasegate/core/engine';
import type { Workflow } from '@phasegate/core/model';
import { isJsonObject, type Json, own } from '@phasegate/core/model';

/** One thing that was decided in a recorded run: what it was decided from, and what came of it. */
export type RecordedStep = {
  /** Place of its first record in the chain. */
  readonly seq: number;
  readonly at: string;
  readonly by: Principal;
  /** The run before it; null at the start. */
  readonly before: Run | null;
  /** The run after it. */
  readonly after: Run;
} & (
  | { readonly kind: 'start'; readonly events: readonly RunEvent[]; readonly facts: Facts }
  | {
      readonly kind: 'command';
      readonly events: readonly RunEvent[];
      readonly command: Command;
      readonly facts: Facts;
      /** Of the copy of the author's database that came with it. */
      readonly database?: string;
      /** Hash of the workspace as it was measured for it. */
      readonly tree?: string;
      /** The git worktree in which it was made. */
      readonly folder?: string;
      /** Codes of a refusal that changed nothing and so has no events. */
      readonly turnedAway?: readonly string[];
    }
  | {
      readonly kind: 'tool';
      readonly use: ToolUse;
      readonly allowed: boolean;
      readonly code: string | null;
    }
  /** What it was decided from was not kept, or in a form this version does not know. */
  | { readonly kind: 'unrecorded'; readonly events: readonly RunEvent[]; readonly why: Unrecorded }
);

/** A record of a run's chain with who caused it. */
export interface ChainRecord extends RecordedEvent {
  readonly seq: number;
  readonly principal: string;
}

/** What was decided in a run, in order, from its chain. `workflow` is the one it was started with. */
export function recordedSteps(workflow: Workflow, records: readonly ChainRecord[]): readonly RecordedStep[] {
  const steps: RecordedStep[] = [];
  let run: Run | null = null;
  for (let place = 0; place < records.length; ) {
    const record = records[place] as ChainRecord;
    const first = eventOfRecord(record);
    if (first === null) {
      const noted = run === null ? null : (toolStep(record, run) ?? refusedStep(record, run));
      if (noted !== null) steps.push(noted);
      place++;
      continue;
    }
    const events = [first];
    for (place++; place < records.length; place++) {
      const next = records[place] as ChainRecord;
      const event = eventOfRecord(next);
      if (event === null || own(next.data, 'recorded') !== undefined || !goesOn(record, next)) break;
      events.push(event);
    }
    const before: Run | null = run;
    const after = events.reduce<Run | null>((at, event) => step(workflow, at, event), run) as Run;
    run = after;
    const made = { seq: record.seq, at: record.time, by: principalOf(record.principal), before, after };
    const recording = readRecording(record, events) ?? 'not_recorded';
    if (typeof recording === 'string') steps.push({ ...made, kind: 'unrecorded', events, why: recording });
    else if (recording.command === null)
      steps.push({ ...made, kind: 'start', events, facts: recording.facts });
    else steps.push({ ...made, kind: 'command', events, ...recording, command: recording.command });
  }
  return steps;
}

/** Events of one decision have one time and one cause; those of an old recording are told apart by nothing else. */
function goesOn(first: ChainRecord, next: ChainRecord): boolean {
  return next.time === first.time && next.principal === first.principal;
}

function step(workflow: Workflow, run: Run | null, event: RunEvent): Run {
  if (run !== null) return apply(run, event);
  if (event.type !== 'run_started') throw new TypeError('a run begins with `run_started`');
  return begin(workflow, event);
}

function toolStep(record: ChainRecord, run: Run): RecordedStep | null {
  if (record.event !== 'tool_judged') return null;
  const tool = own(record.data, 'tool');
  const code = own(record.data, 'code');
  const input = own(record.data, 'input');
  const made = madeOf(record, run);
  const unrecorded = (why: Unrecorded): RecordedStep => ({ ...made, kind: 'unrecorded', events: [], why });
  if (typeof tool !== 'string' || !isJsonObject(input)) return unrecorded('not_recorded');
  if (own(input, 'left_out') === true) return unrecorded('too_large');
  return {
    ...made,
    kind: 'tool',
    use: { tool, input },
    allowed: own(record.data, 'allowed') === true,
    code: typeof code === 'string' ? code : null,
  };
}

function refusedStep(record: ChainRecord, run: Run): RecordedStep | null {
  if (record.event !== 'command_refused') return null;
  const blockers = own(record.data, 'blockers');
  const codes = (Array.isArray(blockers) ? blockers : []).map((one: Json) => String(own(one, 'code')));
  const asked = String(own(record.data, 'command'));
  const refused = codes.map((code) => ({ code }));
  if (!dependsOnWorkflow(asked, refused)) return null;
  const made = madeOf(record, run);
  const recording = readRecording(record, []) ?? 'not_recorded';
  if (typeof recording === 'string') return { ...made, kind: 'unrecorded', events: [], why: recording };
  if (recording.command === null) return { ...made, kind: 'unrecorded', events: [], why: 'not_recorded' };
  return {
    ...made,
    kind: 'command',
    events: [],
    ...recording,
    command: recording.command,
    turnedAway: codes,
  };
}

/** A note changes nothing, so the run is the same before and after. */
function madeOf(record: ChainRecord, run: Run) {
  const by = principalOf(record.principal);
  return { seq: record.seq, at: record.time, by, before: run, after: run };
}

function principalOf(text: string): Principal {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind === 'agent' || kind === 'human') return { kind, name };
  return { kind: 'engine', name: 'phasegate' };
}
