import { type JsonObject, own, type Run } from '@phasegate/core';
import { RINGS, type Ring } from '@phasegate/core/model';
import type { AuditDraft, HookEvent, Proofs, Store } from '../ports.ts';
import { type LookAtSettings, settingsAtStart } from './lookAtSettings.ts';

/** The sessions of clients, and the run each is bound to. */
export interface Sessions {
  /** The session of an event, bound to its run where there is one: given, kept, or the only one it can be. */
  attend(event: HookEvent): Promise<Attended>;
  /** Binds a session to a run it named or started itself. */
  bind(attended: Attended, runId: string, rule: BindingRule): Promise<Attended>;
  /** Keeps what is to be remembered of a session. */
  remember(attended: Attended, change: Partial<SessionData>): Promise<Attended>;
}

/** By which rule a session came to its run. */
export type BindingRule = 'environment' | 'named' | 'started' | 'only_run';

/** A session at one event. */
export interface Attended {
  readonly event: HookEvent;
  readonly key: string;
  readonly data: SessionData;
  /** Nobody heard of it before this event. */
  readonly isNew: boolean;
  /** What it is bound to, as it is now; null where that is nothing, has ended or is gone. */
  readonly run: Run | null;
}

/** What is kept of a session. */
export interface SessionData {
  readonly run: string | null;
  readonly ring: Ring;
  readonly first_at: string;
  readonly last_at: string;
  readonly ended: boolean;
  readonly transcript: string | null;
  /** How often it was told to go on since the run last moved, and the epoch of then. */
  readonly stops: number;
  readonly stops_epoch: number;
  /** When it was bound to its run. */
  readonly bound_at: string;
  /** How many calls its transcript held when it was last compared with the audit. */
  readonly written: number;
  /** What was wrong with the settings of its client when that was last looked at; null where none were written. */
  readonly settings: readonly string[] | null;
  /** Its conversation was summed up, and it was not told since where it stands. */
  readonly untold: boolean;
  /** What was found in its transcript after its run had ended; null where nothing was. */
  readonly found: string | null;
}

/** What sessions are built from. */
export interface SessionParts {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly proofs: Proofs;
  readonly look?: LookAtSettings | undefined;
  readonly places: SessionPlaces;
}

/** Where sessions can be. */
export interface SessionPlaces {
  /** The project's own folder. */
  readonly home: string;
  /** The workspace that holds a folder; null where it is another project's. */
  workspaceOf(path: string): string | null;
  /** The run a worktree was made for; null where it is for any. */
  madeFor?(workspace: string): string | null;
}

