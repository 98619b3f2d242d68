import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Command,
  type Decision,
  type Fact,
  type Look,
  type Phase,
  phaseById,
  type Run,
} from '@phasegate/core';
import {
  type FilesChanged,
  fewOfEach,
  foldPaths,
  type GateCardFacts,
  isGuardedIn,
  MOST_PATHS,
  mayWrite,
  type Recording,
  TREE_LOOK,
  type TreeChange,
  workspaceHold,
} from '@phasegate/core/engine';
import { guardOf, isInHome } from '@phasegate/core/model';
import type { AuditDraft, Fence, FenceChange, GuardedChange, Store } from '../ports.ts';
import { type AllowedCall, DRAFT, isWithin, keysOf, lookKey } from './allowedCall.ts';
import { type CallsInAudit, type CallsSince, createCallsInAudit } from './callsInAudit.ts';
import { diffAtGate } from './diffAtGate.ts';
import { heldIn, isBeside } from './heldIn.ts';
import { filesAtEnd } from './recordedFiles.ts';

/** What the runtime's fence is built from. */
export interface WorkspaceFenceParts {
  readonly fence: Fence;
  readonly store: Pick<Store, 'feedEnd' | 'feedSince' | 'load' | 'treesInUse'>;
  /** Whether a human has accepted exactly what stands in the place of one of the guard's own files. */
  accepted(change: GuardedChange): Promise<boolean>;
  /** Whether there is a human who can accept anything. */
  asksHuman(): Promise<boolean>;
}

/** Answers what the engine asks about the workspace. */
export interface WorkspaceFence {
  /** A measure for a command that may enter a phase, where no look gives one; nothing where none is needed. */
  measuredFor(run: Run, command: Command): Promise<{ readonly tree?: string }>;
  look(run: Run, look: Extract<Look, { kind: 'tree' }>): Promise<Extract<Fact, { kind: 'tree' }>>;
  /** Does what measures are taken for. They are kept by then, or go with it; other runs have no part in that. */
  during<T>(runId: string, work: () => Promise<T>): Promise<T>;
  /** Paths that changed while a command was looked at. */
  movedSince(run: Run, tree: string): Promise<readonly string[]>;
  /** What is not as it was when the gate opened at which a run waits. */
  movedAtGate(run: Run): Promise<NonNullable<GateCardFacts['movedSince']>>;
  /** What the phase changed until the gate opened at which a run waits; undefined where nothing was measured. */
  diffAtGate(run: Run): Promise<GateCardFacts['diff']>;
  /** The measure of a workspace in which a function of the workflow has worked since. */
  measureAgain(run: Run, tree: string): Promise<string>;
  /** For a run that is about to be made. */
  measure(runId: string): Promise<string>;
  /** What of these changes lies outside the phase's scope, with what the audit knows about it. */
  sortOut(run: Run, phase: Phase, changes: readonly FenceChange[]): Promise<Sorted>;
  /** For the chain of a run that leaves its phase: the contents that the phase ended with. */
  notesOf(before: Run, decision: DecidedFrom): Promise<readonly AuditDraft[]>;
  /**
   * Saves a run. INVARIANT: the measures that it is to have are on disk before; those that it does not have then are
   * dropped, whether it was saved or not.
   */
  around(saving: SavingRun): Promise<boolean>;
}

/** A decision with the facts it was made from. */
export interface DecidedFrom extends Pick<Decision, 'events'> {
  readonly recording: Pick<Recording, 'facts'>;
}

/** A run on its way to the store. */
export interface SavingRun {
  /** As it was; null where it is new. */
  readonly before: Run | null;
  readonly after: Run;
  /** Gives whether it was saved. */
  save(): Promise<boolean>;
}

/** So many changes are sorted before others get their turn: there may be as many as files. */
const AT_ONCE = 1000;
/** So many changes are told and recorded; the others are counted. */
const MOST_TOLD = 200;

