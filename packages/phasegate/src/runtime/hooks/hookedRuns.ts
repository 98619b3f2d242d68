import { type JsonObject, own, type Run } from '@phasegate/core';
import { attachmentOf, holdsRing } from '@phasegate/core/model';
import { ENGINE } from '../engine.ts';
import type { HookClient, HookedRing, HookTool, Proofs, Store } from '../ports.ts';
import type { Runtime } from '../runtime.ts';
import type { Attended, Sessions } from './sessions.ts';

/** What the ring `hooked` is judged by. */
export interface HookedRingParts {
  readonly store: Pick<Store, 'keep' | 'kept' | 'keptAll' | 'dropKept'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly proofs: Proofs;
}

/** Whether a run needs sessions of clients whose hooks were proven: asked for, and not held closer than that anyway. */
export function needsHooks({ ring, workflow }: Run): boolean {
  return attachmentOf(workflow.enforcement.ring) === 'hooked' && attachmentOf(ring) !== 'sandboxed';
}

/** Builds it. INVARIANT: only what came through hooks, and a proof that stands now, makes a run's agent hooked. */
export function createHookedRing({ store, now, proofs }: HookedRingParts): HookedRing {
  const isHooked = async (key: string, cwd = '') => {
    const [client = '', session = ''] = key.split('/');
    return holdsRing(await proofs.ringOf(client as HookClient, { session, cwd }), 'hooked');
  };
  return {
    async takeStart(workflow) {
      const since = new Date(now() - ANNOUNCED_MS).toISOString();
      for (const { key, data } of await store.keptAll(ANNOUNCED)) {
        const words = own(data, 'words');
        if (String(own(data, 'at')) < since || !Array.isArray(words) || !words.includes(workflow)) continue;
        if (own(data, 'used') === true || !(await isHooked(key))) continue;
        const record = { kind: ANNOUNCED, key, data: { ...data, used: true } };
        if (await store.keep(record, { run: null, audit: [], was: data })) return true;
      }
      return false;
    },
    async problem(run, isAtWork) {
      if (!needsHooks(run)) return null;
      const enclosed = await store.kept(ENCLOSED, run.id);
      if (enclosed !== undefined && own(enclosed, 'agent') === run.holder) return null;
      const quietSince = new Date(now() - QUIET_MS).toISOString();
      const sessions = (await store.keptAll('session')).filter(
        ({ data }) =>
          own(data, 'run') === run.id &&
          own(data, 'ended') !== true &&
          String(own(data, 'last_at')) > quietSince,
      );
      if (sessions.length === 0) {
        return isAtWork ? tooLow(run, 'no session of a client that hooks hold works on it') : null;
      }
      for (const { key } of sessions)
        if (!(await isHooked(key, run.folder))) return tooLow(run, unproven(key.split('/')[0]));
      return null;
    },
    async enclosed(run, agent) {
      if (!needsHooks(run)) return;
      await store.keep({ kind: ENCLOSED, key: run.id, data: { agent } }, { run: null, audit: [] });
    },
  };
}

/** Tells that a session is about to start a run, for the one who starts it. Such words count once, and not for long. */
export async function announceStart(
  { store, now, hash }: Pick<HookedRingParts, 'store' | 'now'> & { hash(text: string): string },
  { key }: Attended,
  tool: HookTool,
): Promise<void> {
  const before = new Date(now() - ANNOUNCED_MS).toISOString();
  const all = (await store.keptAll(ANNOUNCED)).map(({ key: of, data }) => ({
    of,
    at: String(own(data, 'at')),
  }));
  // Of one session the newest alone, and of all: somebody could announce without end, and all are looked at.
  const newer = all.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const mine = newer.filter(({ of }) => of.startsWith(`${key}/`));
  const surplus = (of: typeof all, most: number) => of.slice(0, Math.max(0, of.length - most + 1));
  const old = newer.filter(({ at }) => at < before);
  for (const of of new Set(
    [...old, ...surplus(mine, MOST_ANNOUNCED), ...surplus(newer, MOST_OF_ALL)].map((one) => one.of),
  ))
    await store.dropKept(ANNOUNCED, of, true);
  const at = new Date(now()).toISOString();
  const id = hash(tool.callId ?? `${at} ${JSON.stringify(tool.input)}`);
  const data = { at, words: wordsOf(tool), used: false };
  await store.keep({ kind: ANNOUNCED, key: `${key}/${id}`, data }, { run: null, audit: [], was: null });
}

/** Builds what looks at the ring of a session with each of its events, and hands a run to a human that has too low a one. */
export function createRingHold(parts: {
  readonly store: Pick<Store, 'load'>;
  readonly runtime: Pick<Runtime, 'submit'>;
  readonly sessions: Pick<Sessions, 'remember'>;
  readonly proofs: Proofs;
}): (attended: Attended, afresh: boolean) => Promise<Attended> {
  return async (attended, afresh) => {
    const { run, data, event } = attended;
    if (run === null || run.status !== 'active' || !needsHooks(run)) return attended;
    const held = holdsRing(data.ring, 'hooked');
    if (held && !afresh) return attended;
    const { client, sessionId: session, cwd } = event;
    const ring = await parts.proofs.ringOf(client, { session, cwd });
    const now = ring === data.ring ? attended : await parts.sessions.remember(attended, { ring });
    if (holdsRing(ring, 'hooked')) return now;
    const message = tooLow(run, unproven(client));
    const command = { kind: 'escalate', reason: 'ring_too_low', message } as const;
    await parts.runtime.submit(run.id, command, { principal: ENGINE });
    return { ...now, run: (await parts.store.load(run.id))?.run ?? null };
  };
}

const ANNOUNCED = 'announced';
const ENCLOSED = 'enclosed';
/** Of one session at a time. */
const MOST_ANNOUNCED = 20;
const MOST_OF_ALL = 500;
/** From the hook of a call that starts a run to that start: the client may ask its human in between. */
const ANNOUNCED_MS = 5 * 60_000;
/** A session that was not heard of for so long is looked at when it is heard of again. */
const QUIET_MS = 30 * 60_000;

function unproven(client = ''): string {
  return `no proof holds for \`${client}\` and its settings as they are now`;
}

function tooLow({ id, workflow }: Run, why: string): string {
  return `its workflow asks for the ring \`${workflow.enforcement.ring}\`, and ${why}; a human runs \`phasegate doctor --prove\` and then \`phasegate resume ${id}\``;
}

/** Every word of a call that may name a workflow. */
function wordsOf({ input }: HookTool): readonly string[] {
  const texts = Object.values(input as JsonObject).filter((value) => typeof value === 'string');
  const words = texts.flatMap((text) => [text, ...text.split(/[\s'"]+/)]);
  return [...new Set(words.filter((word) => word !== '' && word.length <= 200))].slice(0, 200);
}
