import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UnlockedHuman } from '../../runtime/ports.ts';
import type { HumanSession, RestParts } from './parts.ts';

/** The cookie a browser keeps its session in. */
export const SESSION_COOKIE = 'phasegate_session';
/** What a session's secret starts with. */
export const SESSION_PREFIX = 'pgs_';
/** Longest life of a session in seconds, whatever it is used for. */
export const SESSION_SECONDS = 7 * 24 * 3600;

/** The humans signed in, in memory only: a restart signs everybody out, and no secret is on disk. */
export interface Sessions {
  /** A code that signs in once, within ten minutes; for the operator's terminal. */
  newCode(human: UnlockedHuman | null): string;
  /** Spends a code. Null for one that is unknown, spent, too old, or made before there were humans. */
  redeem(code: string): Promise<Opened | null>;
  open(human: UnlockedHuman | null): Opened;
  /** Whose secret this is; using it keeps the session alive. */
  find(secret: string): Promise<HumanSession | null>;
  /** Whether a session stands, without using it. */
  stands(secret: string): Promise<boolean>;
  end(secret: string): void;
}

/** A session that was just made, with the secret that is shown this once. */
export interface Opened {
  readonly secret: string;
  readonly session: HumanSession;
}

/** The sessions of one server. */
export function createSessions(parts: Pick<RestParts, 'project' | 'now'>): Sessions {
  const { project, now } = parts;
  const sessions = new Map<string, Entry>();
  const codes = new Map<string, { readonly human: UnlockedHuman | null; readonly until: number }>();

  const expiry = (entry: Entry) => Math.min(entry.used + SLIDING, entry.made + SESSION_SECONDS * 1000);
  const view = (entry: Entry): HumanSession => ({
    name: entry.human?.principal.name ?? OPERATOR,
    human: entry.human,
    expiresAt: new Date(expiry(entry)).toISOString(),
  });

  /** The operator is nobody once humans are set up, and a human who was removed signs nothing any more. */
  async function stillKnown(human: UnlockedHuman | null): Promise<boolean> {
    const humans = await project.humans.list();
    if (human === null) return humans.length === 0;
    return humans.some(({ name }) => name === human.principal.name);
  }

  async function standing(secret: string): Promise<Entry | null> {
    const key = digest(secret);
    const entry = sessions.get(key);
    if (entry === undefined || !equal(key, entry.key)) return null;
    if (now() < expiry(entry) && (await stillKnown(entry.human))) return entry;
    sessions.delete(key);
    return null;
  }

  function open(human: UnlockedHuman | null): Opened {
    const secret = `${SESSION_PREFIX}${randomBytes(32).toString('base64url')}`;
    const entry: Entry = { key: digest(secret), human, made: now(), used: now() };
    sessions.set(entry.key, entry);
    if (sessions.size > MOST_SESSIONS) sessions.delete(leastUsed(sessions));
    return { secret, session: view(entry) };
  }

  return {
    newCode(human) {
      const code = randomBytes(32).toString('base64url');
      codes.set(digest(code), { human, until: now() + CODE_LIFE });
      if (codes.size > MOST_CODES) codes.delete(codes.keys().next().value ?? '');
      return code;
    },
    async redeem(code) {
      const key = digest(code);
      const entry = codes.get(key);
      // Spent before anything is awaited: two requests with one code must not both get in.
      codes.delete(key);
      if (entry === undefined || now() >= entry.until || !(await stillKnown(entry.human))) return null;
      return open(entry.human);
    },
    open,
    async find(secret) {
      const entry = await standing(secret);
      if (entry === null) return null;
      entry.used = now();
      return view(entry);
    },
    stands: async (secret) => (await standing(secret)) !== null,
    end(secret) {
      sessions.delete(digest(secret));
    },
  };
}

const OPERATOR = 'operator';
const SLIDING = 12 * 3600 * 1000;
const CODE_LIFE = 10 * 60 * 1000;
const MOST_SESSIONS = 64;
const MOST_CODES = 16;

interface Entry {
  readonly key: string;
  readonly human: UnlockedHuman | null;
  readonly made: number;
  used: number;
}

// Secrets are looked up and compared by their hash: how long that takes says nothing about the secret itself.
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function leastUsed(sessions: ReadonlyMap<string, Entry>): string {
  let oldest: Entry | undefined;
  for (const entry of sessions.values()) if (oldest === undefined || entry.used < oldest.used) oldest = entry;
  return oldest?.key ?? '';
}