/** Builds it over the fence of a workspace and the audit. */
export function createWorkspaceFence(parts: WorkspaceFenceParts): WorkspaceFence {
  const { fence, store } = parts;
  /** Made when it is first asked: few commands find something outside the scope. */
  let audit: CallsInAudit | undefined;
  const callsSince = (run: Run, changes: readonly FenceChange[]) => {
    audit ??= createCallsInAudit(store);
    return audit.since(run, changes);
  };
  /** How many commands of a run are under way. */
  const underWay = new Map<string, number>();
  /** What each run's looks found changed within the scope, by the measure that was taken for it. */
  const seen = new Map<string, Map<string, readonly FenceChange[]>>();

  return {
    async during(runId, work) {
      underWay.set(runId, (underWay.get(runId) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(runId) ?? 1) - 1;
        underWay.set(runId, left);
        if (left === 0) {
          underWay.delete(runId);
          seen.delete(runId);
          await fence.release(runId);
        }
      }
    },

    async measuredFor(run, command) {
      if (run.work.tree !== undefined || run.phase === null) return {};
      const begins = command.kind === 'claim' && run.status === 'queued';
      const leaves = ['complete', 'decide', 'override', 'expire'].includes(command.kind);
      return begins || leaves ? { tree: await fence.measure(run.id) } : {};
    },

    async look(run, { tree, phase: id }) {
      const compared = await fence.compare(run.id, tree);
      if (!compared.ok) {
        const reason = `${compared.reason}; a human looks at the workspace and takes a new measure with \`phasegate fence ${run.id} accept --all --reason TEXT\`, or, where several nodes serve the project, sets PHASEGATE_MEASURES as they have it`;
        return { kind: 'tree', result: { ok: false, code: 'tree_unknown', reason } };
      }
      const phase = phaseById(run.workflow, id) as Phase;
      const found = await sortOut(run, phase, compared.changes);
      const looks = seen.get(run.id) ?? new Map<string, readonly FenceChange[]>();
      seen.set(run.id, looks.set(compared.tree, inScope(phase, compared.changes, found)));
      const isLong = found.outside.length > MOST_TOLD;
      const outside = (isLong ? fewOfEach(found.outside) : found.outside).slice(0, MOST_TOLD);
      const more = found.outside.length - outside.length;
      const noticed = found.noticed.slice(0, MOST_TOLD);
      return {
        kind: 'tree',
        result: {
          ok: true,
          tree: compared.tree,
          outside,
          ...(more === 0 ? {} : { more }),
          ...(noticed.length === 0 ? {} : { noticed }),
          inside: insideOf(compared.changes, found),
          ...(compared.state === undefined ? {} : { state: compared.state }),
        },
      };
    },

    sortOut,
    async notesOf(before, { events, recording: { facts } }) {
      const left = events.find((event) => event.type === 'phase_completed');
      const [fact, phase] = [facts[TREE_LOOK], phaseById(before.workflow, before.phase)];
      if (left === undefined || phase === undefined || fact?.kind !== 'tree' || !fact.result.ok) return [];
      const found = seen.get(before.id)?.get(fact.result.tree) ?? (await changedSince(before, phase));
      return filesAtEnd(before, { phase, left, files: found });
    },

    async movedAtGate(run) {
      const tree = treeAtGate(run);
      if (tree === null) return [];
      const compared = await fence.survey(run.id, tree);
      if (!compared.ok) return [{ path: '.', how: 'unreadable', by: compared.reason, content: null }];
      const moved = compared.changes.filter(({ noticed }) => noticed !== true);
      return moved.slice(0, MOST_TOLD).map(({ path, how, content }) => ({ path, how, content }));
    },
    diffAtGate: (run) => diffAtGate(fence, run),
    async movedSince(run, tree) {
      const moved = (await fence.moved(run.id, tree)).filter(({ noticed }) => noticed !== true);
      if (moved.length === 0) return [];
      const isExcused = await excuses(run, await callsSince(run, moved));
      return moved.filter((change) => !isExcused(change)).map(({ path }) => path);
    },
    measureAgain: (run, tree) => fence.measure(run.id, tree),
    measure: (runId) => fence.measure(runId),
    async around({ before, after, save }) {
      const had = before === null ? [] : treesOf(before);
      const has = treesOf(after);
      const fresh = has.filter((tree) => !had.includes(tree));
      if (fresh.length > 0) await fence.keep(after.id, fresh);
      const isSaved = await save();
      await settle(after.id, isSaved ? { had, has } : { had: fresh, has: had });
      return isSaved;
    },
  };

  /** Where a function of the workflow has worked since the look. */
  async function changedSince(run: Run, phase: Phase): Promise<readonly FenceChange[]> {
    const compared = await fence.survey(run.id, run.work.tree as string);
    if (!compared.ok) return [];
    return inScope(phase, compared.changes, await sortOut(run, phase, compared.changes));
  }

  async function settle(runId: string, trees: Record<'had' | 'has', readonly string[]>): Promise<void> {
    if (trees.had.every((tree) => trees.has.includes(tree))) return;
    // What is left behind costs room and nothing else.
    await fence.settle(runId, { ...trees, inUse: () => store.treesInUse() }).catch(() => undefined);
  }

  async function sortOut(run: Run, phase: Phase, changes: readonly FenceChange[]): Promise<Sorted> {
    const outside: FenceChange[] = [];
    const noticed: FenceChange[] = [];
    const isGuarded = ({ path }: FenceChange) => guardOf(path) !== null || isInHome(path);
    const asksHuman = changes.some(isGuarded) && (await parts.asksHuman());
    const isLinkedOut = linkedOut(phase);
    for (const [index, change] of changes.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
      // Without a human nobody could accept the guard's own files as they are now: then it is on record (ADR 24).
      const isOnRecord = change.noticed === true || (!asksHuman && isLaw(change.path));
      if (isOnRecord) noticed.push(change);
      else if (isOutside(phase, change) && !(await isAccepted(change))) outside.push(change);
      else if (isLinkedOut(change)) outside.push({ ...change, how: 'linked' });
    }
    if (outside.length === 0) return { outside: [], noticed: noticed.map(toldOf) };
    const known = await callsSince(run, outside);
    const isExcused = await excuses(run, known);
    const left = outside.filter((change) => phaseHolds(phase, change) || !isExcused(change));
    const mine = byKey(known.calls.filter((call) => call.run === run.id));
    return {
      outside: left.map((change) => ({ ...toldOf(change), ...byOf(change, mine) })),
      noticed: noticed.map(toldOf),
    };
  }

  /** Whether another run answers for a change. */
  async function excuses(run: Run, known: CallsSince): Promise<(change: FenceChange) => boolean> {
    // One that may not write holds nothing, so others work beside it.
    if (workspaceHold(run)?.use === 'exclusive') return isDraftGone;
    const others = await callsOfOthers(run, known);
    const near = byKey(others);
    return (change) => isDraftGone(change) || near(lookKey(change.path)).some(wrote(change));
  }

  /** A file of the guard's own that a human accepted, by itself or with a workflow. */
  async function isAccepted({ path, content, mode, how }: FenceChange): Promise<boolean> {
    if (guardOf(path) === null) return false;
    const after =
      content === null || mode === null ? null : ({ kind: 'file', digest: content, mode } as const);
    if (after === null && how !== 'removed') return false;
    return parts.accepted({ path, before: null, after }).catch(() => false);
  }

  /**
   * What agents of other runs did since then. INVARIANT: an agent that holds this run, or held it in this phase, excuses
   * nothing with another one of its own: it would only have to start one with a wider scope, and to give this one back and
   * take it again. What it did elsewhere before it first took this one up counts, and after it let it go for good.
   */
  async function callsOfOthers(run: Run, { calls, handovers }: CallsSince): Promise<readonly AllowedCall[]> {
    const written = calls.filter((call) => call.run !== run.id && call.wrote.length > 0);
    const atWork = new Set<string>();
    for (const id of new Set(written.map((call) => call.run))) {
      const other = (await store.load(id))?.run;
      // The same path in another folder is another file.
      if (mayHaveWorked(other, run.work.enteredAt) && other?.folder === run.folder) atWork.add(id);
    }
    const heldBy = heldIn(run, handovers);
    return written.filter((call) => atWork.has(call.run) && isBeside(heldBy(call.principal), call));
  }
}

