import { type AuditRecord, isJsonObject, type Json, own } from '@phasegate/core';

/** What agents did of late, and what they were denied. */
export type Activity = {
  /** Of so many of the newest records. */
  readonly searched: number;
  /** The time of the oldest of them; null where there is none. */
  readonly since: string | null;
  readonly agents: readonly AgentActivity[];
  /** The most frequent first. */
  readonly denials: readonly Denial[];
};

/** What one agent did of late. */
export type AgentActivity = {
  readonly agent: string;
  readonly calls: number;
  readonly denied: number;
  readonly last_at: string;
  readonly last_event: string;
  readonly last_run: string | null;
};

/** A rule, and how often it denied. */
export type Denial = {
  readonly code: string;
  readonly tool: string;
  /** The newest message. */
  readonly message: string;
  readonly times: number;
  readonly agents: readonly string[];
  readonly last_at: string;
  readonly last_run: string | null;
};

/** Sums up records, oldest first. */
export function encodeActivity(records: readonly AuditRecord[]): Activity {
  const agents = new Map<string, AgentActivity>();
  const denials = new Map<string, Denial>();
  for (const record of records) {
    const agent = /^agent:(.*)$/s.exec(record.principal)?.[1];
    if (agent === undefined) continue;
    const { data, time, run, event } = record;
    const judged = event === 'tool_judged';
    const denied = judged && own(data, 'allowed') === false;
    const before = agents.get(agent);
    agents.set(agent, {
      agent,
      calls: (before?.calls ?? 0) + (judged ? 1 : 0),
      denied: (before?.denied ?? 0) + (denied ? 1 : 0),
      last_at: time,
      last_event: event,
      last_run: run,
    });
    if (!denied) continue;
    const [code, tool] = [word(data, 'code'), word(data, 'tool')];
    const key = `${code} ${tool}`;
    const known = denials.get(key);
    denials.set(key, {
      code,
      tool,
      message: word(data, 'message'),
      times: (known?.times ?? 0) + 1,
      agents: [...new Set([...(known?.agents ?? []), agent])],
      last_at: time,
      last_run: run,
    });
  }
  return {
    searched: records.length,
    since: records[0]?.time ?? null,
    agents: [...agents.values()].sort((one, other) => (one.last_at < other.last_at ? 1 : -1)),
    denials: [...denials.values()].sort((one, other) => other.times - one.times),
  };
}

function word(data: Json, key: string): string {
  const value = isJsonObject(data) ? own(data, key) : undefined;
  return typeof value === 'string' ? value : '';
}