/** Builds it. Bindings are sealed and on the run's chain: a session cannot take another run by saying so. */
export function createSessions({ store, now, proofs, look, places }: SessionParts): Sessions {
  const time = () => new Date(now()).toISOString();

  async function load(key: string): Promise<SessionData | undefined> {
    const data = await store.kept(KIND, key);
    return data === undefined ? undefined : dataOf(data);
  }

  /** The run, where it goes on. One that was archived or never was is as one that ended. */
  async function unfinished(runId: string | null): Promise<Run | null> {
    const run = runId === null ? undefined : (await store.load(runId))?.run;
    return run === undefined || run.phase === null ? null : run;
  }

  async function keep(key: string, data: SessionData, audit: readonly AuditDraft[] = []): Promise<void> {
    const beside = { run: audit.length === 0 ? null : data.run, audit };
    await store.keep({ kind: KIND, key, data: { ...data } as unknown as JsonObject }, beside);
  }

  /** Sessions that were heard of lately, but for one. */
  async function liveBut(key: string): Promise<readonly SessionData[]> {
    const quietSince = new Date(now() - SILENT_MS).toISOString();
    const others = (await store.keptAll(KIND)).filter((one) => one.key !== key);
    return others.map(({ data }) => dataOf(data)).filter((one) => !one.ended && one.last_at > quietSince);
  }

  /**
   * Null where the run has as many as it may have at a time: anyone on this machine can announce sessions, and all of
   * them are looked at.
   */
  async function bindTo(
    attended: Omit<Attended, 'run'>,
    run: Run,
    rule: BindingRule,
  ): Promise<Attended | null> {
    const { event, key, isNew } = attended;
    const there = (await liveBut(key)).filter((one) => one.run === run.id);
    if (there.length >= MOST_AT_ONE_RUN) return null;
    const { client, sessionId: session, cwd } = event;
    const ring = await proofs.ringOf(client, { session, cwd });
    const data: SessionData = {
      ...attended.data,
      run: run.id,
      ring,
      stops: 0,
      found: null,
      last_at: time(),
      bound_at: time(),
      settings: await settingsAtStart(look, client, cwd),
    };
    const told = { client, session, rule, ring };
    await keep(key, data, [{ time: time(), principal: ENGINE_NAME, event: 'session_bound', data: told }]);
    return { event, key, data, isNew, run };
  }

  /**
   * The one active run of the workspace a session is in that no other session is at; a session that goes on with
   * another's work may take its run.
   */
  async function onlyRun({ client, sessionId, source = '', cwd }: HookEvent): Promise<Run | null> {
    const workspace = places.workspaceOf(cwd);
    if (workspace === null) return null;
    const made = places.madeFor?.(workspace) ?? null;
    if (made !== null) return beginning(await unfinished(made));
    const active = await store.list({ status: 'active', limit: MOST_ACTIVE });
    if (active.length === 0) return null;
    const live = await liveBut(`${client}/${sessionId}`);
    const taken = new Set(FOLLOWING.has(source) ? [] : live.map(({ run }) => run));
    let only: Run | null = null;
    for (const { run: id } of active.filter(({ run }) => !taken.has(run))) {
      const run = await unfinished(id);
      if (run === null || (run.folder ?? places.home) !== workspace) continue;
      if (only !== null) return null;
      only = run;
    }
    return only;
  }

  /** What is known of the session at this event, and what was kept of it before. */
  async function recall(event: HookEvent) {
    const key = `${event.client}/${event.sessionId}`;
    const kept = await load(key);
    // Also one that was there before its parent came to a run.
    const isChild = (kept?.run ?? null) === null && event.parent !== undefined;
    const parent = isChild ? await load(`${event.client}/${event.parent}`) : undefined;
    const { run, ring, settings } = parent ?? kept ?? UNBOUND;
    const data: SessionData = {
      ...(kept ?? { ...UNBOUND, first_at: time() }),
      run,
      ring,
      settings,
      last_at: time(),
      transcript: event.transcript ?? kept?.transcript ?? null,
      // Another file begins anew.
      ...(kept?.transcript === (event.transcript ?? kept?.transcript) ? {} : { written: 0 }),
      ended: event.event === 'session_end',
    };
    const isNew = kept === undefined;
    return { key, data, isNew, isDue: isNew || kept.run !== run || isDue(kept, data) };
  }

  return {
    async attend(event) {
      const { key, data, isNew, isDue } = await recall(event);
      const bare = { event, key, data, isNew };
      const bound = await unfinished(data.run);
      const given = event.run === undefined ? null : await unfinished(event.run);
      // Said at the start; in the midst of a session nobody is moved to another run by it.
      const isFree = bound === null || event.event === 'session_start';
      const isGiven = given !== null && given.id !== bound?.id && isFree;
      const byGiven = isGiven ? await bindTo(bare, given, 'environment') : null;
      if (byGiven !== null) return byGiven;
      const mayTake = bound === null && BINDING.has(event.event);
      const only = mayTake ? await onlyRun(event) : null;
      const byOnly = only === null ? null : await bindTo(bare, only, 'only_run');
      if (byOnly !== null) return byOnly;
      if (isDue) await keep(key, data);
      return { ...bare, run: bound };
    },
    async bind(attended, runId, rule) {
      if (attended.run?.id === runId) return attended;
      // Work under way is not left by naming another run.
      if (attended.run !== null && rule === 'named') return attended;
      const run = await unfinished(runId);
      return run === null ? attended : ((await bindTo(attended, run, rule)) ?? attended);
    },
    async remember(attended, change) {
      const data = { ...attended.data, ...change };
      await keep(attended.key, data);
      return { ...attended, data };
    },
  };
}

const KIND = 'session';
const ENGINE_NAME = 'engine:phasegate';
const MOST_ACTIVE = 100;
/** Of sessions at one run. */
const MOST_AT_ONE_RUN = 256;
/** A session that was not heard of for so long holds its run against no other. */
const SILENT_MS = 30 * 60_000;
/** How often it is kept that a session is alive. */
const HEARTBEAT_MS = 5_000;
/** Sessions that go on with the work of another. */
const FOLLOWING: ReadonlySet<string> = new Set(['resume', 'fork', 'compact', 'clear']);
/** Events of an agent that is about to work. */
const BINDING: ReadonlySet<HookEvent['event']> = new Set([
  'session_start',
  'prompt',
  'before_tool',
  'compacted',
]);

const UNBOUND: SessionData = {
  run: null,
  ring: 'served',
  first_at: '',
  last_at: '',
  ended: false,
  transcript: null,
  stops: 0,
  stops_epoch: 0,
  bound_at: '',
  written: 0,
  settings: null,
  untold: false,
  found: null,
};

/** A run that was begun; one in the queue is nobody's yet. */
function beginning(run: Run | null): Run | null {
  return run?.status === 'queued' ? null : run;
}

function isDue(kept: SessionData, data: SessionData): boolean {
  if (kept.ended !== data.ended || kept.transcript !== data.transcript) return true;
  return Math.abs(Date.parse(data.last_at) - Date.parse(kept.last_at)) >= HEARTBEAT_MS;
}

function dataOf(data: JsonObject): SessionData {
  const ring = RINGS.find((one) => one === own(data, 'ring')) ?? 'served';
  return { ...UNBOUND, ...(data as Partial<SessionData>), ring };
}