/** A run that nobody has begun has done nothing, and one that ended before cannot have since. */
function mayHaveWorked(run: Run | undefined, since: string): boolean {
  if (run === undefined) return false;
  if (run.status === 'queued') return run.epoch > 1;
  return isOpen(run.status) || run.updatedAt >= since;
}

/** Changes of a workspace as a phase's scope sorts them. */
export interface Sorted {
  readonly outside: readonly TreeChange[];
  readonly noticed: readonly TreeChange[];
}

function treeAtGate(run: Run): string | null {
  return run.status === 'waiting' && run.wait.for === 'gate' ? (run.wait.tree ?? null) : null;
}

/** The measures a run has; one that is over has none. */
function treesOf(run: Run): readonly string[] {
  if (run.phase === null) return [];
  const [tree, atGate] = [run.work.tree, treeAtGate(run)];
  return [...(tree === undefined ? [] : [tree]), ...(atGate === null || atGate === tree ? [] : [atGate])];
}

function isOpen(status: Run['status']): boolean {
  return status === 'active' || status === 'waiting' || status === 'escalated';
}

/** One of the guard's own files; a repository further down is nobody's law. */
function isLaw(path: string): boolean {
  return isInHome(path) || (guardOf(path) !== null && !/\/\.git(?:\/|$)/i.test(path));
}

