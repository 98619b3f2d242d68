import { randomBytes } from 'node:crypto';
import { type JsonObject, own } from '@phasegate/core';
import { holdersOfMost } from '../../limits/holdersOfMost.ts';
import type { SignInRows, UnlockedHuman } from '../../runtime/ports.ts';
import type { HumanSession, RestParts } from './parts.ts';
import { newPlace } from './place.ts';
import { digest, type Entry, entryOf, publicId, rowOf } from './sessionEntry.ts';

/** The cookie a browser keeps its session in. */
export const SESSION_COOKIE = 'phasegate_session';
/** What a session's secret starts with where programs send it as a bearer. */
export const SESSION_PREFIX = 'pgs_';
/** Longest life of a session in seconds, whatever it is used for. */
export const SESSION_SECONDS = 7 * 24 * 3600;

/**
 * The humans signed in. One server has them in memory: a restart signs everybody out. Nodes of one store have them
 * there, by hashes of secrets alone, and each asks again for every request.
 */
export interface Sessions {
  /** A code that signs in once, within ten minutes; for the operator's terminal. */
  newCode(human: UnlockedHuman | null): Promise<string>;
  /** Spends a code. Null for one that is unknown, spent, too old, or of before the humans or that passphrase. */
  redeem(code: string, carrier: Carrier): Promise<Opened | null>;
  /** For anyone who showed the passphrase. Null where it was changed meanwhile, or its human was removed. */
  open(human: UnlockedHuman, carrier: Carrier): Promise<Opened | null>;
  /** Whose session this is; using it keeps it alive. */
  find(shown: ShownSession): Promise<HumanSession | null>;
  /**
   * Whose session this was when it was found last; null where it never was. Nothing is asked of the store, and nothing may
   * be allowed by it: it says in whose line to wait.
   */
  holderOf(shown: ShownSession): string | null;
  /** Whether a session stands, without using it. */
  stands(shown: ShownSession): Promise<boolean>;
  /** Gives the one that was ended; null where there was none. */
  end(shown: ShownSession): Promise<ListedSession | null>;
  /** Every session that stands, the newest first; without anything one could sign in by. */
  list(): Promise<readonly ListedSession[]>;
  /** Ends one by its id and gives it; null where there is none. */
  revoke(id: string): Promise<ListedSession | null>;
}

/** A session as those who look after it see it. */
export interface ListedSession {
  readonly id: string;
  readonly name: string;
  readonly carrier: Carrier;
  readonly madeAt: string;
  readonly usedAt: string;
  readonly expiresAt: string;
}

/** How a session is carried: by a browser, which sends it by itself, or by a program, which has to mean it. */
export type Carrier = 'cookie' | 'bearer';

/** What a request shows of a session. */
export interface ShownSession {
  /** One of these must be it: others can put cookies of the same name beside ours. */
  readonly secrets: readonly string[];
  /** The path it came by; null for a bearer. */
  readonly place: string | null;
}

/** A session that was just made, with the secret that is shown this once. */
export interface Opened {
  readonly secret: string;
  /** Of its cookie; null for a bearer. */
  readonly place: string | null;
  readonly session: HumanSession;
  /** One that was ended for it, as there were too many; null where there was room. */
  readonly crowdedOut: ListedSession | null;
}

