import { isJsonObject, own } from '@phasegate/core';
import { isRunEvent, RUN_EVENT_TYPES, type RunEventType } from '@phasegate/core/engine';
import type { AuditDraft, FeedRecord, WebhookRecord } from '../ports.ts';

/** What a human should look at: sent where a webhook names no events. */
export const ALERTS: readonly AuditDraft['event'][] = [
  'run_escalated',
  'gate_opened',
  'gate_timed_out',
  'question_asked',
  'run_stuck',
  'guarded_files_restored',
  'hook_forged',
  'run_ended',
  'webhook_failed',
];

/** Whether there is an event of that name. */
export function isEvent(name: string): boolean {
  return isRunEvent(name) || Object.hasOwn(OTHERS, name);
}

/** Names of all events, for the one who has to choose. */
export function eventNames(): readonly string[] {
  return [...RUN_EVENT_TYPES, ...Object.keys(OTHERS)];
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

/** Names of what happens to a project or changes no run; the compiler sees to it that none is missing. */
const OTHERS: Readonly<Record<Exclude<AuditDraft['event'], RunEventType>, true>> = {
  run_ended: true,
  runs_archived: true,
  run_stuck: true,
  tool_judged: true,
  tool_executed: true,
  check_executed: true,
  command_refused: true,
  token_issued: true,
  token_refused: true,
  session_bound: true,
  hook_reported: true,
  hook_forged: true,
  unreconciled: true,
  pause_began: true,
  pause_ended: true,
  client_proven: true,
  files_recorded: true,
  range_attested: true,
  audit_anchored: true,
  deps_frozen: true,
  guarded_files_changed: true,
  guarded_files_restored: true,
  human_added: true,
  human_removed: true,
  passphrase_changed: true,
  passkey_added: true,
  passkey_removed: true,
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
  signed_out: true,
  token_secret_rotated: true,
  user_database_backed_up: true,
  user_database_restored: true,
};
