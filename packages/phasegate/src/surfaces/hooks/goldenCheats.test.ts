import { readdirSync, readFileSync } from 'node:fs';
import type { Json, JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { HookClient, HookEvent } from '../../runtime/ports.ts';
import { openHookBed } from './fixtures/hookBed.ts';

interface Golden {
  readonly client: HookClient;
  readonly events: readonly GoldenEvent[];
}

interface GoldenEvent {
  readonly payload: JsonObject;
  readonly event: HookEvent['event'];
  readonly uses?: readonly { readonly tool: string; readonly input: JsonObject }[];
}

const FOLDER = new URL('./fixtures/golden/', import.meta.url);
const FILES = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
const REFUSED = /\[phasegate\] .+ Next: /s;
const IDS = ['tool_use_id', 'toolCallId', 'callID', 'call_id'];

/** As a subagent says so of itself, in the words of each client that does. */
const AS_SUBAGENT: Readonly<Record<string, JsonObject>> = {
  claude: { agent_id: 'sub' },
  codex: { agent_id: 'sub' },
  copilot: { sessionId: 'sub', session_id: 'sub', agentId: 'sub', agent_id: 'sub' },
  opencode: { sessionID: 'sub' },
};

test.each(FILES)('%s: every cheat of the real client is refused in its own payloads', async (name) => {
  const bed = openHookBed();
  const run = await bed.start();
  const text = readFileSync(new URL(`${name}.json`, FOLDER), 'utf8').replaceAll('<PROJECT>', bed.root);
  const { client, events } = JSON.parse(text) as Golden;
  let asked = 0;
  const ask = async (payload: JsonObject) => JSON.stringify(await bed.raw(client, payload));
  const like = (tool: string, value: string, more: JsonObject = {}) => {
    const found = events.find(({ event, uses }) => event === 'before_tool' && uses?.[0]?.tool === tool);
    const [old] = Object.values(found?.uses?.[0]?.input ?? {}) as [string];
    const payload = JSON.parse(JSON.stringify(found?.payload).replaceAll(old, value)) as Record<string, Json>;
    asked += 1;
    for (const id of IDS) if (id in payload) payload[id] = `cheat_${asked}`;
    for (const [field, said] of Object.entries(more))
      if (client !== 'copilot' || field in payload || /agent/i.test(field)) payload[field] = said;
    return payload;
  };
  const at = (path: string) => (client === 'codex' ? path : `${bed.root}/${path}`);
  const told = async (event: HookEvent['event']) => {
    const found = events.find((one) => one.event === event);
    return found === undefined ? null : ask(found.payload);
  };
  await told('session_start');
  const parent = String(
    like('bash', 'x').sessionID ?? like('bash', 'x').sessionId ?? like('bash', 'x').session_id,
  );
  const subagent = {
    ...AS_SUBAGENT[client],
    ...(client === 'opencode'
      ? { parentID: parent }
      : client === 'copilot'
        ? { parentAgentId: parent, parent_agent_id: parent }
        : {}),
  };

  for (const payload of [
    like('write_files', at('src/cheat.js')),
    like('bash', 'echo x > src/cheat.js'),
    like('bash', '(sleep 1; echo x > src/cheat.js) &'),
    like('write_files', at('src/cheat.js'), subagent),
    like('bash', 'echo x > src/cheat.js', subagent),
    like('write_files', at('.claude/settings.json')),
    like('write_files', at('.codex/hooks.json')),
    like('write_files', at('.gemini/settings.json')),
    like('bash', 'rm .claude/settings.json'),
    like('bash', `${bed.program} decide ${run} --option Approve`),
    like('bash', `${bed.program} pause --reason work`),
  ])
    expect(await ask(payload), JSON.stringify(payload)).toMatch(REFUSED);
  // It stops early, and has forgotten what it is in.
  expect(await told('stop')).toMatch(/not finished/);
  for (const event of ['compacting', 'compacted', 'session_start'] as const) await told(event);
  expect(await ask(like('write_files', at('src/cheat.js')))).toMatch(REFUSED);
  // What it may write, it may.
  const free = JSON.stringify(like('write_files', at('docs/a.md'))).replaceAll('src/', 'docs/');
  expect(await ask(JSON.parse(free) as JsonObject)).not.toContain('[phasegate]');
});
