import { type AuditRecord, isJsonObject, type Json, own, type PhaseId, type Run } from '@phasegate/core';
import {
  type AllowedCalls,
  type AllowedProgram,
  eventOfRecord,
  type PhaseCount,
  type ReceiptCount,
  type RefusedTry,
  type RunEvent,
  type WorkFacts,
} from '@phasegate/core/engine';
import { WRITING_TOOLS } from '@phasegate/core/model';

/** Reads a run's record, oldest first, and tells what was done before the gate it waits at opened. */
export interface PhaseWork {
  add(record: AuditRecord): void;
  facts(): WorkFacts;
}

/**
 * What was done since a human decided last is kept, whatever phases it was in: no human has seen it yet.
 *
 * INVARIANT: what comes behind the gate's opening is left out. Calls are judged while a gate is open too, and would
 * make the card that a human reads another one. What came behind the opening of an earlier gate was on no card, so it
 * stays when that gate is decided.
 */
export function phaseWorkOf(run: Run): PhaseWork {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : null;
  const changed = new Map<PhaseId, Set<string>>();
  let done: Done[] = [];
  /** Where in it the newest gate opened. */
  let mark = 0;
  let opened = false;
  let decided = false;

  function addEvent(event: RunEvent, what: string): void {
    if (event.type === 'phase_refused') {
      const [blocker] = event.blockers;
      if (blocker === undefined) return;
      const { code, message } = blocker;
      done.push({ kind: 'refused', phase: event.phase, what, code, message });
    }
    const isLeft = event.type === 'gate_opened' || event.type === 'phase_completed';
    // What a human decided about was on the card, with its files.
    if (isLeft && event.files !== undefined && !decided) {
      done.push({ kind: 'files', phase: event.phase, files: event.files });
    }
    if (isLeft || event.type === 'gate_closed') decided = false;
    if (event.type === 'gate_opened') {
      mark = done.length;
      opened = event.wait.gate === gate;
    }
    if (event.type === 'gate_decided' && event.final) {
      done = done.slice(mark);
      mark = 0;
      decided = true;
    }
  }

  function judged(data: Json): void {
    const tool = String(own(data, 'tool'));
    const phase = phaseIn(own(data, 'phase'));
    if (own(data, 'allowed') !== true && own(data, 'let_through') !== true) {
      const [code, message] = [String(own(data, 'code')), String(own(data, 'message'))];
      done.push({ kind: 'refused', phase, what: tool, code, message });
      return;
    }
    const input = own(data, 'input');
    const command = own(input, 'command');
    if (WRITING_TOOLS.includes(tool)) writes(phase, pathsIn(input));
    else if (typeof command === 'string') done.push({ kind: 'program', phase, tool, command });
    else if (own(input, 'left_out') === true && PROGRAMS.includes(tool))
      done.push({ kind: 'programUnnamed', phase });
    else done.push({ kind: 'call', phase, tool });
  }

  function writes(phase: PhaseId, paths: readonly string[]): void {
    if (paths.length === 0) done.push({ kind: 'unnamed', phase });
    const known = changed.get(phase) ?? new Set<string>();
    for (const path of paths) known.add(path);
    if (known.size > 0) changed.set(phase, known);
  }

  function executed(data: Json): void {
    const phase = phaseIn(own(own(data, 'receipt'), 'phase'));
    done.push({
      kind: 'receipt',
      phase,
      tool: String(own(data, 'tool')),
      failed: own(data, 'ok') === true ? 0 : 1,
    });
  }

  return {
    add(record) {
      if (opened) return;
      const event = eventOfRecord(record);
      if (event !== null) addEvent(event, triedIn(record.data));
      if (record.event === 'tool_judged') judged(record.data);
      if (record.event === 'tool_executed') executed(record.data);
    },
    facts: () => ({
      changed: [...changed].map(([phase, paths]) => ({ phase, paths: [...paths].sort() })),
      files: done.flatMap((one) => (one.kind === 'files' ? [{ phase: one.phase, ...one.files }] : [])),
      unnamed: counted(done, 'unnamed'),
      programs: counted(done, 'program'),
      programsUnnamed: counted(done, 'programUnnamed'),
      calls: counted(done, 'call'),
      receipts: receiptsIn(done),
      refused: counted(done, 'refused'),
    }),
  };
}

/** One thing that was done, or tried. */
type Done =
  | { readonly kind: 'files'; readonly phase: PhaseId; readonly files: Files }
  | { readonly kind: 'unnamed' | 'programUnnamed'; readonly phase: PhaseId }
  | ({ readonly kind: 'program' } & Omit<AllowedProgram, 'times'>)
  | ({ readonly kind: 'call' } & Omit<AllowedCalls, 'times'>)
  | ({ readonly kind: 'receipt' } & Omit<ReceiptCount, 'times'>)
  | ({ readonly kind: 'refused' } & Omit<RefusedTry, 'times'>);

type Files = NonNullable<Extract<RunEvent, { type: 'gate_opened' }>['files']>;

type Told<K extends Done['kind']> = Omit<Extract<Done, { kind: K }>, 'kind'> & PhaseCount;

/** Tools that are called with a command line. */
const PROGRAMS: readonly string[] = ['bash', 'git'];

/** All of a kind, what is the same once and with how often it came, in the order in which it came first. */
function counted<K extends Exclude<Done['kind'], 'files' | 'receipt'>>(
  done: readonly Done[],
  kind: K,
): readonly Told<K>[] {
  const found = new Map<string, Told<K>>();
  for (const one of done) {
    if (one.kind !== kind) continue;
    const { kind: _, ...told } = one;
    const key = JSON.stringify(told);
    found.set(key, { ...told, times: (found.get(key)?.times ?? 0) + 1 } as Told<K>);
  }
  return [...found.values()];
}

function receiptsIn(done: readonly Done[]): readonly ReceiptCount[] {
  const found = new Map<string, ReceiptCount>();
  for (const one of done) {
    if (one.kind !== 'receipt') continue;
    const { phase, tool } = one;
    const key = JSON.stringify([phase, tool]);
    const { times, failed } = found.get(key) ?? { times: 0, failed: 0 };
    found.set(key, { phase, tool, times: times + 1, failed: failed + one.failed });
  }
  return [...found.values()];
}

/** What an agent tried that was refused as its work, by the command that is recorded with it; a large one has left it out. */
function triedIn(data: Json): string {
  const kind = own(own(own(data, 'recorded'), 'command'), 'kind');
  return TRIED.get(String(kind)) ?? 'completion';
}

const TRIED: ReadonlyMap<string, string> = new Map([
  ['fetch_task', 'look at a task'],
  ['ask', 'question'],
  ['report_blocked', 'report of a block'],
  ['report_failure', 'report of a failure'],
]);

function phaseIn(phase: Json | undefined): PhaseId {
  return typeof phase === 'string' || typeof phase === 'number' ? phase : 'unknown';
}

function pathsIn(input: Json | undefined): readonly string[] {
  if (!isJsonObject(input)) return [];
  const { path, paths } = input;
  const named = [path, ...(Array.isArray(paths) ? paths : [])];
  return named.filter((one): one is string => typeof one === 'string');
}
