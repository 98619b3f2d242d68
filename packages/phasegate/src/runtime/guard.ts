import {
  guardOf,
  isJsonObject,
  type JsonObject,
  PhasegateError,
  phaseById,
  type Run,
  type Submitted,
  warningsOf,
} from '@phasegate/core';
import type {
  AuditDraft,
  GuardedChange,
  GuardedEntry,
  GuardedFiles,
  GuardedReading,
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
 * of this process; from then on, whoever works, what differs is put back until the process ends.
 */
export interface Guard {
  /** To be called before a program is run for a run. */
  hold(runId: string): Promise<void>;
  /** Puts back what is not as it was, on record; gives the paths. Nothing where no program was run yet. */
  settle(runId: string): Promise<readonly string[]>;
  /** Looks a last time where the run is not worked on any more. */
  release(runId: string): Promise<void>;
}

/**
 * Builds the guard. INVARIANT: the one reading serves all runs and outlives them: a program that was left behind may
 * change files at any time, and what it changed must never be read as what belongs there.
 */
export function createGuard(parts: GuardParts): Guard {
  const { files } = parts;
  let held: Held | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  /** The next comparison, as long as it has not begun: true when nothing was found. */
  let next: Promise<boolean> | null = null;

  /** One at a time: two that put back the same file would find each other's half. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const mine = turn.then(act, act);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function isWorkedOn(runId: string): Promise<boolean> {
    return parts.load(runId).then(
      ({ status }) => status === 'active',
      () => false,
    );
  }

  async function compare(runId: string): Promise<PutBack> {
    if (files === undefined || held === null) return NOTHING;
    const changes = changesOf(held, await files.read(held.tree.keys()));
    if (changes.length === 0) return NOTHING;
    // A check may be asked before there is a run.
    const run = await parts.load(runId).catch(() => null);
    const opened = (run === null ? undefined : phaseById(run.workflow, run.phase))?.writes ?? [];
    const found: GuardedChange[] = [];
    for (const change of changes) {
      const isOpen = opened.includes(change.path) && guardOf(change.path) === 'named';
      if (isOpen || (await isAccepted(change))) keep(change);
      else found.push(change);
    }
    if (found.length === 0) return NOTHING;
    const failed: string[] = [];
    for (const change of found) await files.putBack(change).catch(() => failed.push(change.path));
    const data: JsonObject = {
      files: found.map(({ path, after }) => ({ path, found: after?.digest ?? null })),
      ...(failed.length === 0 ? {} : { failed }),
    };
    const time = new Date(parts.now()).toISOString();
    const event = 'guarded_files_restored' as const;
    await parts.note(run?.id ?? null, [{ time, principal: 'engine:phasegate', event, data }]);
    return { paths: found.map(({ path }) => path), failed };
  }

  /** Nothing goes on where a file is not what it was. */
  async function demandSame(runId: string): Promise<readonly string[]> {
    const { paths, failed } = await compare(runId);
    if (failed.length > 0) throw notRestored(failed);
    return paths;
  }

  /**
   * Calls that come while another one's comparison waits for its turn share it, if it finds nothing. INVARIANT: none
   * shares a comparison that had begun before it came.
   */
  async function demandSameSoon(runId: string): Promise<readonly string[]> {
    if (next !== null && (await next)) return [];
    const mine = inTurn(() => {
      next = null;
      return demandSame(runId);
    });
    next = mine.then(
      (paths) => paths.length === 0,
      () => false,
    );
    return mine;
  }

  async function isAccepted({ path, after }: GuardedChange): Promise<boolean> {
    return after?.kind === 'file' && (await parts.accepted(path, after.digest));
  }

  function keep({ path, after }: GuardedChange): void {
    if (after === null) held?.tree.delete(path);
    else held?.tree.set(path, after);
  }

  return {
    hold: (runId) =>
      inTurn(async () => {
        if (files === undefined) return;
        if (held !== null) return void (await demandSame(runId));
        const { tree, beyond } = await files.read([]);
        held = { tree: new Map(tree), beyond: beyond.map((folder) => `${folder}/`) };
      }),
    settle: (runId) => (held === null ? Promise.resolve([]) : demandSameSoon(runId)),
    async release(runId) {
      if (held === null || (await isWorkedOn(runId))) return;
      // What could not be put back is on record, and stops the next who works; what was decided here is saved already.
      await inTurn(() => compare(runId));
    },
  };
}

/** The reading that everything is compared with. */
interface Held {
  readonly tree: Map<string, GuardedEntry>;
  /** How paths begin that it did not get to. */
  readonly beyond: readonly string[];
}

/** What became of files that were not as they were. */
interface PutBack {
  readonly paths: readonly string[];
  readonly failed: readonly string[];
}

const NOTHING: PutBack = { paths: [], failed: [] };

/** The result of a tool whose program changed the guard's own files. */
export function withRestored(result: ToolResult, paths: readonly string[]): ToolResult {
  if (paths.length === 0) return result;
  const message = restoredMessage(paths);
  const output = isJsonObject(result.output) ? result.output : { output: result.output };
  return { ...result, ok: false, output: { ...output, error: 'guarded_files', message } };
}

/** Refused or not, whoever handed in work is told what became of the files. */
export function withRestoredFiles(submitted: Submitted, restored: readonly string[]): Submitted {
  if (restored.length === 0) return submitted;
  const { verdict } = submitted;
  const warning = { code: 'scope_violation', message: restoredMessage(restored) } as const;
  const warnings = [...((verdict.allowed && verdict.warnings) || []), warning];
  return {
    verdict: verdict.allowed ? { ...verdict, warnings } : verdict,
    get view() {
      return submitted.view;
    },
    get answer() {
      return { ...submitted.answer, ...warningsOf(warnings) };
    },
  };
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

function changesOf(
  { tree: before, beyond }: Held,
  { tree: after }: GuardedReading,
): readonly GuardedChange[] {
  // Whether a file that is seen for the first time was there before is only known where somebody looked.
  const added = [...after.keys()].filter(
    (path) => !before.has(path) && !beyond.some((folder) => path.startsWith(folder)),
  );
  const paths = [...before.keys(), ...added].sort();
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
