import {
  canonicalJson,
  isJsonObject,
  judgeTool,
  PhasegateError,
  phaseById,
  type Run,
  type ToolUse,
  type Verdict,
} from '@phasegate/core';
import { isToolName, jsonProblem } from '@phasegate/core/model';
import { createTurns } from '../limits/turns.ts';
import { atOnceAfter } from './atOnceAfter.ts';
import { calledWrongly } from './calledWrongly.ts';
import type { CallsUnderWay } from './callsUnderWay.ts';
import { opensGuarded, runsProgram } from './changesMore.ts';
import { type Guard, withRestored } from './guard/guard.ts';
import { createInputRules } from './inputRules.ts';
import type { Masking } from './masking.ts';
import { mayHaveRun } from './mayHaveRun.ts';
import { isDead, outlived } from './outlivedToken.ts';
import type {
  Admitted,
  AuditDraft,
  CallRecord,
  Databases,
  ExecutedCall,
  Fence,
  Receipt,
  Seal,
  Toolbox,
  ToolCallRequest,
  ToolImplementation,
  ToolResult,
} from './ports.ts';
import { makeReceipt } from './receipts.ts';
import { notOk, runTool } from './runTool.ts';
import { encloseFor, heldOf, type Sandboxing } from './sandboxing.ts';
import { contextFor } from './toolContext.ts';
import { NO_TREES, treesAround } from './treesAround.ts';

