import {
  isJsonObject,
  type JsonObject,
  PhasegateError,
  type Principal,
  phaseById,
  type Run,
  type Submitted,
} from '@phasegate/core';
import { guardOf } from '@phasegate/core/model';
import type { AuditDraft, GuardedChange, GuardedFiles, GuardedMeasure, ToolResult } from '../ports.ts';
import { toldAs } from '../toldAs.ts';
import { guardedChanges, measureOf, withAccepted } from './guardedChanges.ts';

/** What the guard is built from. */
export interface GuardParts {
  /** Absent where no programs are run, or there are no files to guard. */
  readonly files?: GuardedFiles | undefined;
  load(runId: string): Promise<Run>;
  /** Whether a human has accepted exactly what stands in a file's place now. */
  accepted(change: GuardedChange): Promise<boolean>;
  /** Whether there is a human who can be asked. */
  asksHuman(): Promise<boolean>;
  note(runId: string | null, drafts: readonly AuditDraft[]): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Keeps the guard's own files what they are while programs are run for agents. They are read before the first program
 * of this process, and must then be what the process before left; from then on, no matter who works, what differs is put back
 * until the process ends.
 */
export interface Guard {
  /** Keeps what stands there now as the measure of the next process, where none is kept yet. */
  keepFirst(): Promise<void>;
  /** To be called before a program is run for a run. */
  hold(runId: string): Promise<void>;
  /** Puts back what is not as it was, on record; gives the paths. Nothing where no program was run yet. */
  settle(runId: string): Promise<readonly string[]>;
  /** Looks a last time where the run is not worked on any more. A human does not wait for that. */
  release(runId: string, by: Principal): Promise<void>;
}

/**
 * Builds the guard. INVARIANT: the one reading serves all runs and outlives them: a program that was left behind may
 * change files at any time, and what it changed must never be read as what belongs there.
 */
export function createGuard(parts: GuardParts): Guard {
  const { files } = parts;
  let held: GuardedMeasure | null = null;
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

  async function compare(runId: string, again = false): Promise<PutBack> {
    if (files === undefined || held === null) return NOTHING;
    const changes = guardedChanges(held, await files.read(Object.keys(held.files)));
    if (changes.length === 0) return NOTHING;
    const { run, mayStay } = await rulesOf(runId);
    const { stay, found } = await sortOut(changes, mayStay);
    if (stay.length > 0) {
      held = withAccepted(held, stay);
      await files.keepMeasure(withAccepted((await files.measure()) ?? held, stay));
    }
    if (found.length === 0) return NOTHING;
    const failed: string[] = [];
    const putBack = (change: GuardedChange) =>
      files.putBack(change).catch(() => void failed.push(change.path));
    const changed = again ? found : outermost(found);
    // What was added is in nobody's way but that of what belongs there, so it goes together.
    const added = changed.filter(isAdded);
    for (let at = 0; at < added.length; at += AT_ONCE)
      await Promise.all(added.slice(at, at + AT_ONCE).map(putBack));
    for (const change of changed.filter((one) => !isAdded(one))) await putBack(change);
    const data: JsonObject = {
      ...foundOf(found),
      ...(failed.length === 0 ? {} : { failed: failed.slice(0, MOST_RECORDED) }),
    };
    await note(run?.id ?? null, 'guarded_files_restored', data);
    const paths = found.map(({ path }) => path);
    // What was moved aside as a whole may have taken files with it that belong there.
    const further = !again && found.some(isOther) ? await compare(runId, true) : NOTHING;
    return { paths: [...new Set([...paths, ...further.paths])], failed: [...failed, ...further.failed] };
  }

  /** Nothing goes on where a file is not what it was. */
  async function demandSame(comparing: Promise<PutBack>): Promise<readonly string[]> {
    const { paths, failed } = await comparing;
    if (failed.length > 0) throw notRestored(failed);
    return paths;
  }

  /**
   * A caller who comes while another one's comparison waits for its turn shares it, if it finds nothing: however many
   * programs one agent has, nobody waits for more than the comparison under way and the next. INVARIANT: none shares a
   * comparison that had begun before it came.
   */
  async function compareSoon(runId: string): Promise<PutBack> {
    if (next !== null && (await next)) return NOTHING;
    const mine = inTurn(() => {
      next = null;
      return compare(runId);
    });
    next = mine.then(
      ({ paths, failed }) => paths.length === 0 && failed.length === 0,
      () => false,
    );
    return mine;
  }

  /** What a run may leave in the place of guarded files: what its phase opens by the path, and what a human accepted. */
  async function rulesOf(runId: string) {
    // A check may be asked before there is a run.
    const run = await parts.load(runId).catch(() => null);
    const opened = (run === null ? undefined : phaseById(run.workflow, run.phase))?.writes ?? [];
    // INVARIANT: no question that cannot be answered, such as one about a config that was just broken, lets a change stay.
    const mayStay = async (change: GuardedChange) =>
      (opened.includes(change.path) && guardOf(change.path) === 'named') ||
      (await parts.accepted(change).catch(() => false));
    return { run, mayStay };
  }

  /**
   * The first reading of this process. With a human set up, what changed since the last process looked has to be
   * accepted: nobody knows who changed it. Without one it is taken as it is, on record.
   */
  async function begin(guarded: GuardedFiles, runId: string): Promise<GuardedMeasure> {
    const kept = await guarded.measure();
    const reading = await guarded.read(Object.keys(kept?.files ?? {}));
    const { run, mayStay } = await rulesOf(runId);
    const open: GuardedChange[] = [];
    for (const change of kept === null ? [] : guardedChanges(kept, reading)) {
      if (!(await mayStay(change))) open.push(change);
    }
    if (open.length > 0) {
      if (await parts.asksHuman()) {
        const refused = notAccepted(open.map(({ path }) => path));
        const blockers = [{ code: refused.code, message: refused.message }];
        await note(run?.id ?? null, 'command_refused', { command: 'run_program', blockers });
        throw refused;
      }
      await note(run?.id ?? null, 'guarded_files_changed', foundOf(open));
    }
    const measure = measureOf(reading);
    await guarded.keepMeasure(measure);
    return measure;
  }

  async function note(
    runId: string | null,
    event: 'command_refused' | 'guarded_files_changed' | 'guarded_files_restored',
    data: JsonObject,
  ): Promise<void> {
    const time = new Date(parts.now()).toISOString();
    await parts.note(runId, [{ time, principal: 'engine:phasegate', event, data }]);
  }

  return {
    keepFirst: () =>
      inTurn(async () => {
        if (files === undefined || (await files.measure()) !== null) return;
        await files.keepMeasure(measureOf(await files.read([])));
      }),
    async hold(runId) {
      if (files === undefined) return;
      if (held !== null) return void (await demandSame(compareSoon(runId)));
      await inTurn(async () => {
        if (held === null) held = await begin(files, runId);
        else await demandSame(compare(runId));
      });
    },
    settle: (runId) => (held === null ? Promise.resolve([]) : demandSame(compareSoon(runId))),
    async release(runId, by) {
      if (held === null || (await isWorkedOn(runId))) return;
      // What could not be put back is on record, and stops the next who works; what was decided here is saved already.
      const looked = compareSoon(runId);
      if (by.kind !== 'human') return void (await looked);
      // Their agents may have filled the workspace. The next one to work looks again, also where this look failed.
      looked.catch(() => undefined);
    },
  };
}

async function sortOut(
  changes: readonly GuardedChange[],
  mayStay: (change: GuardedChange) => Promise<boolean>,
): Promise<{ readonly stay: readonly GuardedChange[]; readonly found: readonly GuardedChange[] }> {
  const stay: GuardedChange[] = [];
  const found: GuardedChange[] = [];
  for (const change of changes) ((await mayStay(change)) ? stay : found).push(change);
  return { stay, found };
}

/** Without what lies in a place that is moved aside: it goes with that, and is looked at afterwards. */
function outermost(changes: readonly GuardedChange[]): readonly GuardedChange[] {
  const places = changes.filter(isOther).map(({ path }) => `${path}/`);
  return changes.filter(({ path }) => !places.some((place) => path.startsWith(place)));
}

/** Each may need a descriptor. */
const AT_ONCE = 200;

function isAdded(change: GuardedChange): boolean {
  return change.before === null && !isOther(change);
}

function isOther({ after }: GuardedChange): boolean {
  return after?.kind === 'other';
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

/** Refused or not, the one who handed in work is told what became of the files. */
export function withRestoredFiles(submitted: Submitted, restored: readonly string[]): Submitted {
  if (restored.length === 0) return submitted;
  const { verdict } = submitted;
  const warning = { code: 'scope_violation', message: restoredMessage(restored) } as const;
  const warnings = [...(verdict.warnings ?? []), warning];
  return toldAs(submitted, { ...verdict, warnings });
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

/** What stands in the audit of files that were found changed: a program can change any number of them. */
function foundOf(changes: readonly GuardedChange[]): JsonObject {
  const files = changes
    .slice(0, MOST_RECORDED)
    .map(({ path, after }) => ({ path, found: after?.digest ?? null }));
  return { files, ...(changes.length > files.length ? { more: changes.length - files.length } : {}) };
}

const MOST_RECORDED = 200;

function notAccepted(paths: readonly string[]): PhasegateError {
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  const named = paths.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
  const message = `${named.join(', ')}${more} changed while no process of Phasegate was looking, and no human has accepted it: no program is run`;
  return new PhasegateError('guarded_changed', message, {
    hint: 'a human looks at it and accepts it with `phasegate trust --guarded`, or puts it back',
  });
}

function notRestored(paths: readonly string[]): PhasegateError {
  const named = paths.slice(0, MOST_NAMED).map((path) => `\`${path}\``);
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  return new PhasegateError(
    'guarded_changed',
    `${named.join(', ')}${more} changed and could not be put back`,
    {
      hint: 'a human puts them back and looks at `phasegate audit tail --as NAME`',
    },
  );
}
