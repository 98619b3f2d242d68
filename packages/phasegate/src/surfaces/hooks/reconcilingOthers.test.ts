import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { HookClient } from '../../runtime/ports.ts';
import { openHookBed } from './fixtures/hookBed.ts';

const AT = '2026-11-15T12:00:01.000Z';
const text = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** How each of them is told of a call, writes it down and stops. */
interface Ways {
  before(args: JsonObject): JsonObject;
  stop(): JsonObject;
  written(calls: readonly (readonly [JsonObject, boolean])[]): object[];
}

function waysOf(client: HookClient, root: string, file: string): Ways {
  if (client === 'gemini') {
    const at = { session_id: 'g1', cwd: root, transcript_path: file, timestamp: AT };
    return {
      before: (tool_input) => ({ ...at, hook_event_name: 'BeforeTool', tool_name: 'write_file', tool_input }),
      stop: () => ({ ...at, hook_event_name: 'AfterAgent', prompt: 'x', stop_hook_active: false }),
      written: (calls) => {
        const message = (size: number) => ({
          id: 'm1',
          type: 'gemini',
          toolCalls: calls.slice(0, size).map(([args, ok], index) => ({
            id: `c${index}`,
            name: 'write_file',
            args,
            status: ok ? 'success' : 'error',
            timestamp: AT,
          })),
        });
        // It grows: every call is written several times.
        return [{ $set: { lastUpdated: AT } }, ...calls.map((_, index) => message(index + 1))];
      },
    };
  }
  const at = { sessionId: 'p1', cwd: root, timestamp: 1 };
  return {
    before: (toolArgs) => ({ ...at, toolName: 'create', toolArgs }),
    stop: () => ({ ...at, transcriptPath: file, stopReason: 'end_turn', stop_hook_active: false }),
    written: (calls) =>
      calls.flatMap(([args, success], index) => {
        const data = { toolCallId: `t${index}` };
        return [
          {
            type: 'tool.execution_start',
            data: { ...data, toolName: 'create', arguments: args },
            timestamp: AT,
          },
          { type: 'tool.execution_complete', data: { ...data, success }, timestamp: AT },
        ];
      }),
  };
}

async function open(client: HookClient) {
  const bed = openHookBed();
  const run = await bed.start();
  const file = join(bed.base, `${client}.jsonl`);
  const ways = waysOf(client, bed.root, file);
  const input = (path: string) => {
    const [name, content] = client === 'gemini' ? ['file_path', 'content'] : ['path', 'file_text'];
    return { [name]: join(bed.root, path), [content]: 'x' };
  };
  const escalation = async () => {
    const view = await bed.project.look(run, { kind: 'human', name: 'operator' });
    return view.escalation === null ? null : `${view.escalation.reason}: ${view.escalation.message}`;
  };
  return {
    ...bed,
    run,
    input,
    escalation,
    ask: (path: string) => bed.raw(client, ways.before(input(path))),
    stop: () => bed.raw(client, ways.stop()),
    says: (...calls: readonly (readonly [JsonObject, boolean])[]) =>
      writeFileSync(file, text(ways.written(calls))),
  };
}

test.each(['gemini', 'copilot'] as const)(
  'calls of %s, which have no ids, are compared by what they were called with [adv.F6]',
  async (client) => {
    const { ask, stop, says, input, escalation } = await open(client);
    await ask('docs/a.md');
    await ask('src/refused.js');
    says([input('docs/a.md'), true], [input('src/refused.js'), false]);
    await stop();
    expect(await escalation()).toBe(null);

    // Each judgement is good for one call, and a refusal for none.
    says([input('docs/a.md'), true], [input('src/refused.js'), false], [input('src/refused.js'), true]);
    await stop();
    expect(await escalation()).toMatch(/unjudged_calls: its client made calls that were never judged: `/);
  },
);

test.each(['gemini', 'copilot'] as const)(
  'a second, equal call of %s needs a second judgement',
  async (client) => {
    const { ask, stop, says, input, escalation } = await open(client);
    const call = [input('docs/a.md'), true] as const;
    await ask('docs/a.md');
    await ask('docs/a.md');
    says(call, call);
    await stop();
    expect(await escalation()).toBe(null);
    says(call, call, call);
    await stop();
    expect(await escalation()).toContain('unjudged_calls');
  },
);

test('calls of opencode are compared with those whose end its plugin saw', async () => {
  const { raw, root, escalation } = await open('opencode');
  const at = { sessionID: 'ses_1', cwd: root };
  const args = { filePath: join(root, 'docs/a.md'), content: '' };
  await raw('opencode', { ...at, hook_event_name: 'tool.execute.before', tool: 'write', callID: 'c1', args });
  const idle = (...ids: readonly string[]) =>
    raw('opencode', {
      ...at,
      hook_event_name: 'session.idle',
      calls: ids.map((callID) => ({ callID, tool: 'bash', at: AT })),
    });
  await idle('c1');
  // Started again, its plugin knows less than before.
  await idle();
  expect(await escalation()).toBe(null);
  await idle('c1', 'c2');
  expect(await escalation()).toContain('never judged: `bash`');
});

test.each(['Stop', 'SessionEnd'])(
  'what was not judged of a run that has ended is in its audit and with its session at %s',
  async (end) => {
    const bed = openHookBed();
    const run = await bed.start();
    await bed.event('SessionStart', { source: 'startup' });
    await bed.call('Write', bed.write('docs/a.md'), { tool_use_id: 'toolu_a' });
    bed.pass(60);
    await bed.project.as({ kind: 'human', name: 'maria' }).submit(run, { kind: 'stop', reason: 'enough' });
    const written = (id: string, timestamp: string) => [
      { timestamp, message: { content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] } },
      { timestamp, message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] } },
    ];
    const file = join(bed.base, 's1.jsonl');
    // What it did without a run, afterwards, is not the run's.
    writeFileSync(
      file,
      text([...written('toolu_a', AT), ...written('toolu_later', '2027-01-01T00:00:00.000Z')]),
    );
    await bed.event(end);
    const found = async () => (await bed.project.hooks.sessions())[0]?.found;
    expect(await found()).toBe(null);

    writeFileSync(file, text([...written('toolu_a', AT), ...written('toolu_sneaked', AT)]));
    await bed.event(end);
    await bed.event(end);
    expect(await found()).toContain('never judged: `Bash`');
    const noted = (await bed.history(run)).filter(({ event }) => event === 'hook_forged');
    expect(noted.map(({ data }) => own(data, 'how'))).toEqual([
      expect.stringContaining('found after the run had ended: its client made calls'),
    ]);
  },
);
