import { createHmac } from 'node:crypto';
import { withoutRecording } from '@phasegate/core/engine';
import type { Duty, FeedRecord, FeedStore, WebhookProgress, WebhookRecord, WebhookStore } from '../ports.ts';
import { wants } from './webhookEvents.ts';

/** What delivery is built from. */
export interface DeliveryParts {
  readonly store: FeedStore & WebhookStore & { readonly duty?: Duty };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A fault of our own; a receiver's is what retries are for. */
  readonly onError: (error: unknown) => void;
}

/** Delivers what webhooks ask for: in order, at least once, whatever was down meanwhile. */
export interface Delivery {
  /** Starts what is due and is not under way already. */
  deliver(): Promise<void>;
  /** Waits until nothing is under way. */
  settled(): Promise<void>;
  /** This node cannot do what is its duty: another is to have it, from the round in which nothing is under way here. */
  giveUpDuty(): void;
  /** Ends what is under way; it is sent again by the one who comes next. */
  stop(): Promise<void>;
}

/** How long to wait after each failed attempt, in milliseconds; after the last a record is given up on. */
export const RETRY_AFTER_MS: readonly number[] = [
  1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000,
];

/**
 * How often a record is sent that its receiver answers with a no. A receiver that is away gets all the time above, as
 * later records would fare no better; one that is there and does not want this record must not be kept from the next.
 */
export const REFUSALS = 3;

/**
 * Builds the delivery of a project's webhooks. INVARIANT: of all who share the store only the one with the duty sends, and
 * how far a webhook is moves on only from where it was: what a node writes that was paused takes nothing back.
 */