/** The sessions of a project, in these rows. */
export function createSessions(
  { project, signIns }: Pick<RestParts, 'project' | 'signIns'>,
  rows: SignInRows,
): Sessions {
  const { now } = rows;
  const underWay = new Set<string>();
  const holders = new Map<string, string>();
  const expiry = ({ used, made }: Entry) => Math.min(used + SLIDING, made + SESSION_SECONDS * 1000);
  const view = (entry: Entry, human: UnlockedHuman | null): HumanSession => ({
    id: publicId(entry.key),
    name: entry.name ?? OPERATOR,
    human,
    operator: entry.name === null,
    asksPassphrase: entry.place !== null || (entry.name !== null && human === null),
    expiresAt: new Date(expiry(entry)).toISOString(),
  });

  const listed = (entry: Entry): ListedSession => ({
    id: publicId(entry.key),
    name: entry.name ?? OPERATOR,
    carrier: entry.place === null ? 'bearer' : 'cookie',
    madeAt: new Date(entry.made).toISOString(),
    usedAt: new Date(entry.used).toISOString(),
    expiresAt: new Date(expiry(entry)).toISOString(),
  });

  /**
   * Since when that human is one with that passphrase: a removed one who came back is somebody else, and a passphrase
   * is changed to end what was opened with the old one. Undefined where there is none.
   */
  async function sinces(): Promise<(name: string | null) => string | undefined> {
    const humans = await project.humans.list();
    // The operator is nobody once humans are set up.
    return (name) => {
      if (name === null) return humans.length === 0 ? '' : undefined;
      const found = humans.find((human) => human.name === name);
      return found === undefined ? undefined : sinceIn(found);
    };
  }

  /** INVARIANT: humans are asked for after the rows were read: who they were before says nothing about those. */
  async function goodOf(read: readonly Entry[]): Promise<readonly Entry[]> {
    const since = await sinces();
    return read.filter((entry) => now() < expiry(entry) && since(entry.name) === entry.since);
  }

  /** The human who signs by a session. */
  function signer({ key, name, sealed }: Entry, secret: string): UnlockedHuman | null {
    return name === null || sealed === null ? null : signIns.unseal(name, sealed, { secret, bound: key });
  }

  /** Remembered by its hash; of those that are too many, the one that was opened first is forgotten. */
  function remember({ key, name }: Entry): void {
    holders.set(key, name ?? OPERATOR);
    if (holders.size > MOST_REMEMBERED) holders.delete(holders.keys().next().value ?? '');
  }

  function forget({ secrets }: ShownSession): void {
    for (const secret of secrets.slice(0, MOST_SHOWN)) holders.delete(digest(secret));
  }

  async function shownEntry({ secrets, place }: ShownSession): Promise<Shown | null> {
    for (const secret of secrets.slice(0, MOST_SHOWN)) {
      const key = digest(secret);
      const data = await rows.get('session', key);
      const entry = data === null ? null : entryOf(key, data);
      if (data === null || entry === null) continue;
      // The secret of a cookie opens nothing as a bearer, nor by another path than its own.
      if (entry.place === (place === null ? null : digest(place))) return { entry, data, secret };
    }
    return null;
  }

  async function standing(shown: ShownSession): Promise<Shown | null> {
    const found = await shownEntry(shown);
    if (found === null || (await goodOf([found.entry])).length === 1) return found;
    beside(found.entry, () => drop(found.entry));
    return null;
  }

  /**
   * Does what no answer depends on: a database that is read-only or full for now still shows things to who is signed in,
   * and a session that is over is over whether its row could be dropped or not.
   */
  function beside({ key }: Entry, work: () => Promise<unknown>): void {
    if (underWay.has(key)) return;
    underWay.add(key);
    // A store that is away is told by those who need it; what was left undone here is done by a later request.
    void work()
      .catch(() => undefined)
      .finally(() => underWay.delete(key));
  }

  async function open(human: Opening, carrier: Carrier): Promise<Opened | null> {
    const { since } = human;
    // What was judged takes a while: by a passphrase that was changed meanwhile nobody gets in.
    if (since === null || (await sinces())(human.name) !== since) return null;
    const prefix = carrier === 'bearer' ? SESSION_PREFIX : COOKIE_PREFIX;
    const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
    const place = carrier === 'bearer' ? null : newPlace();
    const key = digest(secret);
    const entry: Entry = {
      key,
      place: place === null ? null : digest(place),
      name: human.name,
      sealed: human.signing?.sealedKey?.({ secret, bound: key }) ?? null,
      since,
      made: now(),
      used: now(),
    };
    if (!(await rows.put('session', rowOf(entry), null))) throw new TypeError('a secret was drawn twice');
    remember(entry);
    return { secret, place, session: view(entry, human.signing), crowdedOut: await makeRoom() };
  }

  /** Drops what is over; where there are too many then, ends one and gives it. */
  async function makeRoom(): Promise<ListedSession | null> {
    for (;;) {
      // Before the sessions: what is spent of one that comes after them is not in it.
      const spent = await rows.all('challenges');
      const all = await rows.all('session');
      const good = await goodOf(all.flatMap(({ key, data }) => entryOf(key, data) ?? []));
      const keys = new Set(good.map(({ key }) => key));
      for (const { key } of all) if (!keys.has(key)) await rows.drop('session', key);
      const ids = new Set([...keys].map(publicId));
      for (const { key } of spent) if (!ids.has(key)) await rows.drop('challenges', key);
      if (good.length <= MOST_SESSIONS) return null;
      const ended = await drop(leastUsed(good));
      // Another node may have ended the same one, for a session of its own.
      if (ended !== null) return ended;
    }
  }

  async function drop(entry: Entry | undefined): Promise<ListedSession | null> {
    if (entry === undefined || !(await rows.drop('session', entry.key))) return null;
    await rows.drop('challenges', publicId(entry.key));
    return listed(entry);
  }

  /** The newest first. */
  async function entries(): Promise<readonly Entry[]> {
    const found = (await rows.all('session')).flatMap(({ key, data }) => entryOf(key, data) ?? []);
    return found.toReversed().toSorted((a, b) => b.made - a.made);
  }

  /** Drops links that are over, and the oldest where there are too many. */
  async function makeRoomForCode(): Promise<void> {
    const codes = (await rows.all('code')).map(({ key, data }) => ({ key, until: untilOf(data) }));
    const [old, good] = [
      codes.filter(({ until }) => now() >= until),
      codes.filter(({ until }) => now() < until),
    ];
    const crowding = good.toSorted((a, b) => b.until - a.until).slice(MOST_CODES);
    for (const { key } of [...old, ...crowding]) await rows.drop('code', key);
  }

  return {
    async newCode(human) {
      const code = randomBytes(32).toString('base64url');
      const data = { name: human?.principal.name ?? null, since: sinceOf(human), until: now() + CODE_LIFE };
      await rows.put('code', { key: digest(code), data }, null);
      await makeRoomForCode();
      return code;
    },
    async redeem(code, carrier) {
      const key = digest(code);
      const data = await rows.get('code', key);
      // The one who drops it has it: two requests with one code, at whatever nodes, must not both get in.
      if (data === null || !(await rows.drop('code', key))) return null;
      const [name, since] = [own(data, 'name'), own(data, 'since')];
      if (now() >= untilOf(data) || (name !== null && typeof name !== 'string')) return null;
      if (typeof since !== 'string') return null;
      // A link passes through terminals, logs and histories: it lets its human look, and no key goes with it.
      return open({ name, since, signing: null }, carrier);
    },
    open(human, carrier) {
      const signing = carrier === 'bearer' ? human : null;
      return open({ name: human.principal.name, since: sinceOf(human), signing }, carrier);
    },
    async find(shown) {
      const found = await standing(shown);
      if (found === null) {
        forget(shown);
        return null;
      }
      remember(found.entry);
      const used = { ...found.entry, used: now() };
      if (used.used - found.entry.used >= rows.usedEvery) {
        // Where it was dropped meanwhile it stays dropped, and another use that was written is as good.
        beside(used, () => rows.put('session', rowOf(used), found.data));
      }
      return view(used, signer(found.entry, found.secret));
    },
    holderOf({ secrets }) {
      if (holders.size === 0) return null;
      for (const secret of secrets.slice(0, MOST_SHOWN)) {
        const name = holders.get(digest(secret));
        if (name !== undefined) return name;
      }
      return null;
    },
    stands: async (shown) => (await standing(shown)) !== null,
    end: async (shown) => drop((await shownEntry(shown))?.entry),
    list: async () => (await goodOf(await entries())).map(listed),
    revoke: async (id) => drop((await entries()).find(({ key }) => publicId(key) === id)),
  };
}

