import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { type Fact, type Look, own, PhasegateError, type Subject } from '@phasegate/core';
import type { CheckResult } from '@phasegate/core/engine';
import {
  type Check,
  jsonProblem,
  type PhaseId,
  reasonOf,
  shellWord,
  systemReason,
} from '@phasegate/core/model';
import type {
  CheckImplementation,
  Enclose,
  FunctionAnswer,
  Functions,
  Lack,
  RoomAnswer,
  VerifiedRoom,
} from './ports.ts';
import type { Proving } from './verify/proving.ts';
import { withoutOurPaths } from './withoutOurPaths.ts';

/** What looking needs: the shelf, the function host, and where to look. */
export interface Looking {
  readonly checks: () => Promise<ReadonlyMap<string, CheckImplementation>>;
  readonly functions: Pick<Functions, 'call'>;
  readonly workspace: string;
  /** Absolute path of the module with the run's functions; null when it has none. */
  readonly module: string | null;
  /** The workflow's own database, or the copy an attempt works on; null where it has none. */
  readonly database: string | null;
  /** Whether functions are to be held by a sandbox, also where the project does not ask for it. */
  readonly held?: boolean;
  /** The sandbox for what a check of a phase runs; undefined: it is run in none. */
  readonly enclose?: (phase: PhaseId) => Promise<Enclose | undefined>;
  /** Rooms of the engine's own, and receipts; absent where there is no run yet. */
  readonly proving?: Proving;
}

/** Functions are small questions; one that takes longer is taken to hang. */
const FUNCTION_TIMEOUT_MS = 30_000;
/** Longer than any check's own limit can be, so that it only ends what ignored its own. */
const CHECK_DEADLINE_MS = 3_700_000;

/** Signals that the code behind a run is not the code it was started with. */
export class CodeChanged extends Error {}

/** Looks at one thing. Never throws for what it finds: a check that throws, hangs or is unknown is a failure. */
export async function lookAt(look: Look, looking: Looking): Promise<Fact> {
  switch (look.kind) {
    case 'check':
      return { kind: 'check', result: await answerCheck(look, looking) };
    case 'handler':
      return { kind: 'handler', result: readHandler(await call(look.ref, look.subject, looking, true)) };
    case 'condition': {
      const answer = await call(look.ref, look.subject, looking);
      if (!answer.ok) return { kind: 'condition', result: { ok: false, reason: answer.reason } };
      if (typeof answer.value === 'boolean')
        return { kind: 'condition', result: { ok: true, value: answer.value } };
      return { kind: 'condition', result: { ok: false, reason: 'it returned neither true nor false' } };
    }
    case 'tree': {
      const reason = 'the workspace cannot be compared with what it was: nothing here measures it';
      return { kind: 'tree', result: { ok: false, code: 'tree_unknown', reason } };
    }
  }
}

type CheckLook = Extract<Look, { kind: 'check' }>;

async function answerCheck(look: CheckLook, looking: Looking): Promise<CheckResult> {
  const { check, subject } = look;
  if (check.use === 'function') {
    const answer = await call(String(check.with.ref), subject, looking);
    if (!answer.ok) {
      return {
        status: answer.kind === 'timed_out' ? 'timed_out' : 'errored',
        reason: answer.reason,
        class: 'claimed',
      };
    }
    // Anything but true is no yes.
    return { status: answer.value === true ? 'passed' : 'failed', reason: '', class: 'claimed' };
  }
  const implementation = (await looking.checks()).get(check.use);
  if (implementation === undefined) {
    return { status: 'errored', reason: `there is no check \`${check.use}\``, class: 'claimed' };
  }
  const none = { class: bestIn(implementation, null) };
  if (!isToVerify(check, implementation))
    return askCheck(look, looking, { implementation, room: null, kept: none });
  const asked = await roomFor(look, looking.proving).catch((error: unknown) => whyErrored(error));
  if (typeof asked === 'string')
    return { status: 'errored', reason: withoutOurPaths(asked, looking.workspace), ...none };
  if (!asked.ok) {
    const kept = { ...none, lack: lackOf(asked) };
    // Nothing is run that could not count: how it ends in the workspace would hide what is missing.
    return check.needs === 'verified'
      ? { status: 'failed', code: 'evidence_class_too_low', reason: whyTooLow(kept), ...kept }
      : askCheck(look, looking, { implementation, room: null, kept });
  }
  const { room } = asked;
  try {
    return await askCheck(look, looking, {
      implementation,
      room,
      kept: { class: bestIn(implementation, room) },
    });
  } finally {
    await room.close();
  }
}

/** A check of the shelf, and where it is asked. */
interface Asking {
  readonly implementation: CheckImplementation;
  readonly room: VerifiedRoom | null;
  /** What is known of the answer before it is given. */
  readonly kept: Pick<CheckResult, 'class' | 'lack'>;
}

