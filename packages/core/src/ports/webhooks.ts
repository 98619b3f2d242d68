import type { AuditDraft } from './audit.ts';
import type { UnlockedHuman } from './humans.ts';

/** An address that is told what happens. */
export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  /** Names of the events to send; empty means alerts: what a human should look at. */
  readonly events: readonly string[];
  /** Signs what is sent; shown once. */
  readonly secret: string;
  readonly addedAt: string;
}

/** How far a webhook's deliveries are. */
export interface WebhookProgress {
  readonly id: string;
  /** Id of the newest record of the feed that is done with: delivered, given up on, or not asked for. */
  readonly cursor: number;
  /** Failed attempts at the record after the cursor. */
  readonly failures: number;
  /** ISO time before which the next attempt is not made; null for at once. */
  readonly retryAt: string | null;
}

/** A record that was given up on for one receiver. */
export interface DeadLetter {
  readonly webhook: string;
  /** Id of the record in the feed. */
  readonly record: number;
  readonly message: string;
  /** ISO time. */
  readonly at: string;
}

/** The webhooks of a project. */
export interface Webhooks {
  list(): Promise<readonly (Omit<WebhookRecord, 'secret'> & WebhookProgress)[]>;
  /** What was given up on for the webhooks there are, oldest first. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  add(
    url: string,
    options: { readonly events: readonly string[]; readonly by: UnlockedHuman | null },
  ): Promise<WebhookRecord>;
  remove(id: string, by: UnlockedHuman | null): Promise<void>;
}

/** Where webhooks live, and how far each one is. */
export interface WebhookStore {
  webhooks(): Promise<readonly (WebhookRecord & WebhookProgress)[]>;
  putWebhook(webhook: WebhookRecord & WebhookProgress, audit: readonly AuditDraft[]): Promise<void>;
  removeWebhook(id: string, audit: readonly AuditDraft[]): Promise<boolean>;
  /**
   * Moves a webhook's deliveries on; a failure to keep up is a record too. False, and nothing is written, where it is not
   * (any more) as far as `was` says: it is gone, or another has moved it on.
   */
  putProgress(
    progress: WebhookProgress,
    was: Pick<WebhookProgress, 'cursor' | 'failures'>,
    audit: readonly AuditDraft[],
  ): Promise<boolean>;
}
