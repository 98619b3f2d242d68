import { expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

const MONTH = 31 * 86_400;

test('sessions and decisions on their calls go a month later, where every run has ended, and the audit stays', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  await bed.call('Write', bed.write('docs/a.md'));
  const calls = async () => (await bed.store.keptAll('call')).map(({ key }) => key);
  const later = (session_id: string) => bed.event('SessionStart', { session_id, source: 'startup' });
  expect(await calls()).toHaveLength(1);
  bed.pass(MONTH);
  await later('s2');
  expect(await calls()).toHaveLength(1);

  await bed.project.as({ kind: 'human', name: 'operator' }).submit(run, { kind: 'stop', reason: 'old' });
  await later('s3');
  expect(await calls()).toHaveLength(1);
  bed.pass(86_401);
  await bed.call('Read', { file_path: bed.root }, { session_id: 's4' });
  await later('s4');

  expect((await calls()).map((key) => key.split('/')[1])).toEqual(['s4']);
  expect((await bed.history(run)).some(({ event }) => event === 'tool_judged')).toBe(true);
  const known = (await bed.project.hooks.sessions()).map(({ session }) => session);
  expect(known).toEqual(['s2', 's3', 's4']);
  const bound = (await bed.history(run)).filter(({ event }) => event === 'session_bound');
  expect(bound).toHaveLength(2);
});

test('of sessions without a run, which anyone can announce, the newest 250 are kept, and those at work', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  await bed.call('Write', bed.write('docs/a.md'), { session_id: 'at-work' });
  const [model] = await bed.store.keptAll('session');
  for (let count = 1000; count < 1400; count += 1) {
    const data = { ...model?.data, run: null, last_at: `2026-11-15T12:00:00.${count}Z` };
    await bed.store.keep(
      { kind: 'session', key: `claude/announced-${count}`, data },
      { run: null, audit: [] },
    );
  }
  bed.pass(86_401);
  await bed.event('SessionStart', { source: 'startup', session_id: 'last' });
  const sessions = await bed.project.hooks.sessions();
  expect(sessions).toHaveLength(252);
  expect(sessions.find(({ session }) => session === 'at-work')?.run).toBe(run);
  expect(sessions.some(({ session }) => session === 'announced-1399')).toBe(true);
  expect(sessions.some(({ session }) => session === 'announced-1000')).toBe(false);
});

test('a run has at most 256 sessions at a time; one that ended makes room', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  const begin = (session_id: string, hook_event_name = 'SessionStart') =>
    bed.raw('claude', { session_id, cwd: bed.root, hook_event_name, source: 'resume' }, run);
  const write = (session_id: string) => bed.call('Write', bed.write('docs/a.md'), { session_id });
  for (let count = 0; count < 256; count += 1) await begin(`s${count}`);
  await begin('one-more');
  expect(await write('one-more')).toContain('without a run');
  expect(await write('s7')).toBe('allowed');
  await begin('s8', 'SessionEnd');
  await begin('one-more');
  expect(await write('one-more')).toBe('allowed');
  const bound = (await bed.history(run)).filter(({ event }) => event === 'session_bound');
  expect(bound).toHaveLength(257);
});

test('a session announces few starts at a time, so that nobody waits for all of them', async () => {
  const bed = openHookBed();
  for (let count = 0; count < 50; count += 1) {
    bed.pass(1);
    await bed.call('mcp__phasegate__start_workflow', { workflow_type: `w${count}` });
  }
  const left = await bed.store.keptAll('announced');
  expect(left).toHaveLength(20);
  expect(JSON.stringify(left)).toContain('"w49"');
  expect(JSON.stringify(left)).not.toContain('"w29"');
});

test('a session whose id begins another one is not dropped with it', async () => {
  const bed = openHookBed();
  await bed.event('SessionStart', { source: 'startup', session_id: 's1' });
  bed.pass(MONTH);
  await bed.event('SessionStart', { source: 'startup', session_id: 's10' });
  bed.pass(86_401);
  await bed.event('SessionStart', { source: 'startup', session_id: 's2' });
  expect((await bed.project.hooks.sessions()).map(({ session }) => session)).toContain('s10');
});

test('sessions that must stay, or whose ids begin others, do not keep old ones from being dropped [adv.E3]', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  await bed.call('Write', bed.write('docs/a.md'), { session_id: 'at-work' });
  const [model] = await bed.store.keptAll('session');
  const add = (id: string, last_at: string, of: string | null) =>
    bed.store.keep(
      { kind: 'session', key: `claude/${id}`, data: { ...model?.data, run: of, last_at } },
      { run: null, audit: [] },
    );
  for (let count = 100; count < 350; count += 1) await add(`held-${count}`, '2026-11-15T12:00:00.000Z', run);
  await add('old', '2026-11-15T12:00:01.000Z', null);
  await add('old-newer', '2027-02-01T12:00:00.000Z', null);
  bed.pass(MONTH);
  const known = async () => (await bed.project.hooks.sessions()).map(({ session }) => session);
  await bed.event('SessionStart', { source: 'startup', session_id: 'one' });
  expect(await known()).toContain('old');
  bed.pass(86_401);
  await bed.event('SessionStart', { source: 'startup', session_id: 'two' });
  expect(await known()).not.toContain('old');
  expect(await known()).toContain('old-newer');
  expect(await known()).toContain('held-100');
});

test('sessions that were made up by any event, or bound to a run and ended, are dropped beyond 250 [adv.E3]', async () => {
  const bed = openHookBed();
  const run = await bed.start();
  await bed.call('Write', bed.write('docs/a.md'), { session_id: 'at-work' });
  const [model] = await bed.store.keptAll('session');
  for (let count = 1000; count < 1350; count += 1) {
    const data = { ...model?.data, ended: true, last_at: `2026-11-15T12:00:00.${count}Z` };
    await bed.store.keep({ kind: 'session', key: `claude/ended-${count}`, data }, { run: null, audit: [] });
  }
  const known = async () => (await bed.project.hooks.sessions()).map(({ session }) => session);
  // None of them began by an event that says so.
  for (let count = 0; count < 100; count += 1)
    await bed.call('Read', { file_path: bed.root }, { session_id: `made-up-${count}` });

  expect((await known()).length).toBeLessThanOrEqual(252);
  expect(await known()).not.toContain('ended-1000');
  expect(await known()).toContain('ended-1349');
  const working = (await bed.project.hooks.sessions()).find(({ session }) => session === 'at-work');
  expect(working?.run).toBe(run);
  expect(await bed.store.keptAll('call', 'claude/at-work/')).toHaveLength(1);
});

test('starts that many sessions announce are few, so that nobody waits for all of them [adv.E3]', async () => {
  const bed = openHookBed();
  for (let count = 0; count < 520; count += 1)
    await bed.call(
      'mcp__phasegate__start_workflow',
      { workflow_type: `w${count}` },
      { session_id: `s${count % 26}` },
    );
  expect(await bed.store.keptAll('announced')).toHaveLength(500);
});
