import { guardOf, isJsonObject, type JsonObject, PhasegateError, phaseById, type Run } from '@phasegate/core';
import type {
  AuditDraft,
  GuardedChange,
  GuardedEntry,
  GuardedFiles,
  GuardedTree,
  ToolResult,
} from './ports.ts';

/** What the guard is built from. */
export interface GuardParts {
  /** Absent where no programs are run, or there are no files to guard. */
  readonly files?: GuardedFiles | undefined;
  load(runId: string): Promise<Run>;
  /** Whether a human has accepted exactly this content of a file since. */
  accepted(path: string, digest: string): Promise<boolean>;
  note(runId: string | null, drafts: readonly AuditDraft[]): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Keeps the guard's own files what they are while programs are run for agents. They are read before the first program
 * of a run and compared after each, before the next call and when a phase is completed; what differs is put back.
 */
export interface Guard {
  /** To be called before a program is run for a run. */
  hold(runId: string): Promise<void>;
  /** Puts back what is not as it was, on record; gives the paths. Nothing where no program was run for the run. */
  settle(runId: string): Promise<readonly string[]>;
  /** Lets go of the files where the run is not worked on any more. */
  release(runId: string): Promise<void>;
}

/** Builds the guard. One reading serves all runs: one that began in the middle of another's program would keep what that changed. */
export function createGuard(parts: GuardParts): Guard {
  const { files } = parts;
  const holders = new Set<string>();
  let held: Map<string, GuardedEntry> | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time: two that put back the same file would find each other's half. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const mine = turn.then(act, act);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function forget(runId: string): Promise<void> {
    holders.delete(runId);
    // Runs that were lost, stopped or handed to a human let go without a word.
    for (const other of holders) if (!(await isWorkedOn(other))) holders.delete(other);
    if (holders.size === 0) held = null;
  }

  async function isWorkedOn(runId: string): Promise<boolean> {
    return parts.load(runId).then(
      ({ status }) => status === 'active',
      () => false,
    );
  }

  async function compare(runId: string): Promise<readonly string[]> {
    if (files === undefined || held === null || !holders.has(runId)) return [];
    // A check may be asked before there is a run.
    const run = await parts.load(runId).catch(() => null);
    const opened = (run === null ? undefined : phaseById(run.workflow, run.phase))?.writes ?? [];
    const found: GuardedChange[] = [];
    for (const change of changesOf(held, await files.read())) {
      const isOpen = opened.includes(change.path) && guardOf(change.path) === 'named';
      if (isOpen || (await isAccepted(change))) keep(change);
      else found.push(change);
    }
    if (found.length === 0) return [];
    const failed: string[] = [];
    for (const change of found) await files.putBack(change).catch(() => failed.push(change.path));
    const paths = found.map(({ path }) => path);
    const data: JsonObject = {
      files: found.map(({ path, after }) => ({ path, found: after?.digest ?? null })),
      ...(failed.length === 0 ? {} : { failed }),
    };
    const time = new Date(parts.now()).toISOString();
    const event = 'guarded_files_restored' as const;
    await parts.note(run?.id ?? null, [{ time, principal: 'engine:phasegate', event, data }]);
    if (failed.length > 0) throw notRestored(failed);
    return paths;
  }

  async function isAccepted({ path, after }: GuardedChange): Promise<boolean> {
    return after?.kind === 'file' && (await parts.accepted(path, after.digest));
  }

  function keep({ path, after }: GuardedChange): void {
    if (after === null) held?.delete(path);
    else held?.set(path, after);
  }

  return {
    hold: (runId) =>
      inTurn(async () => {
        if (files === undefined) return;
        if (held !== null && !holders.has(runId)) await forget(runId);
        held ??= new Map(await files.read());
        holders.add(runId);
      }),
    settle: (runId) => (holders.has(runId) ? inTurn(() => compare(runId)) : Promise.resolve([])),
    async release(runId) {
      if (!holders.has(runId) || (await isWorkedOn(runId))) return;
      await inTurn(() => forget(runId));
    },
  };
}

/** The result of a tool whose program changed the guard's own files. */
export function withRestored(result: ToolResult, paths: readonly string[]): ToolResult {
  if (paths.length === 0) return result;
  const message = restoredMessage(paths);
  const output = isJsonObject(result.output) ? result.output : { output: result.output };
  return { ...result, ok: false, output: { ...output, error: 'guarded_files', message } };
}

/** What is told of files that were put back. */
export function restoredMessage(paths: readonly string[]): string {
  const named = paths.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  const were =
    paths.length === 1 ? 'is one of the guard’s own files and was' : 'are the guard’s own files and were';
  return `${named.join(', ')}${more} ${were} put back as before; leave such files alone`;
}

const MOST_NAMED = 10;

function changesOf(before: GuardedTree, after: GuardedTree): readonly GuardedChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const changes = paths.flatMap((path): readonly GuardedChange[] => {
    const [was, is] = [before.get(path) ?? null, after.get(path) ?? null];
    return was?.kind === is?.kind && was?.digest === is?.digest ? [] : [{ path, before: was, after: is }];
  });
  // What was added goes first: it may stand where something belongs.
  return [
    ...changes.filter(({ before: was }) => was === null),
    ...changes.filter(({ before: was }) => was !== null),
  ];
}

function notRestored(paths: readonly string[]): PhasegateError {
  const named = paths.map((path) => `\`${path}\``).join(', ');
  return new PhasegateError('guarded_changed', `${named} changed and could not be put back`, {
    hint: 'a human puts them back and looks at `phasegate audit show`',
  });
}
