import { isJsonObject, own } from '@phasegate/core';
import type { AuditDraft, FeedRecord, WebhookRecord } from './ports.ts';

/** What a human should look at: sent where a webhook names no events. */
export const ALERTS: readonly AuditDraft['event'][] = [
  'run_escalated',
  'gate_opened',
  'gate_timed_out',
  'question_asked',
  'run_stuck',
  'run_ended',
  'webhook_failed',
];

/** Whether there is an event of that name. */
export function isEvent(name: string): boolean {
  return Object.hasOwn(EVENTS, name);
}

/** Names of all events, for whoever has to choose. */
export function eventNames(): readonly string[] {
  return Object.keys(EVENTS);
}

/** Whether a webhook is to be told of a record. */
export function wants(webhook: WebhookRecord, record: FeedRecord): boolean {
  // Its own failures would only add to what cannot be delivered.
  if (record.event === 'webhook_failed' && own(data(record), 'webhook') === webhook.id) return false;
  // A run's start is on both chains; its own says more.
  if (record.event === 'run_started' && record.run === null) return false;
  const names: readonly string[] = webhook.events.length === 0 ? ALERTS : webhook.events;
  return names.includes(record.event);
}

function data(record: FeedRecord): object {
  return isJsonObject(record.data) ? record.data : {};
}

/** Every name an audit record can have; the compiler sees to it that none is missing. */
const EVENTS: Readonly<Record<AuditDraft['event'], true>> = {
  run_started: true,
  run_claimed: true,
  run_released: true,
  item_claimed: true,
  item_released: true,
  task_fetched: true,
  phase_refused: true,
  item_completed: true,
  gate_opened: true,
  gate_decided: true,
  gate_timed_out: true,
  phase_completed: true,
  question_asked: true,
  question_answered: true,
  run_escalated: true,
  run_resumed: true,
  run_stopped: true,
  run_ended: true,
  run_stuck: true,
  tool_judged: true,
  tool_executed: true,
  command_refused: true,
  token_issued: true,
  token_refused: true,
  human_added: true,
  human_removed: true,
  workflow_trusted: true,
  credential_failed: true,
  database_backed_up: true,
  database_restored: true,
  start_refused: true,
  agent_added: true,
  agent_removed: true,
  webhook_added: true,
  webhook_removed: true,
  webhook_failed: true,
  server_started: true,
  server_stopped: true,
  signed_in: true,
  token_secret_rotated: true,
  user_database_backed_up: true,
  user_database_restored: true,
};
