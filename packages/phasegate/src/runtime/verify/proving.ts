import {
  canonicalJson,
  type Fact,
  isJsonObject,
  type Json,
  own,
  type Phase,
  phaseById,
  type Run,
} from '@phasegate/core';
import { type CheckResult, type Command, TREE_LOOK } from '@phasegate/core/engine';
import type { Check, EvidenceClass, PhaseId } from '@phasegate/core/model';
import type { Masking } from '../masking.ts';
import type {
  CheckAnswer,
  Fence,
  Lack,
  RanProgram,
  Receipt,
  RoomAnswer,
  RunRecord,
  Seal,
  Store,
  VerifiedRoom,
  Verifying,
} from '../ports.ts';
import { makeReceipt } from '../receipts.ts';

/** What the engine needs to establish something itself, and to sign what it saw. */
export interface ProvingParts {
  readonly store: Pick<Store, 'note' | 'history'>;
  readonly seal: Pick<Seal, 'sign' | 'verifySignature'>;
  /** Gives rooms; absent where there are none. */
  readonly verifying?: Verifying;
  readonly measuring?: Pick<Fence, 'measure' | 'survey' | 'state'>;
  readonly masking?: Masking;
  /** SHA-256, hex. */
  hash(text: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
}

/** Runs checks of one run in rooms of the engine's own, and keeps receipts of what they ran. */
export interface Proving {
  /** A room for a check that is to be verified, or what is missing for one. */
  room(check: Check, phase: PhaseId): Promise<RoomAnswer>;
  /**
   * What a check of that phase may ask. A phase that is about to be entered sees what is handed in with this very command,
   * as it would be on record: it is made in the tree that is measured for it.
   */
  recordFor(phase: PhaseId): RunRecord;
  /** Signs and records what was run; what is known of the answer beside its reason. */
  keep(proven: Proven): Promise<Pick<CheckResult, 'receipt'>>;
}

/** A check that was answered. */
export interface Proven {
  readonly check: Check;
  readonly phase: PhaseId;
  readonly answer: CheckAnswer;
  readonly class: EvidenceClass;
  readonly room: VerifiedRoom | null;
}

/** For one command on a run; `facts` has the measure once it was taken. */
export function createProving(
  parts: ProvingParts,
  {
    run,
    facts,
    agent,
    item,
    command,
  }: {
    readonly run: Run;
    readonly command: Command;
    readonly facts: Readonly<Record<string, Fact>>;
    readonly agent: string;
    readonly item: RunRecord['item'];
  },
): Proving {
  const measured = () => {
    const fact = facts[TREE_LOOK];
    return fact?.kind === 'tree' && fact.result.ok ? fact.result : null;
  };
  let again: Promise<string> | undefined;
  const tree = async (): Promise<string | null> => {
    const known = measured()?.tree;
    if (known !== undefined) return known;
    if (parts.measuring === undefined) return null;
    // At a gate nothing is measured for the decision itself, and what is looked at again is what stands there now.
    again ??= parts.measuring.measure(run.id, run.work.tree);
    return again;
  };

  function receiptOf(ran: RanProgram, { check, phase, answer, class: evidence, room }: Proven): Receipt {
    const argv = [...ran.argv];
    const state = room?.state ?? measured()?.state ?? null;
    return makeReceipt(
      {
        id: `receipt-${parts.newId().replace(/^run-/, '')}`,
        run: run.id,
        phase,
        epoch: run.epoch,
        agent: item?.agent ?? agent,
        ...(item === null ? {} : { item: item.key }),
        tool: `check:${check.use}`,
        input_hash: parts.hash(canonicalJson({ argv, with: check.with })),
        output_hash: ran.outputHash,
        ok: answer.passed,
        exit_code: ran.exitCode,
        tree: state,
        argv: parts.masking?.mask(argv) ?? argv,
        ...(ran.program === null ? {} : { program: ran.program }),
        ...(ran.programHash === null ? {} : { program_hash: ran.programHash }),
        check: check.label,
        class: evidence,
        ...(room === null || room.dependencies === null ? {} : { dependencies: room.dependencies }),
        ...(ran.canary === undefined ? {} : { canary: ran.canary }),
        ...(ran.counts === undefined ? {} : { counts: ran.counts }),
        started_at: new Date(ran.startedAt).toISOString(),
        ended_at: new Date(ran.endedAt).toISOString(),
      },
      parts.seal,
    );
  }

  return {
    async room(check, id) {
      const phase = phaseById(run.workflow, id) as Phase;
      const found = await tree().catch(() => null);
      if (parts.verifying === undefined || found === null) return { ok: false, ...NO_MEASURE };
      return parts.verifying.room({ run: run.id, agent: item?.agent ?? agent, tree: found, phase, check });
    },

    async keep(proven) {
      const { check, answer, class: evidence, phase } = proven;
      const receipts = (answer.ran ?? []).map((ran) => receiptOf(ran, proven));
      const time = new Date(parts.now()).toISOString();
      const last = receipts.at(-1);
      if (last === undefined) return {};
      const before = receipts.slice(0, -1).map((receipt) => ({ ...receipt }) as unknown as Json);
      const data = {
        check: check.label,
        phase,
        ok: answer.passed,
        class: evidence,
        receipt: { ...last } as unknown as Json,
        // Such as the test that must fail.
        ...(before.length === 0 ? {} : { before }),
      };
      const draft = { time, principal: 'engine:phasegate', event: 'check_executed', data } as const;
      await parts.store.note(run.id, [draft]);
      return { receipt: last.id };
    },

    recordFor: (asked) => ({
      async changed() {
        const { tree: entered } = run.work;
        if (entered === undefined || parts.measuring === undefined) return null;
        const found = await parts.measuring.survey(run.id, entered);
        return found.ok ? found.changes.filter(({ how }) => how !== 'removed').map(({ path }) => path) : null;
      },
      completion(phase) {
        const found = run.completions.findLast((one) => one.phase === phase) ?? null;
        const now = asked === run.phase ? null : boundNow(run, command);
        if (now?.phase !== phase) return found;
        const { made: _, ...before } = found ?? {};
        const made = now.made ?? measured()?.state;
        return made === undefined ? before : { ...before, made };
      },
      madeIn(artifact) {
        const now = asked === run.phase ? null : boundNow(run, command);
        if (now?.types.includes(artifact) === true) return now.phase;
        return run.completions.findLast(({ evidence }) => Object.hasOwn(evidence, artifact))?.phase ?? null;
      },
      receipt: (id) => findReceipt(parts, run.id, id),
      get state() {
        return measured()?.state ?? null;
      },
      epoch: run.epoch,
      item,
    }),
  };
}

/**
 * What a command completes: the phase, which artifacts it hands in that are bound to the tree, and the tree they waited
 * with at a gate. Null where it completes nothing that is bound.
 */
function boundNow(run: Run, command: Command): BoundNow | null {
  const handed = handedIn(run, command);
  if (handed === null || run.phase === null) return null;
  const artifacts = phaseById(run.workflow, run.phase)?.evidence.artifacts ?? [];
  const types = artifacts.flatMap(({ type, bound }) =>
    bound === true && Object.hasOwn(handed.evidence, type) ? [type] : [],
  );
  return types.length === 0 ? null : { phase: run.phase, types, made: handed.made };
}

interface BoundNow {
  readonly phase: PhaseId;
  readonly types: readonly string[];
  readonly made: string | undefined;
}

function handedIn(run: Run, command: Command) {
  if (command.kind === 'complete' && command.item === undefined && command.phase === run.phase)
    return { evidence: command.evidence, made: undefined };
  if (command.kind !== 'decide' || run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  return { evidence: run.wait.evidence, made: run.wait.made };
}

/** The receipt of that id in a run's chain, if it was signed by this project. */
async function findReceipt(
  { store, seal }: Pick<ProvingParts, 'store' | 'seal'>,
  runId: string,
  id: string,
): Promise<Receipt | null> {
  for (const receipt of await receiptsIn(store, runId)) {
    // One of another run is none, wherever somebody had it written down.
    if (receipt.id === id && receipt.run === runId) return isSigned(receipt, seal) ? receipt : null;
  }
  return null;
}

/** Every receipt of a run's chain, oldest first, signed or not. */
export async function receiptsIn(store: Pick<Store, 'history'>, runId: string): Promise<readonly Receipt[]> {
  const found: Receipt[] = [];
  for (let after = 0; ; ) {
    const records = await store.history(runId, { after, limit: PAGE });
    for (const { data, seq } of records) {
      after = seq;
      const before = isJsonObject(data) ? own(data, 'before') : undefined;
      for (const receipt of [...(Array.isArray(before) ? before : []), own(data, 'receipt')])
        if (isJsonObject(receipt) && typeof own(receipt, 'signature') === 'string')
          found.push(receipt as unknown as Receipt);
    }
    if (records.length < PAGE) return found;
  }
}

const PAGE = 500;

/** Whether this project signed a receipt as it stands. */
export function isSigned(receipt: Receipt, seal: Pick<Seal, 'verifySignature'>): boolean {
  const { signature, ...record } = receipt;
  try {
    return seal.verifySignature(canonicalJson(record as unknown as Json), signature);
  } catch {
    return false;
  }
}

const NO_MEASURE: Lack = {
  code: 'no_measure',
  reason: 'there is no measure of the workspace to make a copy from',
  nextStep: 'complete the phase in the folder of the project',
};
