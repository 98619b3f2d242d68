import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { holdersOfMost } from '../../limits/holdersOfMost.ts';
import type { UnlockedHuman } from '../../runtime/ports.ts';
import type { HumanSession, RestParts } from './parts.ts';
import { newPlace } from './place.ts';

/** The cookie a browser keeps its session in. */
export const SESSION_COOKIE = 'phasegate_session';
/** What a session's secret starts with where programs send it as a bearer. */
export const SESSION_PREFIX = 'pgs_';
/** Longest life of a session in seconds, whatever it is used for. */
export const SESSION_SECONDS = 7 * 24 * 3600;

/** The humans signed in, in memory only: a restart signs everybody out, and no secret is on disk. */
export interface Sessions {
  /** A code that signs in once, within ten minutes; for the operator's terminal. */
  newCode(human: UnlockedHuman | null): string;
  /** Spends a code. Null for one that is unknown, spent, too old, or made before there were humans. */
  redeem(code: string, carrier: Carrier): Promise<Opened | null>;
  /** For anyone who showed the passphrase. Null for a human who was removed meanwhile. */
  open(human: UnlockedHuman, carrier: Carrier): Promise<Opened | null>;
  /** Whose session this is; using it keeps it alive. */
  find(shown: ShownSession): Promise<HumanSession | null>;
  /** Whether a session stands, without using it. */
  stands(shown: ShownSession): Promise<boolean>;
  /** Gives the one that was ended; null where there was none. */
  end(shown: ShownSession): ListedSession | null;
  /** Every session that stands, the newest first; without anything one could sign in by. */
  list(): Promise<readonly ListedSession[]>;
  /** Ends one by its id and gives it; null where there is none. */
  revoke(id: string): ListedSession | null;
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

/** The sessions of one server. */
export function createSessions(parts: Pick<RestParts, 'project' | 'now'>): Sessions {
  const { project, now } = parts;
  const sessions = new Map<string, Entry>();
  const codes = new Map<string, { readonly name: string | null; readonly until: number }>();

  const expiry = (entry: Entry) => Math.min(entry.used + SLIDING, entry.made + SESSION_SECONDS * 1000);
  const view = (entry: Entry): HumanSession => ({
    id: publicId(entry),
    name: entry.name ?? OPERATOR,
    human: entry.human,
    operator: entry.name === null,
    asksPassphrase: entry.place !== null || (entry.name !== null && entry.human === null),
    expiresAt: new Date(expiry(entry)).toISOString(),
  });

  const listed = (entry: Entry): ListedSession => ({
    id: publicId(entry),
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
  async function sinceOf(name: string | null): Promise<string | undefined> {
    const humans = await project.humans.list();
    // The operator is nobody once humans are set up.
    if (name === null) return humans.length === 0 ? '' : undefined;
    const found = humans.find((human) => human.name === name);
    return found === undefined ? undefined : `${found.addedAt} ${found.changedAt ?? ''}`;
  }

  function shownEntry({ secrets, place }: ShownSession): Entry | null {
    for (const secret of secrets.slice(0, MOST_SHOWN)) {
      const key = digest(secret);
      const entry = sessions.get(key);
      if (entry === undefined || !equal(key, entry.key)) continue;
      // The secret of a cookie opens nothing as a bearer, nor by another path than its own.
      if (entry.place === (place === null ? null : digest(place))) return entry;
    }
    return null;
  }

  async function standing(shown: ShownSession): Promise<Entry | null> {
    const entry = shownEntry(shown);
    if (entry === null) return null;
    if (now() < expiry(entry) && (await sinceOf(entry.name)) === entry.since) return entry;
    sessions.delete(entry.key);
    return null;
  }

  async function open(who: Pick<Entry, 'name' | 'human'>, carrier: Carrier): Promise<Opened | null> {
    const since = await sinceOf(who.name);
    if (since === undefined) return null;
    const prefix = carrier === 'bearer' ? SESSION_PREFIX : COOKIE_PREFIX;
    const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
    const place = carrier === 'bearer' ? null : newPlace();
    const entry: Entry = {
      ...who,
      key: digest(secret),
      place: place === null ? null : digest(place),
      since,
      made: now(),
      used: now(),
    };
    sessions.set(entry.key, entry);
    const crowdedOut = sessions.size > MOST_SESSIONS ? drop(sessions.get(leastUsed(sessions))) : null;
    return { secret, place, session: view(entry), crowdedOut };
  }

  function drop(entry: Entry | null | undefined): ListedSession | null {
    return entry != null && sessions.delete(entry.key) ? listed(entry) : null;
  }

  return {
    newCode(human) {
      const code = randomBytes(32).toString('base64url');
      codes.set(digest(code), { name: human?.principal.name ?? null, until: now() + CODE_LIFE });
      if (codes.size > MOST_CODES) codes.delete(codes.keys().next().value ?? '');
      return code;
    },
    async redeem(code, carrier) {
      const key = digest(code);
      const entry = codes.get(key);
      // Spent before anything is awaited: two requests with one code must not both get in.
      codes.delete(key);
      if (entry === undefined || now() >= entry.until) return null;
      // A link passes through terminals, logs and histories: it lets its human look, and no key goes with it.
      return open({ name: entry.name, human: null }, carrier);
    },
    open: (human, carrier) =>
      open({ name: human.principal.name, human: carrier === 'bearer' ? human : null }, carrier),
    async find(shown) {
      const entry = await standing(shown);
      if (entry === null) return null;
      entry.used = now();
      return view(entry);
    },
    stands: async (shown) => (await standing(shown)) !== null,
    end: (shown) => drop(shownEntry(shown)),
    async list() {
      const entries = [...sessions.values()].toReversed();
      const stand = await Promise.all(
        entries.map(async (entry) => now() < expiry(entry) && (await sinceOf(entry.name)) === entry.since),
      );
      return entries.filter((_, index) => stand[index]).map(listed);
    },
    revoke: (id) => drop([...sessions.values()].find((entry) => publicId(entry) === id)),
  };
}

const OPERATOR = 'operator';
const COOKIE_PREFIX = 'pgc_';
const SLIDING = 12 * 3600 * 1000;
const CODE_LIFE = 10 * 60 * 1000;
const MOST_SESSIONS = 64;
const MOST_CODES = 16;
const MOST_SHOWN = 8;

interface Entry {
  readonly key: string;
  /** Hash of the path of its cookie; null for a bearer. */
  readonly place: string | null;
  /** Null for the operator. */
  readonly name: string | null;
  /** Who signs; null where each act brings the passphrase. */
  readonly human: UnlockedHuman | null;
  readonly since: string;
  readonly made: number;
  used: number;
}

// Secrets are looked up and compared by their hash: how long that takes says nothing about the secret itself.
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What others may know a session by: a hash of its hash, which opens nothing. */
function publicId({ key }: Entry): string {
  return digest(`session ${key}`).slice(0, 16);
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Anyone who signs in again and again ends their own sessions, and nobody else's. */
function leastUsed(sessions: ReadonlyMap<string, Entry>): string {
  const crowding = holdersOfMost([...sessions.values()].map(({ name }) => name ?? ''));
  let oldest: Entry | undefined;
  for (const entry of sessions.values()) {
    if (!crowding.has(entry.name ?? '')) continue;
    if (oldest === undefined || entry.used < oldest.used) oldest = entry;
  }
  return oldest?.key ?? '';
}
