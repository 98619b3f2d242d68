import { expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

const MONTH = 31 * 86_400;

test('decisions on calls go a month after their session, where every run has ended, and the audit stays', async () => {
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
  expect(known).toEqual(['s1', 's2', 's3', 's4']);
});