/** What the toolbox is built from. */
export interface ToolboxParts {
  /**
   * The engine's verdict for the holder of a token, durable before it is given; with a call that it allows, that call
   * is under way from then on. Throws `token_dead` or `run_changed` where the run's epoch is no longer the token's.
   */
  judge(admitted: Admitted, use: ToolUse, how?: Judging): Promise<Verdict>;
  /** The run as it is now. */
  load(runId: string): Promise<Run>;
  readonly calls: Pick<CallsUnderWay, 'enter' | 'recordOf' | 'carryOut' | 'over'>;
  /** Sees to the guard's own files where programs are run. */
  readonly guard?: Pick<Guard, 'hold' | 'settle'>;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** The authors' databases, which no tool writes; absent where there can be none. */
  readonly databases?: Pick<Databases, 'protection'>;
  /** Masks secrets in what is recorded of calls and in what programs print; absent: nothing is masked. */
  readonly masking?: Masking;
  /** Holds the programs that tools run; absent where none can be held. */
  readonly sandboxing?: Sandboxing;
  /** The contract tools that can be carried out, asked for when the first call comes. */
  tools(): Promise<readonly ToolImplementation[]>;
  /** Tools of attached servers; asked when such a tool is called, or all tools are listed. */
  readonly attached?: AttachedTools;
  readonly seal: Pick<Seal, 'sign'>;
  /** Absent where runs have no workspace. */
  readonly measuring?: Pick<Fence, 'state'>;
  /** SHA-256, hex. */
  hash(text: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
  /** Appends to a run's chain, durably, whatever its epoch. */
  note(runId: string, drafts: readonly AuditDraft[]): Promise<void>;
  /** The most one call may take; 610 seconds by default, above what a command may ask for. */
  readonly timeoutMs?: number;
  /** Aborted when the server stops. */
  readonly signal?: AbortSignal;
}

/** What a verdict is wanted for. */
export interface Judging {
  /** To be carried out if it is allowed. */
  readonly call?: CallRecord;
  /** The run, where it was loaded for this call already. */
  readonly run?: Run | undefined;
}

/** Tools that other servers offer. */
export interface AttachedTools {
  attachedTools(): Promise<readonly ToolImplementation[]>;
  /** Why the server of a tool offers nothing, where that is known. */
  trouble(tool: string): string | null;
  close(): Promise<void>;
}

const MAX_BATCH = 100;
/** Of one agent, whatever it holds; each may be a program or a thread. */
const CALLS_AT_ONCE = 8;
const CALLS_WAITING = 64;
const TIMEOUT_MS = 610_000;

/** Builds the toolbox: every call is judged by the engine and on disk before it is carried out, and signed after. */
export function createToolbox(parts: ToolboxParts): Toolbox {
  const timeoutMs = parts.timeoutMs ?? TIMEOUT_MS;
  const registered = new Map<string, ToolImplementation>();
  const rules = createInputRules();
  const turns = createTurns({ what: 'tool calls', atOnce: CALLS_AT_ONCE, waiting: CALLS_WAITING });
  const contract = atOnceAfter(async () => new Map((await parts.tools()).map((tool) => [tool.name, tool])));
  const workspace = atOnceAfter(async () => (await import('node:fs/promises')).realpath(parts.workspace));

  async function find(name: string): Promise<ToolImplementation | undefined> {
    const own = registered.get(name) ?? (await contract()).get(name);
    if (own !== undefined || !name.startsWith('mcp:')) return own;
    return (await parts.attached?.attachedTools())?.find((tool) => tool.name === name);
  }

  /** The call in the words the engine judges. A bash line in a phase that allows git alone is a git command. */
  async function inItsWords(admitted: Admitted, call: ToolCallRequest): Promise<Worded> {
    if (call.tool !== 'bash') return { call };
    const run = await parts.load(admitted.runId);
    const allowed = (run.status === 'active' && phaseById(run.workflow, run.phase)?.tools.allowed) || [];
    const isGit = allowed.includes('git') && !allowed.includes('bash');
    return { call: isGit ? { ...call, tool: 'git' } : call, run };
  }

  /** Judges what the call would really touch; an input with anything else in it is refused before. */
  async function judge(admitted: Admitted, worded: Worded, toCarryOut?: ToCarryOut): Promise<Verdict> {
    const { tool, input } = worded.call;
    const { run } = worded;
    const name = typeof tool === 'string' ? tool.slice(0, 200) : 'unknown';
    const unfit = isJsonObject(input) ? jsonProblem(input) : 'is no JSON object';
    if (unfit !== null) return refuse(admitted, { tool: name, input: {}, run }, `the input ${unfit}`);
    if (name.endsWith('*')) {
      return refuse(admitted, { tool: name, input: {}, run }, `\`${name}\` is a pattern and no tool`);
    }
    // Only our own tools are known before the verdict: an attached server is not asked about a call that is refused.
    const known = contract();
    const tools = known instanceof Promise ? await known : known;
    const implementation = registered.get(name) ?? tools.get(name);
    const place = implementation?.judged === undefined ? '' : workspace();
    const root = typeof place === 'string' ? place : await place;
    const use = { tool: name, input: implementation?.judged?.(input, root) ?? input };
    const problem =
      implementation === undefined ? null : rules.problemOf(implementation, input, toCarryOut !== undefined);
    if (problem !== null) return refuse(admitted, { ...use, run }, problem);
    const call = toCarryOut?.record;
    const verdict = await parts.judge(admitted, use, call === undefined ? { run } : { call });
    if (verdict.allowed) toCarryOut?.begun();
    return letThrough(name, verdict);
  }

  /** Refuses what no phase could allow; where the engine refuses too, in its words. One verdict is recorded. */
  async function refuse(
    admitted: Admitted,
    { run: loaded, ...use }: ToolUse & Pick<Judging, 'run'>,
    message: string,
  ): Promise<Verdict> {
    const run = loaded ?? (await parts.load(admitted.runId));
    if (!judgeTool(run, use).allowed) {
      const verdict = await parts.judge(admitted, use, { run });
      const [first, ...others] = verdict.allowed ? (verdict.wouldRefuse ?? []) : verdict.blockers;
      if (first !== undefined) return { allowed: false, blockers: [first, ...others] };
    }
    const { jti } = admitted;
    const blocker = calledWrongly(run, use.tool, message);
    const { code, message: said } = blocker;
    const data = { tool: use.tool, phase: run.phase, allowed: false, code, message: said };
    await note(admitted, 'tool_judged', jti === undefined ? data : { ...data, token: jti });
    return { allowed: false, blockers: [blocker] };
  }

  function draftOf(admitted: Admitted, event: AuditDraft['event'], data: AuditDraft['data']): AuditDraft {
    const time = new Date(parts.now()).toISOString();
    return { time, principal: `agent:${admitted.principal.name}`, event, data };
  }

  async function note(
    admitted: Admitted,
    event: AuditDraft['event'],
    data: AuditDraft['data'],
  ): Promise<void> {
    await parts.note(admitted.runId, [draftOf(admitted, event, parts.masking?.mask(data) ?? data)]);
  }

  async function executeOne(admitted: Admitted, asked: ToolCallRequest, so: SoFar): Promise<ExecutedCall> {
    // Before it is entered: what waits for its turn is not a call under way that a transition would have to wait for.
    const end = await turns.take(admitted.principal.name);
    try {
      return await executeInTurn(admitted, asked, so);
    } finally {
      end();
    }
  }

  async function executeInTurn(admitted: Admitted, asked: ToolCallRequest, so: SoFar): Promise<ExecutedCall> {
    const { runId, item } = admitted;
    // Entered before the verdict: nobody comes in while the phase is being left, so a call is judged before or after.
    const entered = await parts.calls.enter(runId, item);
    const tool = String(asked.tool).slice(0, 200);
    const record = parts.calls.recordOf({ run: runId, item, tool }, timeoutMs);
    let isUnderWay = false;
    const begun = () => {
      isUnderWay = true;
    };
    const ended = async (drafts: readonly AuditDraft[]) => {
      isUnderWay = false;
      await parts.calls.over(record, drafts);
    };
    try {
      return await judgeAndCarryOut(admitted, asked, { record, so, begun, ended });
    } finally {
      try {
        if (isUnderWay) await ended([]);
      } finally {
        entered.leave();
      }
    }
  }

  async function judgeAndCarryOut(
    admitted: Admitted,
    asked: ToolCallRequest,
    toCarryOut: ToCarryOut,
  ): Promise<ExecutedCall> {
    // A program that goes on in the background may have waited for its answer to be given.
    const restored = (await parts.guard?.settle(admitted.runId)) ?? [];
    const worded = await inItsWords(admitted, asked);
    const { call } = worded;
    // INVARIANT: nothing begins by a token that died while its call waited for a turn, or for others of its batch.
    await admitted.demandStill?.();
    const verdict = await judge(admitted, worded, toCarryOut);
    if (!verdict.allowed) return { verdict, result: null, receipt: null };
    const run = await parts.load(admitted.runId);
    if (run.epoch !== admitted.epoch) throw dead();
    const tool = await find(call.tool);
    if (tool === undefined) return { verdict, result: unavailable(call.tool), receipt: null };
    const problem = rules.problemOf(tool, call.input, true);
    if (problem !== null) return { verdict, result: notOk('input_invalid', problem), receipt: null };
    return { verdict, ...(await carryOut({ ...toCarryOut, admitted, call, tool, run, restored })) };
  }

  function unavailable(tool: string): ToolResult {
    const trouble = parts.attached?.trouble(tool);
    const why = trouble == null ? 'nothing here can carry it out' : trouble;
    return notOk('tool_unavailable', `\`${tool}\` is allowed, but ${why}`);
  }

  async function carryOut(work: Work): Promise<{ readonly result: ToolResult; readonly receipt: Receipt }> {
    const { admitted, call, tool, run, record } = work;
    const startedAt = new Date(parts.now()).toISOString();
    const root = await workspace();
    const isProtected = (await parts.databases?.protection()) ?? (() => false);
    // What a phase opens by its path is written with the guard's knowledge, or it would be found as a stranger's later.
    const changesMore = runsProgram(call.tool) || opensGuarded(run);
    if (changesMore) await parts.guard?.hold(run.id);
    const enclose = runsProgram(call.tool)
      ? await encloseFor(heldOf(run), { ...parts, workspace: root })
      : undefined;
    const trees = runsProgram(call.tool) ? await treesAround(parts.measuring, run) : NO_TREES;
    const ran = await parts.calls.carryOut(record, (ending) => {
      work.so.hasRun = true;
      const signals = [ending, AbortSignal.timeout(timeoutMs)];
      const signal = AbortSignal.any(parts.signal === undefined ? signals : [...signals, parts.signal]);
      const around = { workspace: root, signal, isProtected, call: record.id, enclose };
      const context = contextFor(run, call.tool, around);
      return runTool(tool, call.input, { ...context, agent: admitted.principal.name });
    });
    const found = changesMore ? await parts.guard?.settle(run.id) : undefined;
    const restored = [...work.restored, ...(found ?? [])];
    // What a file tool reads is the agent's work, and a mask in it would be written back.
    const shown = runsProgram(call.tool) && parts.masking !== undefined;
    const clean = shown ? { ...ran, output: parts.masking.mask(ran.output) } : ran;
    const result = withRestored(clean, [...new Set(restored)]);
    const receipt = makeReceipt(
      {
        id: `receipt-${parts.newId().replace(/^run-/, '')}`,
        run: admitted.runId,
        phase: admitted.phase,
        epoch: admitted.epoch,
        agent: admitted.principal.name,
        ...(admitted.item === null ? {} : { item: admitted.item }),
        tool: call.tool,
        input_hash: parts.hash(canonicalJson(call.input)),
        output_hash: parts.hash(canonicalJson(result.output)),
        ok: result.ok,
        exit_code: result.exitCode ?? null,
        ...(await trees()),
        started_at: startedAt,
        ended_at: new Date(parts.now()).toISOString(),
      },
      parts.seal,
    );
    // What the engine carried out itself is `observed`; checks that want that class will look for this record.
    const told = { tool: call.tool, ok: result.ok, call: record.id, receipt: { ...receipt } };
    await work.ended([draftOf(admitted, 'tool_executed', told)]);
    return { result, receipt };
  }

  /** The refusal of a call whose token had ended before it began; any other fault is thrown on. */
  async function refusedLate(
    admitted: Admitted,
    call: ToolCallRequest,
    { error, isFirst, hasRun }: SoFar & { readonly error: unknown; readonly isFirst: boolean },
  ): Promise<ExecutedCall> {
    if (!isDead(error) || (isFirst && error.code === 'run_changed')) throw hasRun ? mayHaveRun(error) : error;
    const code = error.code === 'run_changed' ? 'token_dead' : error.code;
    await note(admitted, 'token_refused', { code, tool: String(call.tool).slice(0, 200) });
    // Anyone who got here with a dead token hears that; a batch that outlived it keeps what was done.
    if (isFirst) throw error;
    return { verdict: { allowed: false, blockers: [outlived(error)] }, result: null, receipt: null };
  }

  return {
    async check(admitted, asked) {
      const worded = asked.tool === 'bash' ? await inItsWords(admitted, asked) : { call: asked };
      return judge(admitted, worded);
    },
    async execute(admitted, calls) {
      if (calls.length === 0 || calls.length > MAX_BATCH) {
        throw new PhasegateError(
          'request_invalid',
          `a batch has 1 to ${MAX_BATCH} calls, not ${calls.length}`,
        );
      }
      const done: ExecutedCall[] = [];
      const so: SoFar = { hasRun: false };
      for (const call of calls) {
        try {
          done.push(await executeOne(admitted, call, so));
        } catch (error) {
          const fault = { error, isFirst: done.length === 0, hasRun: so.hasRun };
          done.push(await refusedLate(admitted, call, fault));
        }
      }
      return done;
    },
    async tools() {
      const attached = (await parts.attached?.attachedTools()) ?? [];
      const all = [...(await contract()).values(), ...registered.values(), ...attached];
      return all.map(({ name, description, input }) => ({ name, description, input }));
    },
    register(tool) {
      if (!/^mcp:[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(tool.name)) {
        throw new PhasegateError(
          'usage',
          `\`${tool.name}\` is not a name for a tool of your own: \`mcp:SERVER/TOOL\` is`,
        );
      }
      if (registered.has(tool.name)) {
        throw new PhasegateError('usage', `there is a tool \`${tool.name}\` already`);
      }
      registered.set(tool.name, tool);
    },
  };
}

/** Permissive mode lets refused calls pass; what is not a tool at all cannot. */
function letThrough(name: string, verdict: Verdict): Verdict {
  if (!verdict.allowed || verdict.wouldRefuse === undefined) return verdict;
  const [first, ...others] = verdict.wouldRefuse;
  return first === undefined || isToolName(name) ? verdict : { allowed: false, blockers: [first, ...others] };
}

interface Worded extends Pick<Judging, 'run'> {
  readonly call: ToolCallRequest;
}

/** What came of a batch so far. */
interface SoFar {
  hasRun: boolean;
}

/** A call that is to be carried out where it is allowed. */
interface ToCarryOut {
  readonly record: CallRecord;
  readonly so: SoFar;
  /** It was allowed, and everybody knows that it is under way. */
  begun(): void;
  /** It is over; said with these records. */
  ended(drafts: readonly AuditDraft[]): Promise<void>;
}

interface Work extends ToCarryOut {
  readonly admitted: Admitted;
  readonly call: ToolCallRequest;
  readonly tool: ToolImplementation;
  readonly run: Run;
  /** Files that were put back before the call. */
  readonly restored: readonly string[];
}

function dead(): PhasegateError {
  return new PhasegateError('token_dead', 'the run has moved on since this token was given');
}
