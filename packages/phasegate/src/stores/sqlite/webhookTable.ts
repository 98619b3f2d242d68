import type { DatabaseSync } from 'node:sqlite';
import { recordMac, sameMac, tampered } from '@phasegate/audit';
import type { Seal, WebhookProgress, WebhookRecord } from '../../runtime/ports.ts';
import { integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';

/** The webhooks and how far each one's deliveries are. */
export interface WebhookTable {
  /** In the order they were added. Throws `state_tampered` when a row does not match its seal. */
  webhooks(): readonly (WebhookRecord & WebhookProgress)[];
  put(webhook: WebhookRecord & WebhookProgress): void;
  /** False when there is no such webhook. */
  remove(id: string): boolean;
  /** False when there is no such webhook, or it is not where it was. */
  putProgress(progress: WebhookProgress, was: Pick<WebhookProgress, 'cursor' | 'failures'>): boolean;
}

/** Opens the table. */
export function openWebhookTable(database: DatabaseSync, seal: Seal): WebhookTable {
  const readAll = lazily(database, 'SELECT * FROM webhooks ORDER BY rowid');
  const upsert = lazily(database, UPSERT);
  const remove = lazily(database, 'DELETE FROM webhooks WHERE id = ?');
  const move = lazily(database, MOVE);
  return {
    webhooks: () =>
      readAll()
        .all()
        .map((row) => {
          const webhook = storedWebhook(seal, row);
          if (webhook === null) throw tampered(`webhook \`${text(row, 'id')}\``);
          return webhook;
        }),
    put({ cursor, failures, retryAt, ...record }) {
      const data = JSON.stringify(record);
      upsert().run(record.id, data, recordMac(seal, 'webhook', [data]), cursor, failures, retryAt);
    },
    remove: (id) => Number(remove().run(id).changes) === 1,
    putProgress: ({ id, cursor, failures, retryAt }, was) =>
      Number(move().run(cursor, failures, retryAt, id, was.cursor, was.failures).changes) === 1,
  };
}

/** A webhook from its row, or null where the row is not sealed. */
export function storedWebhook(seal: Seal, row: SqlRow): (WebhookRecord & WebhookProgress) | null {
  const data = text(row, 'data');
  if (!sameMac(text(row, 'mac'), recordMac(seal, 'webhook', [data]))) return null;
  const record = JSON.parse(data) as WebhookRecord;
  if (record.id !== text(row, 'id')) return null;
  return {
    ...record,
    cursor: integer(row, 'cursor'),
    failures: integer(row, 'failures'),
    retryAt: textOrNull(row, 'retry_at'),
  };
}

// Not INSERT OR REPLACE, which would move the row to the end.
const UPSERT = `INSERT INTO webhooks (id, data, mac, cursor, failures, retry_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    data = excluded.data, mac = excluded.mac, cursor = excluded.cursor, failures = excluded.failures,
    retry_at = excluded.retry_at`;

const MOVE = `UPDATE webhooks SET cursor = ?, failures = ?, retry_at = ?
  WHERE id = ? AND cursor = ? AND failures = ?`;