export function createDelivery({ store, now, onError }: DeliveryParts): Delivery {
  const underWay = new Map<string, Promise<void>>();
  // How far records were looked at that nobody asked for, which is written down only now and then, or were sent.
  const looked = new Map<string, number>();
  const stopping = new AbortController();
  // What this node does not reach, or is not answered, may be reached by another.
  let isLeaving = false;
  let hasFault = false;
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  const isMine = async () => store.duty === undefined || (await store.duty.isMine());

  /** Everything that is due for one webhook, one record after the other. */
  async function serve(webhook: Webhook): Promise<void> {
    let progress: WebhookProgress = webhook;
    let cursor = Math.max(progress.cursor, looked.get(webhook.id) ?? 0);
    for (;;) {
      const records = await store.feed(cursor, BATCH);
      for (const record of records) {
        const done = wants(webhook, record) ? await sendOne(webhook, record, progress) : progress;
        if (done === null) return;
        progress = done;
        cursor = record.id;
      }
      if (records.length === 0 || stopping.signal.aborted) return;
      looked.set(webhook.id, cursor);
      // Writing for every record nobody asked for would make a write out of every write.
      if (cursor - progress.cursor < FAR) continue;
      const far = { id: webhook.id, cursor, failures: 0, retryAt: null };
      if (!(await store.putProgress(far, progress, []))) return;
      progress = far;
    }
  }

  /** How far that leaves the webhook; null where it has to wait, or is another's to go on with. */
  async function sendOne(
    webhook: Webhook,
    record: FeedRecord,
    progress: WebhookProgress,
  ): Promise<WebhookProgress | null> {
    if (stopping.signal.aborted || isLeaving || !(await isMine())) return null;
    const failure = await send(webhook, record);
    // What was broken off here is nobody's failure, and one of a node that was replaced meanwhile is not the receiver's.
    if (failure !== null && (stopping.signal.aborted || !(await isMine()))) return null;
    // Should it not be written down, for want of a disk, this node does not send it once more all the same.
    if (failure === null) looked.set(webhook.id, record.id);
    const after = await settle(progress, record, failure);
    if (failure?.kind === 'away' && after !== null && after.failures >= OWN_TRIES) {
      isLeaving = store.duty !== undefined;
    }
    return after === null || after.failures > 0 ? null : after;
  }

  /** Null where another has moved the webhook on. */
  async function settle(
    was: WebhookProgress,
    record: FeedRecord,
    failure: Failure | null,
  ): Promise<WebhookProgress | null> {
    const { id } = was;
    const failures = failure === null ? 0 : was.failures + 1;
    const isDead = failure?.kind === 'refused' && failures >= REFUSALS;
    const wait = isDead ? undefined : RETRY_AFTER_MS[failures - 1];
    if (failure !== null && wait !== undefined) {
      const retryAt = new Date(now() + wait).toISOString();
      // The record before this one is done with, whatever was looked at since.
      const progress = { id, cursor: record.id - 1, failures, retryAt };
      return (await store.putProgress(progress, was, [])) ? progress : null;
    }
    const progress = { id, cursor: record.id, failures: 0, retryAt: null };
    const time = new Date(now()).toISOString();
    const data = { webhook: id, record: record.id, attempts: failures, message: failure?.message ?? null };
    const draft = { time, principal: 'engine:phasegate', event: 'webhook_failed' as const, data };
    return (await store.putProgress(progress, was, failure === null ? [] : [draft])) ? progress : null;
  }

  /** Null when it was taken, else why not. */
  async function send(webhook: Webhook, record: FeedRecord): Promise<Failure | null> {
    // What was refused, called or is still to come is not for others to keep.
    const { id, event, run, time, data } = withoutRecording(record);
    const body = JSON.stringify({ id, event, run, time, data });
    const messageId = `msg_${webhook.id}_${id}`;
    const timestamp = String(Math.floor(now() / 1000));
    try {
      const response = await fetch(webhook.url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'phasegate',
          'webhook-id': messageId,
          'webhook-timestamp': timestamp,
          'webhook-signature': signatureOf(webhook.secret, `${messageId}.${timestamp}.${body}`),
        },
        body,
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), stopping.signal]),
      });
      // What it says beyond its status is of no use here, and could be without end.
      await response.body?.cancel();
      if (response.ok) return null;
      const kind = NOT_NOW.has(response.status) ? 'later' : 'refused';
      return { message: `it answered ${response.status}`, kind };
    } catch (error) {
      return { message: reasonOf(error), kind: 'away' };
    }
  }

  /** Whether the duty is another's to take from now on, or as soon as nothing is under way. */
  async function leaves(duty: Duty): Promise<boolean> {
    if (hasFault && Math.abs(now() - gaveUpAt) >= FAULT_REST_MS) {
      hasFault = false;
      gaveUpAt = now();
      isLeaving = true;
    }
    if (!isLeaving) return false;
    // Not before all is settled: what is under way here would be sent by the next one, too.
    if (underWay.size > 0) return true;
    isLeaving = false;
    await duty.leave();
    return true;
  }

  /** The webhooks, where it is this node's to tell them. */
  async function mine(): Promise<readonly Webhook[]> {
    if (store.duty !== undefined && (await leaves(store.duty))) return [];
    const webhooks = await store.webhooks();
    // Of the others it is kept also without the duty: what was sent and not written down is not sent again with the next.
    for (const id of looked.keys()) if (!webhooks.some((webhook) => webhook.id === id)) looked.delete(id);
    if (store.duty === undefined || webhooks.length === 0) return webhooks;
    // Read again: before the duty was this node's, another may have moved them on.
    return (await store.duty.isMine()) ? store.webhooks() : [];
  }

  async function deliver(): Promise<void> {
    if (stopping.signal.aborted) return;
    const instant = new Date(now()).toISOString();
    const webhooks = await mine().catch((error: unknown) => {
      giveUpDuty();
      throw error;
    });
    for (const webhook of webhooks) {
      if (underWay.has(webhook.id) || (webhook.retryAt !== null && webhook.retryAt > instant)) continue;
      const work = serve(webhook)
        .catch((error: unknown) => {
          giveUpDuty();
          onError(error);
        })
        .finally(() => underWay.delete(webhook.id));
      underWay.set(webhook.id, work);
    }
  }

  function giveUpDuty(): void {
    hasFault = true;
  }

  const settled = async () => {
    await Promise.all(underWay.values());
  };

  return {
    deliver,
    settled,
    giveUpDuty,
    async stop() {
      stopping.abort();
      await settled();
      await store.duty?.leave().catch(onError);
    },
  };
}

const BATCH = 200;
const FAR = 1_000;
const TIMEOUT_MS = 10_000;

/** After how many failed attempts at a receiver that is away it is left to another node to try. */
const OWN_TRIES = 2;

/** A fault that every node has would else let them change all the time, while other receivers wait. */
const FAULT_REST_MS = 30_000;

/** Statuses that speak of the receiver and not of the record. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** Why a record was not taken. */
interface Failure {
  readonly message: string;
  /** The receiver said no to the record, or that it cannot take any now; or nobody answered. */
  readonly kind: 'refused' | 'later' | 'away';
}

type Webhook = WebhookRecord & WebhookProgress;

/** As Standard Webhooks has it: the secret is base64 behind its prefix. */
function signatureOf(secret: string, text: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'it did not answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return code ?? (error instanceof Error ? error.message : String(error));
}
