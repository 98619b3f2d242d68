import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type JsonObject, own } from '@phasegate/core';
import type { SignInRows } from '../../../runtime/ports.ts';

/** Numbers that passkeys are challenged with. Each is good once, for one session and purpose, for three minutes. */
export interface Challenges {
  make(session: string, purpose: Purpose): string;
  /** Whether it was good; from now on it is not, on any node. */
  spend(session: string, purpose: Purpose, nonce: string): Promise<boolean>;
}

/** What a challenge is for. */
export type Purpose = 'act' | 'register';

/** What challenges are made with. */
export interface ChallengeParts {
  /** Where it is kept which were spent. */
  readonly rows: SignInRows;
  /** The same on every node. */
  readonly key: Uint8Array;
}

/**
 * The challenges of a project. Each says by itself whose it is and until when, under a key that all nodes have, so
 * nothing is kept of those that are made: nobody who asks for many takes one away from somebody else. What is kept are
 * those that were spent, in one row for each session.
 */
export function createChallenges({ rows, key }: ChallengeParts): Challenges {
  const sumOf = (head: Buffer, session: string, purpose: Purpose) =>
    createHmac('sha256', key).update(`${purpose}\0${session}\0`).update(head).digest().subarray(0, SUM_BYTES);

  /** Of two who write the row at once, one is told no and looks again. */
  async function enter(session: string, head: Buffer): Promise<boolean> {
    for (let tried = 0; tried < MOST_TRIES; tried += 1) {
      const was = await rows.get('challenges', session);
      const data = withSpent(was, head, rows.now());
      if (data === null) return false;
      if (await rows.put('challenges', { key: session, data }, was)) return true;
    }
    return false;
  }

  return {
    make(session, purpose) {
      const head = randomBytes(HEAD_BYTES);
      head.writeUIntBE(Math.floor(rows.now()) + LIFE, 0, TIME_BYTES);
      return Buffer.concat([head, sumOf(head, session, purpose)]).toString('base64url');
    },
    async spend(session, purpose, nonce) {
      const bytes = Buffer.from(nonce, 'base64url');
      // One spelling for each: another would be another entry among the spent.
      if (bytes.length !== HEAD_BYTES + SUM_BYTES || bytes.toString('base64url') !== nonce) return false;
      const head = bytes.subarray(0, HEAD_BYTES);
      if (!timingSafeEqual(bytes.subarray(HEAD_BYTES), sumOf(head, session, purpose))) return false;
      return enter(session, head);
    },
  };
}

/** So many acts of one session within the life of a challenge; there are at most 64 sessions. */
const MOST = 1_000;
/** So many of one session at the very same moment, and on as many nodes. */
const MOST_TRIES = 20;
const LIFE = 3 * 60_000;
const TIME_BYTES = 6;
const HEAD_BYTES = TIME_BYTES + 18;
const SUM_BYTES = 16;

/**
 * The row with one more that is spent; null where it was spent, is too old, or there are too many. Those that are over
 * are forgotten, and `over` says until when. INVARIANT: what was forgotten by one node is too old for every other, even
 * one whose clock is late.
 */
function withSpent(was: JsonObject | null, head: Buffer, now: number): JsonObject | null {
  const [spent, over] = was === null ? [[], ''] : [own(was, 'spent'), own(was, 'over')];
  if (!Array.isArray(spent) || typeof over !== 'string') return null;
  // In hex a head is in the order of its time, which it begins with.
  const [name, present] = [head.toString('hex'), timeText(now)];
  const isOver = (one: string) => untilIn(one) <= present;
  if (isOver(name) || untilIn(name) <= over || spent.includes(name)) return null;
  const known = spent.filter((one) => typeof one === 'string');
  const live = known.filter((one) => !isOver(one));
  if (live.length >= MOST) return null;
  const ends = known.filter(isOver).map(untilIn);
  return { spent: [...live, name], over: ends.reduce((last, end) => (end > last ? end : last), over) };
}

function untilIn(head: string): string {
  return head.slice(0, 2 * TIME_BYTES);
}

function timeText(milliseconds: number): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(Math.floor(milliseconds), 0, TIME_BYTES);
  return time.toString('hex');
}