function isOutside(phase: Phase, { path, how }: FenceChange): boolean {
  return how === 'unreadable' || isInHome(path) || !mayWrite(phase, path);
}

/** No other run may write the guard's own files either. */
function phaseHolds(phase: Phase, { path, how }: FenceChange): boolean {
  return how === 'linked' || how === 'unreadable' || isInHome(path) || isGuardedIn(phase, path);
}

/**
 * Inside the scope, and the same file as one that is not: what is written to it is written there. The names of a file are
 * asked about once, however many of them are among the changes.
 */
function linkedOut(phase: Phase): (change: FenceChange) => boolean {
  const known = new Map<NonNullable<FenceChange['names']>, readonly (string | null)[]>();
  return ({ path, names }) => {
    if (names === undefined) return false;
    const out = known.get(names) ?? names.filter((name) => name === null || !mayWrite(phase, name));
    known.set(names, out);
    return out.some((name) => name !== path);
  };
}

/** By the path it named, and at the time at which the file changed last. */
function wrote({ path, at }: FenceChange): (call: AllowedCall) => boolean {
  const isThere = (one: string) =>
    one === path ||
    (DRAFT.test(path) && one.slice(0, one.lastIndexOf('/')) === path.slice(0, path.lastIndexOf('/')));
  // What is gone has no time. What we carry out ourselves takes no file away.
  return (call) => call.wrote.some(isThere) && (at === null ? !call.carriedOut : isWithin(call, at));
}

/** It was there when the phase was entered, in the midst of somebody's call, and went to its place. */
function isDraftGone({ path, how }: FenceChange): boolean {
  return how === 'removed' && DRAFT.test(path);
}

/** What the phase itself may have changed: also what another run answers for is none of it. */
function inScope(
  phase: Phase,
  changes: readonly FenceChange[],
  { outside, noticed }: Sorted,
): readonly FenceChange[] {
  const elsewhere = new Set([...outside, ...noticed].map(({ path }) => path));
  return changes.filter(({ path }) => !elsewhere.has(path) && mayWrite(phase, path));
}

/** What is neither outside nor only noticed, for the human at a gate: every folder of it is named. */
function insideOf(changes: readonly FenceChange[], { outside, noticed }: Sorted): FilesChanged {
  const elsewhere = new Set([...outside, ...noticed].map(({ path }) => path));
  const inside = changes.filter(({ path }) => !elsewhere.has(path));
  const { paths, ...rest } = foldPaths(inside.map(({ path }) => path).sort(), MOST_PATHS);
  const told = new Set(paths);
  return { changes: inside.filter(({ path }) => told.has(path)).map(toldOf), ...rest };
}

function toldOf({ path, how }: FenceChange): TreeChange {
  return { path, how };
}

function byOf({ path, at }: FenceChange, calls: ReturnType<typeof byKey>): Pick<TreeChange, 'by'> {
  const call =
    calls(path).at(-1) ??
    (at === null ? undefined : calls(NOWHERE).findLast((one) => one.carriedOut && isWithin(one, at)));
  if (call === undefined) return {};
  const what = call.what === '' ? '' : ` \`${call.what}\``;
  return { by: `during \`${call.tool}\`${what}, record ${call.seq}` };
}

/** Calls by what they may have changed, as there may be many of both. */
function byKey(calls: readonly AllowedCall[]): (key: string) => readonly AllowedCall[] {
  const lists = new Map<string, AllowedCall[]>();
  for (const call of calls) {
    for (const key of call.wrote.length === 0 ? [NOWHERE] : keysOf(call.wrote)) {
      const list = lists.get(key) ?? [];
      list.push(call);
      lists.set(key, list);
    }
  }
  return (key) => lists.get(key) ?? [];
}

/** Where a call is found that does not say what it writes. */
const NOWHERE = '';
