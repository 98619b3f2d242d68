import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { PIECE } from '../../runtime/hooks/sessionCalls.ts';
import { openHookBed } from './fixtures/hookBed.ts';

const AT = '2026-11-15T12:00:01.000Z';

/** A session of Gemini CLI, which gives its calls no ids, and how many records are read for each of its events. */
async function open() {
  const bed = openHookBed();
  const run = await bed.start();
  const transcript_path = join(bed.base, 'gemini.jsonl');
  const common = { session_id: 'g1', cwd: bed.root, transcript_path, timestamp: AT };
  const reads: number[] = [];
  const { keptAll } = bed.store;
  vi.spyOn(bed.store, 'keptAll').mockImplementation(async (...asked) => {
    const found = await keptAll(...asked);
    if (asked[0] === 'call') reads.push(found.length);
    return found;
  });
  const input = (name: string) => ({ file_path: join(bed.root, name), content: 'x' });
  const event = (hook_event_name: string, name: string, more = {}) =>
    bed.raw('gemini', {
      ...common,
      hook_event_name,
      tool_name: 'write_file',
      tool_input: input(name),
      ...more,
    });
  const events = async (name: string) =>
    (await bed.history(run)).filter((record) => record.event === name).length;
  return {
    ...bed,
    reads,
    input,
    events,
    transcript_path,
    before: (name: string) => event('BeforeTool', name),
    after: (name: string) => event('AfterTool', name, { tool_response: { llmContent: 'ok' } }),
    stop: () =>
      bed.raw('gemini', { ...common, hook_event_name: 'AfterAgent', prompt: 'x', stop_hook_active: false }),
    escalation: async () => (await bed.project.look(run, { kind: 'human', name: 'op' })).escalation,
  };
}

test('what a client without ids reports is found without a look at the other calls of its session', async () => {
  const { before, after, reads, events } = await open();
  for (let call = 0; call < 40; call += 1) await before(`docs/${call}.md`);

  reads.length = 0;
  await after('docs/7.md');
  await after('docs/31.md');

  expect(reads).toEqual([1, 1]);
  expect(await events('hook_reported')).toBe(2);
  expect(await events('hook_forged')).toBe(0);
  // Each judgement is for one report, and one that was never judged is known for that.
  await after('docs/7.md');
  await after('docs/99.md');
  expect(await events('hook_forged')).toBe(2);
});

test('equal calls that are under way at a time are all found when they are reported', async () => {
  const { before, after, events } = await open();
  for (let call = 0; call < 20; call += 1) await before('docs/same.md');
  for (let call = 0; call < 20; call += 1) await after('docs/same.md');

  expect(await events('hook_reported')).toBe(20);
  expect(await events('hook_forged')).toBe(0);
});

test('a session with more calls than are read at a time is compared whole, piece by piece', async () => {
  const { before, stop, reads, input, transcript_path, escalation } = await open();
  const names = Array.from({ length: PIECE + 3 }, (_, at) => `docs/${at}.md`);
  for (const name of names) await before(name);
  const says = (...made: readonly string[]) => {
    const toolCalls = made.map((name, at) => ({
      id: `c${at}`,
      name: 'write_file',
      args: input(name),
      status: 'success',
      timestamp: AT,
    }));
    writeFileSync(transcript_path, `${JSON.stringify({ id: 'm1', type: 'gemini', toolCalls })}\n`);
  };
  says(...names);
  reads.length = 0;
  await stop();
  expect(reads).toEqual([PIECE, 3]);
  expect(await escalation()).toBe(null);

  says(...names, 'docs/0.md');
  await stop();
  expect((await escalation())?.message).toContain('never judged: `write_file`');
});