async function askCheck(
  { check, subject }: CheckLook,
  looking: Looking,
  { implementation, room, kept }: Asking,
): Promise<CheckResult> {
  const signal = AbortSignal.timeout(CHECK_DEADLINE_MS);
  const { proving } = looking;
  const told = (text: string) => (room === null ? text : inTheTree(text, room.workspace));
  try {
    const enclose = room?.enclose ?? (await looking.enclose?.(subject.phase));
    const answer = await implementation.run({
      with: check.with,
      subject,
      workspace: room?.workspace ?? looking.workspace,
      signal,
      ...(enclose === undefined ? {} : { enclose }),
      ...(room === null ? {} : { room: { ...room, copyOf: looking.workspace } }),
      ...(proving === undefined ? {} : { record: proving.recordFor(subject.phase) }),
    });
    const { code, frozen } = answer;
    return {
      status: answer.passed === true ? 'passed' : 'failed',
      reason: told(answer.reason),
      ...kept,
      ...(await proving?.keep({ check, phase: subject.phase, answer, class: kept.class, room })),
      ...(code === undefined ? {} : { code }),
      ...(frozen === undefined ? {} : { frozen }),
    };
  } catch (error) {
    const timedOut = signal.aborted || (error instanceof Error && error.name === 'CheckTimeout');
    const reason = withoutOurPaths(told(whyErrored(error)), looking.workspace);
    return { status: timedOut ? 'timed_out' : 'errored', reason, ...kept };
  }
}

/** What runs a program is `verified` in a room of the engine's own; in the workspace an agent can have a hand in it. */
function bestIn(
  { class: best, verifiable }: CheckImplementation,
  room: VerifiedRoom | null,
): CheckResult['class'] {
  return verifiable === true && room === null && best === 'verified' ? 'observed' : best;
}

function isToVerify({ verify, needs }: Check, { verifiable }: CheckImplementation): boolean {
  return verifiable === true && (verify === true || needs === 'verified');
}

async function roomFor({ check, subject }: CheckLook, proving: Proving | undefined): Promise<RoomAnswer> {
  return proving === undefined ? { ok: false, ...NO_RUN } : proving.room(check, subject.phase);
}

const NO_RUN: Lack = {
  code: 'no_measure',
  reason: 'the run has not begun, so there is nothing to make a copy of',
  nextStep: 'ask for it in a phase, and not before the first',
};

function whyTooLow({
  class: evidence,
  lack,
}: {
  readonly class: CheckResult['class'];
  readonly lack: Lack;
}): string {
  return `needs verified evidence, and this would be ${evidence}: ${lack.reason}; ${lack.nextStep}`;
}

function lackOf({ code, reason, nextStep }: Lack): Lack {
  return { code, reason: `${reason} (\`${code}\`)`, nextStep };
}

/** The copy is where nobody has to know it. */
function inTheTree(text: string, folder: string): string {
  return text.replaceAll(`${folder}/`, '').replaceAll(folder, '.');
}

/** A check that met the file system says what it met, and not the system's own word for it. */
function whyErrored(error: unknown): string {
  const refused = systemReason(error);
  const path = own(error, 'path');
  if (refused === null) return reasonOf(error);
  return `${typeof path === 'string' ? `\`${path}\`` : 'a file'} cannot be used: ${refused.reason}`;
}

function readHandler(answer: FunctionAnswer): Extract<Fact, { kind: 'handler' }>['result'] {
  if (!answer.ok) return { ok: false, reason: answer.reason, timedOut: answer.kind === 'timed_out' };
  const value = answer.value as { readonly outcome?: unknown; readonly state?: unknown } | null;
  const outcome = value?.outcome;
  const known = outcome === 'ok' || outcome === 'fail' || outcome === 'skip' || outcome === 'iterate';
  const state = value?.state;
  if (!known || typeof state !== 'object' || state === null || Array.isArray(state)) {
    return { ok: false, reason: 'the handler returned no outcome and state', timedOut: false };
  }
  // A function's process can write what it likes to us, whatever the code on its side refuses.
  const unfit = jsonProblem(state);
  if (unfit !== null) return { ok: false, reason: `the state it returned ${unfit}`, timedOut: false };
  return { ok: true, outcome, state: state as Record<string, never> };
}

/** Only a handler may write to the database: a check that did would change what it is asked about. */
async function call(
  ref: string,
  subject: Subject,
  looking: Looking,
  writable = false,
): Promise<FunctionAnswer> {
  if (looking.module === null || subject.code === null) {
    return { ok: false, kind: 'unknown_function', reason: `there is no module for \`${ref}\`` };
  }
  const { runId, phase, target, attempt, known } = subject;
  const answer = await looking.functions.call({
    file: looking.module,
    code: subject.code,
    ref,
    context: { ...subject.scope, runId, phase, target, attempt },
    ...(known && { known }),
    timeoutMs: FUNCTION_TIMEOUT_MS,
    ...(looking.held === true ? { held: true } : {}),
    ...(looking.database === null ? {} : { database: { file: looking.database, writable } }),
  });
  if (!answer.ok && answer.kind === 'code_changed') throw new CodeChanged(answer.reason);
  if (!answer.ok && answer.kind === 'untrusted') {
    // Nothing was asked, so it is not a failed attempt of the one who handed in work.
    throw new PhasegateError('untrusted_workflow', `\`${ref}\` was not run: ${answer.reason}`, {
      hint: `phasegate trust ${shellWord(relative(looking.workspace, looking.module))}`,
    });
  }
  if (answer.ok) return answer;
  demandDatabase(ref, answer.reason, looking);
  return { ...answer, reason: withoutOurPaths(answer.reason, looking.workspace) };
}

/** A database that was never made is not a failed attempt of the one who handed in work: nothing was asked, and nothing counts. */
function demandDatabase(ref: string, reason: string, { database, workspace }: Looking): void {
  if (database === null || !/unable to open database/i.test(reason) || existsSync(database)) return;
  const file = relative(workspace, database);
  throw new PhasegateError('file_unreadable', `there is no database \`${file}\`, which \`${ref}\` reads`, {
    hint: 'make it: with `phasegate database migrate WORKFLOW` where the workflow has `migrations`, else by hand',
  });
}
