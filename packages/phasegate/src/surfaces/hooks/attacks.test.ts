import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openHookBed, toldBy } from './fixtures/hookBed.ts';

const SECOND = 'run-00112233445566778899';

test('a session does not leave its run for another by printing that one’s id beside a start [adv.A3]', async () => {
  let made = 0;
  const bed = openHookBed({ newId: () => (++made === 1 ? 'run-ffffffffffffffffffff' : SECOND) });
  const run = await bed.start();
  await bed.call('Read', { file_path: bed.root });
  await bed.start();
  await bed.done(SECOND);
  bed.pass(60);
  const command = `${bed.program} start --help && echo ${SECOND}`;
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: 'toolu_x' };
  const bound = async () => (await bed.project.hooks.sessions()).map((one) => one.run);
  expect(await bed.call('Bash', call.tool_input, call)).toBe('allowed');
  await bed.event('PostToolUse', { ...call, tool_response: { stdout: SECOND } });
  expect(await bound()).toEqual([run]);
  expect(await bed.call('Write', bed.write('src/a.ts'))).toContain('`src/a.ts`');
});

test('the id of a call that was carried out, or judged in another phase, is no licence for it again', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  const ask = (tool_use_id: string) => bed.call('Write', bed.write('docs/a.md'), { tool_use_id });
  expect([await ask('one'), await ask('one'), await ask('two')]).toEqual(['allowed', 'allowed', 'allowed']);
  const done = { tool_name: 'Write', tool_input: bed.write('docs/a.md'), tool_use_id: 'one' };
  await bed.event('PostToolUse', { ...done, tool_response: { ok: true } });
  expect(await ask('one')).toContain('came before');
  await bed.done(run);
  expect(await ask('two')).toContain('came before');
  expect(await ask('three')).toContain('`docs/a.md`');
});

test('a session in a folder of another project is not taken for the one at the only run', async () => {
  const bed = openHookBed();
  await bed.start();
  await bed.event('SessionStart', { cwd: '/elsewhere', source: 'startup' });
  expect((await bed.project.hooks.sessions()).map((one) => one.run)).toEqual([null]);
  expect(await bed.call('Write', bed.write('docs/a.md'), { cwd: '/elsewhere' })).not.toBe('allowed');
});

test('names, ids and inputs made to confuse are refused whole, and none is a fault', async () => {
  const bed = openHookBed();
  await bed.start();
  const place = { session_id: 's1', cwd: bed.root, hook_event_name: 'PreToolUse' };
  const names = [
    'write',
    'WRITE',
    'Wr\u0456te',
    'Write\u200b',
    '__proto__',
    'constructor',
    'mcp__Phasegate__x',
  ];
  for (const tool_name of names)
    expect(await bed.call(tool_name, bed.write('docs/a.md')), tool_name).not.toBe('allowed');
  const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  const whole = JSON.stringify({ ...place, tool_name: 'Write', tool_use_id: 'd', tool_input: 0 });
  for (const body of [
    whole.replace('"tool_input":0', `"tool_input":${deep}`),
    JSON.stringify({ ...place, tool_name: 'Write', tool_use_id: 'x'.repeat(100_000), tool_input: {} }),
    JSON.stringify({ ...place, tool_name: ['Write'], tool_use_id: 1, tool_input: [] }),
    JSON.stringify({ ...place, session_id: '../s1', tool_name: 'Read', tool_input: {} }),
    JSON.stringify({ ...place, cwd: 'relative', tool_name: 'Read', tool_input: {} }),
  ]) {
    const answer = await bed.raw('claude', body);
    expect(toldBy(answer), body.slice(0, 100)).not.toBe('allowed');
    expect(typeof own(answer, 'hookSpecificOutput')).toBe('object');
  }
  const outside = { session_id: 's9', cwd: bed.root, hook_event_name: 'Stop' };
  expect(await bed.raw('claude', { ...outside, agent_id: '../../s1' })).toEqual(expect.any(Object));
});
