import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerHook } from './answerHook.ts';
import { openHookBed } from './fixtures/hookBed.ts';
import { createPairing } from './pairing.ts';

async function open({ isPaired = true } = {}) {
  const bed = openHookBed();
  const run = await bed.start();
  await bed.event('SessionStart', { source: 'startup' });
  const pairing = createPairing(
    () => 0,
    () => isPaired,
  );
  const file = join(bed.base, 's1.jsonl');
  const empty = join(bed.base, 'empty.jsonl');
  for (const one of [file, empty]) writeFileSync(one, '');
  const tell = (scope: 'user' | 'project', hook_event_name: string, transcript_path = file) => {
    const body = JSON.stringify({ session_id: 's1', cwd: bed.root, hook_event_name, transcript_path });
    return answerHook({ client: 'claude', body, scope }, { hooks: bed.project.hooks, pairing });
  };
  const escalation = async () =>
    (await bed.project.look(run, { kind: 'human', name: 'operator' })).escalation?.reason ?? null;
  const sneak = () => {
    const use = { type: 'tool_use', id: 'toolu_sneaked', name: 'Bash', input: {} };
    const done = { type: 'tool_result', tool_use_id: 'toolu_sneaked', content: 'ok' };
    const line = (block: object) =>
      `${JSON.stringify({ timestamp: '2026-11-15T12:00:01.000Z', message: { content: [block] } })}\n`;
    writeFileSync(file, line(use) + line(done));
  };
  return { tell, escalation, sneak, empty };
}

test.each(['another', 'its own'])(
  'a stop that an agent told itself before, with %s transcript, swallows no real one [adv.F6]',
  async (which) => {
    for (const end of ['Stop', 'SessionEnd']) {
      const { tell, escalation, sneak, empty } = await open();
      await tell('user', end, which === 'another' ? empty : undefined);
      sneak();
      await tell('project', end);
      expect(await escalation(), end).toBe('unjudged_calls');
    }
  },
);

test('a stop told by both settings has one answer and counts once; a card is shown once', async () => {
  const { tell, escalation } = await open();
  for (let round = 0; round < 8; round += 1) {
    const first = await tell('project', 'Stop');
    expect(first.decision).toBe('block');
    expect(await tell('user', 'Stop')).toEqual(first);
  }
  expect(await escalation()).toBe(null);
  expect(await tell('project', 'UserPromptSubmit')).not.toEqual({});
  expect(await tell('user', 'UserPromptSubmit')).toEqual({});
});

test('where the user has no hooks, nothing is told twice', async () => {
  const { tell } = await open({ isPaired: false });
  expect(await tell('user', 'UserPromptSubmit')).not.toEqual({});
  expect(await tell('project', 'UserPromptSubmit')).not.toEqual({});
});