const OPERATOR = 'operator';
const COOKIE_PREFIX = 'pgc_';
const SLIDING = 12 * 3600 * 1000;
const CODE_LIFE = 10 * 60 * 1000;
const MOST_SESSIONS = 64;
const MOST_CODES = 16;
const MOST_SHOWN = 8;
/** Those of other nodes, and some that have ended. */
const MOST_REMEMBERED = 4 * MOST_SESSIONS;

interface Shown {
  readonly entry: Entry;
  /** As it was read. */
  readonly data: JsonObject;
  readonly secret: string;
}

interface Opening {
  /** Null for the operator. */
  readonly name: string | null;
  /** As it was when the passphrase was judged; null where none was. */
  readonly since: string | null;
  /** Who signs; null where each act brings the passphrase. */
  readonly signing: UnlockedHuman | null;
}

/** Since when who was unlocked is one with that passphrase; null where it was no passphrase. */
function sinceOf(human: UnlockedHuman | null): string | null {
  if (human === null) return '';
  return human.asOf === undefined ? null : sinceIn(human.asOf);
}

function sinceIn({ addedAt, changedAt }: NonNullable<UnlockedHuman['asOf']>): string {
  return `${addedAt} ${changedAt ?? ''}`;
}

/** What cannot be read is over. */
function untilOf(data: JsonObject): number {
  const until = own(data, 'until');
  return typeof until === 'number' ? until : 0;
}

/** Anyone who signs in again and again ends their own sessions, and nobody else's. */
function leastUsed(sessions: readonly Entry[]): Entry | undefined {
  const crowding = holdersOfMost(sessions.map(({ name }) => name ?? ''));
  let oldest: Entry | undefined;
  for (const entry of sessions) {
    if (!crowding.has(entry.name ?? '')) continue;
    if (oldest === undefined || entry.used < oldest.used) oldest = entry;
  }
  return oldest;
}
