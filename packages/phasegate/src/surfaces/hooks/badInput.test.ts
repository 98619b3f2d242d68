import { join } from 'node:path';
import type { Json, JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openHookBed, toldBy } from './fixtures/hookBed.ts';

const GONE = 'run-00112233445566778899';

describe('events of other versions', () => {
  test('fields nobody knows change nothing; events nobody knows are let be, but refused where they are about a tool', async () => {
    const bed = openHookBed();
    await bed.start();
    const later = {
      schema_version: 9,
      tool_input_v2: { file_path: '/etc/passwd' },
      nested: { a: [1, null] },
    };
    expect(await bed.call('Write', bed.write('docs/a.md'), later)).toBe('allowed');
    expect(await bed.call('Write', bed.write('src/a.js'), later)).toContain('may not write `src/a.js`');
    for (const name of ['PreModelSwitch', 'NewEventOf2030', 'pretooluse']) {
      expect(await bed.event(name, { model: 'another' })).toEqual({});
      const told = await bed.event(name, { tool_name: 'Write', tool_input: bed.write('docs/a.md') });
      expect(toldBy(told)).toContain('is not one that is known, and it is about a tool');
    }
    const at = { session_id: 's2', cwd: bed.root, hook_event_name: 'tool.execute.beforehand' };
    for (const [client, more] of [
      ['gemini', { tool_name: 'write_file', tool_input: {} }],
      ['codex', { tool_input: {} }],
      ['cursor', { conversation_id: 's2', tool_name: 'Write' }],
      ['opencode', { sessionID: 's2', tool: 'write', args: {} }],
    ] as const)
      expect(JSON.stringify(await bed.raw(client, { ...at, ...more })), client).toContain('not allowed');
  });

  test('an older one, without ids of calls or prompts, is judged all the same', async () => {
    const bed = openHookBed();
    await bed.start();
    const old = { session_id: 's1', cwd: bed.root, hook_event_name: 'PreToolUse', tool_name: 'Write' };
    const ask = async (path: string) =>
      toldBy(await bed.raw('claude', { ...old, tool_input: bed.write(path) }));
    expect([await ask('docs/a.md'), await ask('docs/a.md')]).toEqual(['allowed', 'allowed']);
    expect(await ask('src/a.js')).toContain('may not write `src/a.js`');
  });

  test.each<[string, JsonObject]>([
    ['a tool that is new', { tool_name: 'WriteEverywhere', tool_input: { path: 'docs/a.md' } }],
    ['a path under a new name', { tool_name: 'Write', tool_input: { target: 'docs/a.md', content: '' } }],
    ['a path that is not a text', { tool_name: 'Write', tool_input: { file_path: ['docs/a.md'] } }],
    ['a command that is not a text', { tool_name: 'Bash', tool_input: { command: { line: 'ls' } } }],
    ['an input that is a list', { tool_name: 'Write', tool_input: ['docs/a.md'] }],
    ['a name that every object has', { tool_name: 'constructor', tool_input: {} }],
    ['a name of two tools', { tool_name: 'Read\u0000Write', tool_input: { file_path: 'docs/a.md' } }],
  ])('%s is refused with a reason', async (_, more) => {
    const bed = openHookBed();
    await bed.start();
    const answer = await bed.event('PreToolUse', { tool_use_id: 'toolu_1', ...more });
    expect(toldBy(answer)).toMatch(/^\[phasegate\] .+ Next: /);
  });
});

test.each<[string, Json]>([
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '7'],
  ['half of an object', '{"session_id":"s1"'],
  ['two objects', '{}{}'],
  ['a session that leads elsewhere', { session_id: '../../keys', cwd: '/', hook_event_name: 'PreToolUse' }],
  ['a folder that is not one', { session_id: 's1', cwd: 'project', hook_event_name: 'PreToolUse' }],
])('%s in place of an event is refused and binds nobody', async (_, payload) => {
  const bed = openHookBed();
  await bed.start();
  expect(toldBy(await bed.raw('claude', payload))).toContain('could not be judged');
  expect(await bed.project.hooks.sessions()).toEqual([]);
});

test('a call of more values, or of longer paths, than are judged at a time is refused with a reason [adv.E3]', async () => {
  const bed = openHookBed();
  await bed.start();
  const wide = { ...bed.write('docs/a.md'), extra: Array.from({ length: 100_001 }, () => 1) };
  expect(await bed.call('Write', wide)).toContain('more than 100000 values');
  const reads = async (paths: readonly string[]) =>
    JSON.stringify(
      await bed.raw('gemini', {
        session_id: 'g1',
        cwd: bed.root,
        hook_event_name: 'BeforeTool',
        tool_name: 'read_many_files',
        tool_input: { paths: [...paths] },
      }),
    );
  const long = (count: number) => Array.from({ length: count }, (_, at) => `docs/${'a/'.repeat(500)}${at}`);
  expect(await reads(long(100))).toBe('{}');
  expect(await reads(long(200))).toContain('have more than 131072 characters; make several calls of it');
  expect(await reads(['~/'.repeat(100_000)])).toContain('longer than 4096 bytes');
});

test('two clients on one run are held by the phase it is in, in whichever of them it was moved', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  const gemini = async (path: string) => {
    const tool_input = { file_path: join(bed.root, path), content: '' };
    const at = { session_id: 'g1', cwd: bed.root, hook_event_name: 'BeforeTool' };
    return JSON.stringify(await bed.raw('gemini', { ...at, tool_name: 'write_file', tool_input }, run));
  };
  expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
  expect(await gemini('docs/b.md')).toBe('{}');
  await bed.done(run);
  expect(await gemini('docs/b.md')).toContain('may not write `docs/b.md`');
  expect([await bed.call('Write', bed.write('src/a.js')), await gemini('src/a.js')]).toEqual([
    'allowed',
    '{}',
  ]);
  const clients = (await bed.project.hooks.sessions()).map(({ client, run: of }) => [client, of]);
  expect(clients).toEqual([
    ['claude', run],
    ['gemini', run],
  ]);
});

test('a session whose run is gone has none: it reads, may stop and end, and takes the next', async () => {
  const bed = openHookBed();
  await bed.event('SessionStart', { source: 'startup' });
  const [session] = await bed.store.keptAll('session');
  const data = { ...session?.data, run: GONE, written: 3 };
  await bed.store.keep({ kind: 'session', key: 'claude/s1', data }, { run: null, audit: [] });

  expect(await bed.call('Write', bed.write('docs/a.md'))).toContain('without a run');
  expect(await bed.call('Read', { file_path: join(bed.root, 'docs/a.md') })).toBe('allowed');
  expect(await bed.event('Stop')).toEqual({});
  expect(await bed.event('SessionEnd', { reason: 'other' })).toEqual({});
  expect(await bed.event('PostToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 'x' })).toEqual({});
  await bed.start();
  expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
});
