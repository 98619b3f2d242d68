import { readFileSync } from 'node:fs';
import { type JsonObject, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

const GOLDEN = readFileSync(new URL('./fixtures/golden/gemini-0.61.0.json', import.meta.url), 'utf8');

async function offered(bed: ReturnType<typeof openHookBed>): Promise<JsonObject | undefined> {
  const { events } = JSON.parse(GOLDEN.replaceAll('<PROJECT>', bed.root)) as {
    readonly events: readonly { readonly event: string; readonly payload: JsonObject }[];
  };
  const payload = events.find(({ event }) => event === 'tool_selection')?.payload ?? {};
  const session = { session_id: payload.session_id ?? '', cwd: bed.root, hook_event_name: 'SessionStart' };
  await bed.raw('gemini', { ...session, source: 'startup' });
  return own(await bed.raw('gemini', payload), 'hookSpecificOutput') as JsonObject | undefined;
}

test('Gemini CLI is told to offer the tools of the phase, what only talks, and Phasegate itself', async () => {
  const bed = openHookBed();
  expect(await offered(bed)).toBeUndefined();
  const run = await bed.start();
  const plan = await offered(bed);
  expect(plan).toMatchObject({ hookEventName: 'BeforeToolSelection', toolConfig: { mode: 'ANY' } });
  const namesIn = (answer: JsonObject | undefined) =>
    (own(own(answer, 'toolConfig'), 'allowedFunctionNames') ?? []) as readonly string[];
  expect(namesIn(plan)).toEqual(
    expect.arrayContaining([
      'read_file',
      'glob',
      'write_file',
      'replace',
      'ask_user',
      'mcp_phasegate_complete_phase',
    ]),
  );
  for (const name of ['run_shell_command', 'web_fetch', 'delegate_to_agent'])
    expect(namesIn(plan)).not.toContain(name);
  await bed.done(run);
  expect(namesIn(await offered(bed))).toContain('run_shell_command');
});

test('nothing is narrowed where the phase has tools of other servers, whose names in the client nobody knows', async () => {
  const bed = openHookBed({ plan: { allowedTools: ['read_files', 'mcp:notes/echo'] } });
  await bed.start();
  expect(await offered(bed)).toBeUndefined();
});
